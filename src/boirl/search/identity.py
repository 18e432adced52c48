"""What a study is of, and what it was made with: kept with it, so that no two are mixed."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

from boirl.problem import Problem

PACKAGES = ("boirl", "numpy", "scipy", "torch", "botorch", "optuna")


def versions() -> dict[str, str]:
    """Of Python and of the packages that numbers come from."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def describe_problem(problem: Problem[Any]) -> dict[str, Any]:
    """What people would look for first if two problems differ; the fingerprint tells the rest."""
    box = problem.box
    return {
        "kind": type(problem).__name__,
        "name": problem.name,
        "gamma": problem.gamma,
        "parameters": {
            name: [low, high]
            for name, low, high in zip(box.names, box.low.tolist(), box.high.tolist(), strict=True)
        },
        "trajectories": len(problem.demonstrations),
    }


def difference(stored: Any, wanted: Any) -> str:
    """What differs between two records, where they are short enough to print."""
    if not isinstance(stored, dict) or not isinstance(wanted, dict):
        return ""
    keys = [key for key in wanted if stored.get(key) != wanted[key] and key != "thetas"]
    keys = [key for key in keys if _is_short(stored.get(key)) and _is_short(wanted[key])]
    if not keys:
        return ""
    return ": " + ", ".join(f"{key} was {stored.get(key)!r}, now {wanted[key]!r}" for key in keys)


def _is_short(value: Any) -> bool:
    """Whether people would read it; lists of thetas are long."""
    return not isinstance(value, list) or not any(isinstance(one, list) for one in value)
