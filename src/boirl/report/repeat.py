"""How to repeat an answer: commands, code, settings and versions."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from boirl.problem.sources import is_source
from boirl.results import Result, RewardSet
from boirl.search import SearchSettings

PROBLEM_OPTIONS = ("bellman", "data", "box")
"""Options of problems that `boirl run` takes."""

PACKAGES = ("boirl", "torch", "botorch", "optuna", "numpy", "scipy")


def commands(result: Result) -> list[str]:
    """What to type to have the answer again; empty where the problem takes Python to build."""
    recipe = result.problem.recipe
    if recipe is None or not set(recipe) <= {"name", *PROBLEM_OPTIONS}:
        return []
    words = ["boirl", "run", str(recipe["name"]), "--evaluations", str(len(result))]
    for name in PROBLEM_OPTIONS:
        if recipe.get(name) is not None:
            words += [f"--{name}", str(recipe[name])]
    if isinstance(result, RewardSet):
        words += ["--seed", str(result.settings.get("seed", 0))]
        for name, value in changed_settings(result).items():
            words += _option(name, value)
    else:
        words += ["--method", result.title]
    return [shlex.join([*words, "--out", "results"])]


def _option(name: str, value: Any) -> list[str]:
    """A setting as an option of `boirl run`, which are named alike."""
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [option if value else option.replace("--", "--no-", 1)]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for one in values for word in (option, str(one))]


def code(result: Result) -> str:
    """The same in Python."""
    recipe = result.problem.recipe
    lines = ["import boirl", ""]
    if recipe is not None:
        name = str(recipe["name"])
        load = "boirl.problem.load_source" if is_source(name) else "boirl.load_problem"
        given = "".join(f", {key}={value!r}" for key, value in recipe.items() if key != "name")
        lines.append(f"problem = {load}({name!r}{given})")
    else:
        lines.append("problem = ...  # as it was built; its fingerprint is below")
    if isinstance(result, RewardSet):
        changed = {"seed": result.settings.get("seed", 0), **changed_settings(result)}
        given = "".join(f", {key}={value!r}" for key, value in changed.items())
        lines.append(f"found = boirl.explore(problem, evaluations={len(result)}{given})")
    else:
        run = f"boirl.baselines.get({result.title!r}).run"
        lines.append(f"found = {run}(problem, evaluations={len(result)}, seed=...)")
    return "\n".join(lines)


def changed_settings(found: RewardSet) -> dict[str, Any]:
    """Settings of a search that are not the usual ones; the seed is apart."""
    usual = asdict(SearchSettings())
    return {
        name: value
        for name, value in found.settings.items()
        if name in usual and name != "seed" and value != usual[name]
    }


def circumstances(result: Result) -> dict[str, str]:
    """What else the answer depends on, by name."""
    problem = result.problem
    facts = {
        "problem": repr(problem),
        "fingerprint of the problem": problem.fingerprint(),
        "demonstrations": str(len(problem.demonstrations)),
        "method": result.title,
        "evaluations": f"{len(result)}, {sum(result.seconds):.3g} s altogether",
    }
    if result.environment_steps:
        facts["steps in the environment"] = f"{result.environment_steps:,}"
    if isinstance(result, RewardSet):
        facts["prior"] = str(result.prior.facts(problem.box)["kind"])
        facts["settings"] = ", ".join(f"{key}={value}" for key, value in result.settings.items())
    return facts | {"versions": ", ".join(f"{a} {b}" for a, b in versions().items())}


def versions() -> Mapping[str, str]:
    """Versions that numbers may depend on."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
