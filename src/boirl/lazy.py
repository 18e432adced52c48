"""Names of a package that are imported when they are first used, so that importing it is quick."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from boirl.extras import missing_reported


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a package.

    Args:
        package: Its name.
        homes: The module of each public name, relative to the package; a submodule that is public
            itself has the home `""`.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with missing_reported(f"{package}.{name}"):
            if not homes[name]:
                return importlib.import_module(f"{package}.{name}")
            return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    return find


def load(target: str) -> Any:
    """What `"package.module:name"` stands for."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
