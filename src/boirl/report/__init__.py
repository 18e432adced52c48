"""The report: one HTML file with everything that an answer says, to be opened anywhere.

Data come first (`answer`), then charts in Vega-Lite (`charts`), then the page (`page`). A domain
registers how its behaviour is drawn in `SCENES`.
"""

from boirl.lazy import lazy_names

_HOMES = {
    "LiveReport": "live",
    "SCENES": "scenes",
    "Scene": "scenes",
    "SceneEntry": "scenes",
    "open_source": "sources",
    "write_report": "page",
}

__all__ = list(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES)
