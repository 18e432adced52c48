"""Problems as plain numbers, strings and arrays, so that a result opens without their code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import CodeNeededError
from boirl.files import prefixed, without_prefix
from boirl.policies import TabularSolver
from boirl.problem.base import Problem
from boirl.problem.tabular import TabularProblem
from boirl.registry import Registry
from boirl.rewards.saved import import_line, reward_from_parts, reward_parts

Arrays = Mapping[str, NDArray[Any]]


class SavedProblem(NamedTuple):
    """A problem in a file: which kind it is, facts ready for JSON, and arrays by name."""

    kind: str
    facts: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


class ProblemKind(NamedTuple):
    """How problems of one class are written and read.

    Attributes:
        type: The class; subclasses are kinds of their own.
        save: From the problem to facts and arrays; raises `CodeNeededError` where it cannot.
        load: The inverse.
    """

    type: type[Problem[Any]]
    save: Callable[[Any], tuple[dict[str, Any], dict[str, NDArray[Any]]]]
    load: Callable[[Mapping[str, Any], Arrays], Problem[Any]]


PROBLEM_KINDS: Registry[ProblemKind] = Registry("kind of problem", "boirl.problem_kinds")
"""The classes of problems that can be written to a file, by name."""


def save_problem(problem: Problem[Any]) -> SavedProblem:
    """A problem without its code.

    Raises:
        CodeNeededError: It needs code; says what to import.
    """
    for name, kind in PROBLEM_KINDS.items():
        if type(problem) is kind.type:
            return SavedProblem(name, *kind.save(problem))
    needs = f"it is a {type(problem).__qualname__} ({import_line(type(problem))})"
    try:
        reward_parts(problem.reward)
    except CodeNeededError as error:
        needs = f"{needs}, and {error}"
    raise CodeNeededError(needs)


def load_saved_problem(saved: SavedProblem) -> Problem[Any]:
    """The inverse of `save_problem`."""
    return PROBLEM_KINDS[saved.kind].load(saved.facts, saved.arrays)


def tabular_parts(problem: TabularProblem) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Facts and arrays of a tabular problem."""
    mdp = problem.mdp
    reward, features = reward_parts(problem.reward)
    facts = {
        "n_actions": mdp.n_actions,
        "gamma": mdp.gamma,
        "solver": asdict(problem.solver),
        "horizon": problem.horizon,
        "truth": problem.truth,
        "reward": reward,
        "state_names": mdp.state_names,
        "action_names": mdp.action_names,
    }
    arrays = {
        "probabilities": mdp.transition.data,
        "next_states": mdp.transition.indices,
        "row_starts": mdp.transition.indptr,
        "start": mdp.start,
        "terminal": mdp.terminal,
        "endless": mdp.endless,
        **prefixed("reward", features),
        **prefixed("demonstrations", problem.demonstrations.to_dict()),
    }
    return facts, arrays


def tabular_fields(facts: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    """The arguments of `TabularProblem` that `tabular_parts` wrote."""
    start = arrays["start"]
    rows = (arrays["probabilities"], arrays["next_states"], arrays["row_starts"])
    n_actions = facts["n_actions"]
    transition = sp.csr_array(rows, shape=(len(start) * n_actions, len(start)))
    # Compiled code follows these numbers without looking where they lead.
    transition.check_format(full_check=True)
    further: dict[str, Any] = {
        **{name: arrays[name] for name in ("terminal", "endless") if name in arrays},
        **{name: facts.get(name, ()) for name in ("state_names", "action_names")},
    }
    return {
        "mdp": TabularMDP(
            transition,
            n_actions,
            facts["gamma"],
            np.asarray(start),
            **further,
        ),
        "reward": reward_from_parts(facts["reward"], without_prefix("reward", arrays)),
        "demonstrations": Demonstrations.from_dict(without_prefix("demonstrations", arrays)),
        "solver": TabularSolver(**facts["solver"]),
        "horizon": facts["horizon"],
        "truth": facts["truth"],
    }


def _load_tabular(facts: Mapping[str, Any], arrays: Arrays) -> TabularProblem:
    return TabularProblem(**tabular_fields(facts, arrays))


PROBLEM_KINDS.register("tabular", ProblemKind(TabularProblem, tabular_parts, _load_tabular))
