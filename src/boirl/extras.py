"""Parts of boirl that are installed on request: what is missing is said in one line."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from boirl.errors import MissingExtraError

EXTRAS = {
    "gymnasium": "rl",
    "gymnasium_robotics": "rl",
    "mujoco": "rl",
    "stable_baselines3": "rl",
    "sb3_contrib": "rl",
    "pyarrow": "tables",
    "pandas": "tables",
    "minari": "minari",
    "h5py": "minari",
    "arviz": "arviz",
    "altair": "report",
    "vl_convert": "report",
    "distributed": "cluster",
    "pyvbmc": "suite",
}
"""The extra that brings each package that boirl does not need."""


def needed(module: str, purpose: str) -> Any:
    """Import a module of an extra.

    Args:
        module: Its name.
        purpose: What needs it, for the message.

    Raises:
        MissingExtraError: It is not installed; the message has the command that installs it.
    """
    with missing_reported(purpose):
        return importlib.import_module(module)


@contextmanager
def missing_reported(purpose: str, any_package: bool = False) -> Iterator[None]:
    """Turn the failure to import a package into one line with the command that installs it.

    Args:
        purpose: What needs the package, for the message.
        any_package: Whether that goes for all packages, not only for those of extras.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS and not any_package:
            raise
        wanted = f"'boirl[{EXTRAS[package]}]'" if package in EXTRAS else package
        raise MissingExtraError(
            f"{purpose} needs {package}, which is not installed; install it with: "
            f"pip install {wanted}"
        ) from error
