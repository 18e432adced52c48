"""Problems of one's own: `problem.py`, `problem.py:name` or `package.module:name`.

A source is Python code and is run when it is loaded. Nothing but a person who names it loads one: a
result in a file never does.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from boirl.errors import BoirlError, InvalidInputError
from boirl.extras import missing_reported
from boirl.problem.base import Problem
from boirl.problem.catalogue import load_problem, plain_options
from boirl.problem.given_later import GivenLater

DEFAULT_NAME = "problem"
UNNAMED = "unnamed"
"""What problems are called that nobody named."""

ENDING = ".py"

_LOADED: set[str] = set()
"""Names of modules that are files of users, which others of the same name may replace."""


def is_source(text: str) -> bool:
    """Whether a text names a problem of one's own, and not one of `boirl problems`."""
    return ":" in text or text.endswith(ENDING)


def load_source(text: str, **options: Any) -> Problem[Any]:
    """The problem that a source names.

    Args:
        text: A file or a module, and the name of a problem in it or of a function that returns
            one; by default `problem`, or the only one that a file holds.
        **options: For the function.

    Raises:
        InvalidInputError: There is no such file, module or problem, or its code fails; says where.
    """
    place, _, name = text.partition(":") if not _is_drive(text) else (text, "", "")
    module = _load_file(Path(place)) if place.endswith(ENDING) else _load_module(place)
    found = _pick(module, name, place)
    if not isinstance(found, Problem):
        found = _built(found, options, f"{place}:{name or DEFAULT_NAME}")
    elif options:
        raise InvalidInputError(
            f"{text} is a problem already, which takes no option {', '.join(options)}; set it "
            "there, or name a function that takes it and returns the problem"
        )
    changes: dict[str, Any] = {}
    if found.name == UNNAMED:
        changes["name"] = _named_after(place)
    if found.recipe is None:
        changes["recipe"] = {"name": text, **plain_options(options)}
    if changes and GivenLater.is_missing(found):
        changes["demonstrations"] = None
    return replace(found, **changes) if changes else found  # type: ignore[type-var]


def _named_after(place: str) -> str:
    """The name of a file or module, or of its folder where all are called the same."""
    if not place.endswith(ENDING):
        return place.rpartition(".")[2]
    path = Path(place)
    return (path.resolve().parent.name if path.stem == DEFAULT_NAME else "") or path.stem


def rebuild(recipe: Mapping[str, Any] | None) -> Problem[Any] | None:
    """The problem of a recipe; None where it is code that only a person who names it may run."""
    if recipe is None or is_source(str(recipe["name"])):
        return None
    options = dict(recipe)
    problem: Problem[Any] = load_problem(options.pop("name"), **options)
    return problem


def _is_drive(text: str) -> bool:
    """Whether the colon is that of a drive of Windows."""
    return len(text) > 2 and text[1] == ":" and text[2] in "\\/"


def _load_file(path: Path) -> ModuleType:
    """Import a file under its own name, so that processes it starts can import it, too."""
    if not path.is_file():
        raise InvalidInputError(
            f"there is no file {str(path)!r}; expected one that defines a problem (boirl init "
            "writes one to start from)"
        )
    name, folder = path.stem, str(path.resolve().parent)
    if name in sys.modules and name not in _LOADED:
        raise InvalidInputError(
            f"{str(path)!r} has the name of the module {name}, which is in use; rename the file"
        )
    sys.path[:] = [folder, *(one for one in sys.path if one != folder)]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _LOADED.add(name)
    try:
        with _failures_located(path), missing_reported(str(path), any_package=True):
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _load_module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError):
        found = None
    if found is None:
        raise InvalidInputError(
            f"there is no module {name!r}; expected one that is installed or in this folder, or a "
            "file such as problem.py"
        )
    with _failures_located(Path(found.origin or name)), missing_reported(name, any_package=True):
        return importlib.import_module(name)


@contextmanager
def _failures_located(path: Path) -> Iterator[None]:
    """Turn what somebody's code raises into one line that says where."""
    try:
        yield
    except ModuleNotFoundError:
        raise
    except BoirlError as error:
        where = _place(error, path)
        if where != str(path):
            error.args = (f"{error} ({where})",)
        raise
    except Exception as error:
        where = _place(error, path)
        reason = " ".join(str(error).split())
        raise InvalidInputError(f"{where}: {type(error).__name__}: {reason}") from error


def _place(error: BaseException, path: Path) -> str:
    """The file, and the line of it that raised an error where that is known."""
    own = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).resolve() == path.resolve()
    ]
    line = own[-1] if own else getattr(error, "lineno", None)
    return f"{path}, line {line}" if line else str(path)


def _pick(module: ModuleType, name: str, place: str) -> Any:
    if hasattr(module, name or DEFAULT_NAME):
        return getattr(module, name or DEFAULT_NAME)
    problems = [key for key, value in vars(module).items() if isinstance(value, Problem)]
    if not name and len(problems) == 1:
        return getattr(module, problems[0])
    there = ", ".join(f"{place}:{key}" for key in problems) or "none"
    raise InvalidInputError(
        f"{place} has no {name or DEFAULT_NAME!r}; expected a problem of that name, or that of one "
        f"after a colon (there are: {there})"
    )


def _built(build: Any, options: dict[str, Any], label: str) -> Problem[Any]:
    """The problem that a function returns."""
    if not callable(build):
        raise InvalidInputError(
            f"{label} is a {type(build).__name__}; expected a problem, such as a "
            "boirl.TabularProblem, or a function that returns one"
        )
    takes = inspect.signature(build).parameters
    unknown = [option for option in options if option not in takes]
    if unknown:
        raise InvalidInputError(
            f"{label} takes no option {', '.join(unknown)}; expected some of "
            f"{', '.join(takes) or 'none'}"
        )
    needed = [
        key
        for key, one in takes.items()
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    missing = [key for key in needed if key not in options]
    if missing:
        raise InvalidInputError(
            f"{label} needs {', '.join(missing)}; expected a function that can be called without"
        )
    with _failures_located(Path(inspect.getsourcefile(build) or label)):
        made = build(**options)
    if not isinstance(made, Problem):
        raise InvalidInputError(
            f"{label} returns a {type(made).__name__}; expected a problem, such as a "
            "boirl.TabularProblem"
        )
    return made
