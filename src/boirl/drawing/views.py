"""Which pictures there are of a result: the general ones, and those that its domain adds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boirl.errors import InvalidInputError
from boirl.lazy import load
from boirl.registry import Registry

if TYPE_CHECKING:
    from boirl.problem import Problem
    from boirl.results import Result


class View(NamedTuple):
    """Pictures of results on some problems.

    Attributes:
        applies: `"package.module:function"`, from a problem to whether there are such pictures.
        save: `"package.module:function"`, from a result and a folder to the paths written.
    """

    applies: str
    save: str


VIEWS: Registry[View] = Registry("view", "boirl.views")
"""The pictures beyond those of every search, by name. A domain registers its own."""

VIEWS.register("paths", View("boirl.drawing.paths:has_paths", "boirl.drawing.paths:save_paths"))


def check_exact(problem: Problem[Any]) -> None:
    """Refuse pictures of the exact NLL where every point of them would be a training run."""
    if problem.is_model_free:
        raise InvalidInputError(
            f"the policies of problem {problem.name!r} are learned, so that a picture of its exact "
            "NLL would take thousands of training runs; leave exact out"
        )


def save_pictures(found: Result, folder: str | Path, exact: bool = False) -> list[Path]:
    """Write all pictures of a search or a baseline; return their paths.

    They draw what the result keeps. Of a search, nothing is solved but, once, the policy of the
    true theta where it is known; maps of a baseline solve for policies that it did not keep.

    Args:
        found: A result.
        folder: Where to.
        exact: Whether to draw the exact NLL beside the predicted one, which solves thousands of
            further policies; only where dynamics are known.
    """
    from boirl.drawing.curves import convergence
    from boirl.drawing.landscapes import landscape
    from boirl.drawing.latent import latent_space
    from boirl.files import save_figure
    from boirl.results import RewardSet

    if exact:
        check_exact(found.problem)
    target = Path(folder)
    figures = {"convergence": convergence(found)}
    if isinstance(found, RewardSet):
        figures["landscape"] = landscape(found, exact=exact)
        figures["latent"] = latent_space(found, exact=exact)
    paths = [save_figure(figure, target / f"{name}.png") for name, figure in figures.items()]
    for view in VIEWS.values():
        if load(view.applies)(found.problem):
            paths += load(view.save)(found, target)
    return paths
