"""Pictures and films of results.

Every function returns a Matplotlib figure or writes a file; none touches global state.
"""

from boirl.lazy import lazy_names

_HOMES = {
    "convergence": "curves",
    "landscape": "landscapes",
    "latent_space": "latent",
    "paths_figure": "paths",
    "questions_figure": "questions",
    "save_film": "films",
    "save_pictures": "views",
    "PLANES": "planes",
    "Plane": "planes",
    "VIEWS": "views",
    "View": "views",
}

__all__ = list(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES)
