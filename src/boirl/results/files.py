"""Results in files: one `.npz` each, which carries its problem where that needs no code."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.demonstrations import Demonstrations
from boirl.errors import CodeNeededError, InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.files import damage_reported, prefixed, read_arrays, without_prefix, write_arrays
from boirl.problem import Problem, TabularProblem
from boirl.problem.saved import SavedProblem, load_saved_problem, save_problem
from boirl.problem.sources import rebuild
from boirl.results.result import RESULT_KINDS, Result
from boirl.rewards import RewardFamily
from boirl.rewards.absent import NoReward
from boirl.rewards.network import NetworkReward
from boirl.rewards.table import ONE, table_reward

FORMAT = 2
RESULT_FILE = "rewards.npz"
"""What a result is called in the folder that `boirl run --out` writes."""
NO_SEED = -1
ABSENT = "absent"

COLUMNS = (
    "theta",
    "nll",
    "nll_se",
    "seconds",
    "n_policies",
    "environment_steps",
    "seed",
    "gradient",
    "log_likelihoods",
)
"""Of evaluations, each an array with one row per evaluation."""

Arrays = dict[str, NDArray[Any]]


def save_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write everything to one `.npz` file; an older file stays whole if that fails."""
    facts, arrays = result.parts()
    problem, problem_arrays = _problem_parts(result.problem)
    evaluations, evaluation_arrays = _evaluation_parts(result)
    header = {
        "format": FORMAT,
        "kind": result.kind,
        "problem": problem,
        "evaluations": evaluations,
        "facts": facts,
    }
    write_arrays(
        path,
        {
            "facts": np.array(json.dumps(header)),
            **prefixed("problem", problem_arrays),
            **prefixed("evaluations", evaluation_arrays),
            **prefixed("result", arrays),
        },
    )


def result_file(path: str | os.PathLike[str]) -> Path:
    """The file of a result, given it or the folder that it is in."""
    given = Path(path)
    if given.suffix == ".py":
        raise InvalidInputError(
            f"{str(given)!r} is code; expected a result: boirl run {given} --out FOLDER writes one"
        )
    inside = given / RESULT_FILE
    if given.is_dir() and not inside.exists():
        others = sorted(given.glob("*.npz"))
        if len(others) == 1:  # of another method, after which it is called
            return others[0]
        instead = f", or a file such as {others[0]}" if others else ""
        raise InvalidInputError(
            f"the folder {str(given)!r} has no {RESULT_FILE}; expected one that "
            f"`boirl run --out` wrote{instead}"
        )
    return inside if given.is_dir() else given


def load_result(path: str | os.PathLike[str], problem: Problem[Any] | None = None) -> Result:
    """Read what `Result.save` wrote, a search or a baseline.

    Args:
        path: The file, or the folder that `boirl run --out` wrote.
        problem: The problem; may be left out where the file carries it, or its name.
    """
    path = result_file(path)
    arrays = read_arrays(path, "the result of a search or a baseline")
    name = os.fspath(path)
    if "facts" not in arrays:
        raise InvalidInputError(
            f"{name!r} holds {sorted(arrays)}; expected a file that Result.save wrote"
        )
    with damage_reported(path, "the result of a search or a baseline"):
        header = json.loads(str(arrays["facts"]))
        if header.get("format") != FORMAT:
            raise StorageError(
                f"{name!r} has format {header.get('format')}; this version of boirl reads format "
                f"{FORMAT}: open it with the version that wrote it"
            )
        kind = RESULT_KINDS[header["kind"]]
        found = _problem(name, header["problem"], without_prefix("problem", arrays), problem)
        own = without_prefix("evaluations", arrays)
        evaluations = _evaluations(header["evaluations"], own, found)
        returned = without_prefix("result", arrays)
        return kind.from_parts(found, evaluations, header["facts"], returned)


def _problem_parts(problem: Problem[Any]) -> tuple[dict[str, Any], Arrays]:
    facts: dict[str, Any] = {
        "name": problem.name,
        "recipe": problem.recipe,
        "fingerprint": problem.fingerprint(),
        "needs": None,
    }
    try:
        saved = save_problem(problem)
    except CodeNeededError as error:
        facts["needs"] = str(error)
        return facts, prefixed("demonstrations", problem.demonstrations.to_dict())
    return {**facts, "kind": saved.kind, "facts": saved.facts}, saved.arrays


def _problem(
    path: str, facts: Mapping[str, Any], arrays: Arrays, given: Problem[Any] | None
) -> Problem[Any]:
    if given is not None:
        problem: Any = given
    elif facts["needs"] is None:
        saved = SavedProblem(facts["kind"], facts["facts"], arrays)
        problem = replace(
            load_saved_problem(saved),  # type: ignore[type-var]
            name=facts["name"],
            recipe=facts["recipe"],
        )
    elif (rebuilt := rebuild(facts["recipe"])) is not None:
        demonstrations = without_prefix("demonstrations", arrays)
        problem = rebuilt.with_demonstrations(Demonstrations.from_dict(demonstrations))
    else:
        source = "" if facts["recipe"] is None else f", from {facts['recipe']['name']},"
        raise CodeNeededError(
            f"{path!r} holds a result for problem {facts['name']!r}, which a file cannot carry: "
            f"{facts['needs']}; build the problem{source} and pass problem=..."
        )
    if problem.fingerprint() != facts["fingerprint"]:
        raise InvalidInputError(
            f"{path!r} holds a result for another problem than {problem.name!r}: "
            "demonstrations, dynamics, reward family or solver differ; pass the problem that it "
            "was made with"
        )
    return problem


def _evaluation_parts(result: Result) -> tuple[dict[str, Any], Arrays]:
    """Evaluations by column."""
    evaluations = result.evaluations
    dimension = len(evaluations[0].theta) if evaluations else 0
    length = len(result.problem.demonstrations)
    arrays: Arrays = {
        "theta": result.thetas.reshape(len(evaluations), dimension),
        "nll": result.nll,
        "nll_se": result.nll_se,
        "seconds": result.seconds,
        "n_policies": np.array([one.n_policies for one in evaluations], dtype=np.int64),
        "environment_steps": np.array(
            [one.environment_steps for one in evaluations], dtype=np.int64
        ),
        "seed": np.array(
            [NO_SEED if one.seed is None else one.seed for one in evaluations], dtype=np.int64
        ),
        "gradient": _rows([one.gradient for one in evaluations], dimension),
        "log_likelihoods": _rows([one.log_likelihoods for one in evaluations], length),
    }
    for number, one in enumerate(evaluations):
        for place, policy in enumerate(one.policies):
            arrays |= prefixed(f"policy/{number}/{place}", policy)
        if one.reward is not None:
            arrays |= prefixed(f"reward/{number}", _reward_arrays(one, result.problem))
    return {
        "count": len(evaluations),
        "failures": {str(n): one.failure for n, one in enumerate(evaluations) if one.failure},
        "facts": {str(n): dict(one.facts) for n, one in enumerate(evaluations) if one.facts},
    }, arrays


def _reward_arrays(evaluation: Evaluation, problem: Problem[Any]) -> Arrays:
    """A reward outside the problem's family: what it pays, or the network where states are not
    numbered."""
    reward = evaluation.reward
    if isinstance(reward, NoReward):
        return {ABSENT: np.array(True)}
    if isinstance(problem, TabularProblem):
        return {"paid": problem.mdp.expected_rewards(reward, np.array([evaluation.theta]))[0]}
    if not isinstance(reward, NetworkReward):
        raise CodeNeededError(
            f"a file cannot carry the reward of theta {evaluation.theta}, a "
            f"{type(reward).__name__}; expected one of the problem's own family or a network"
        )
    return reward.to_dict()


def _reward(arrays: Arrays) -> RewardFamily:
    """The inverse of `_reward_arrays`."""
    if ABSENT in arrays:
        return NoReward()
    return table_reward(arrays["paid"]) if "paid" in arrays else NetworkReward.from_dict(arrays)


def _rows(rows: Sequence[NDArray[Any] | None], width: int) -> NDArray[Any]:
    """One row per evaluation, NaN where there is none; no rows at all where nobody has one."""
    if all(row is None for row in rows):
        return np.empty((0, width))
    return np.stack([np.full(width, np.nan) if row is None else row for row in rows])


def _row(rows: NDArray[Any], number: int) -> NDArray[Any] | None:
    return None if len(rows) == 0 or np.isnan(rows[number]).any() else rows[number]


def _evaluations(
    facts: Mapping[str, Any], arrays: Arrays, problem: Problem[Any]
) -> tuple[Evaluation, ...]:
    policies: dict[int, dict[int, Arrays]] = {}
    for name, array in without_prefix("policy", arrays).items():
        owner, place, key = name.split("/", 2)
        policies.setdefault(int(owner), {}).setdefault(int(place), {})[key] = array
    parts: dict[int, Arrays] = {}
    for name, array in without_prefix("reward", arrays).items():
        owner, key = name.split("/", 1)
        parts.setdefault(int(owner), {})[key] = array
    rewards = {number: _reward(own) for number, own in parts.items()}
    _check_columns(arrays, facts["count"])
    evaluations = []
    for number in range(facts["count"]):
        own = policies.get(number, {})
        seed = int(arrays["seed"][number])
        evaluations.append(
            Evaluation(
                theta=ONE if number in rewards else tuple(arrays["theta"][number].tolist()),
                nll=float(arrays["nll"][number]),
                nll_se=float(arrays["nll_se"][number]),
                log_likelihoods=_row(arrays["log_likelihoods"], number),
                gradient=_row(arrays["gradient"], number),
                policies=tuple(own[index] for index in sorted(own)),
                n_policies=int(arrays["n_policies"][number]),
                environment_steps=int(arrays["environment_steps"][number]),
                facts=dict(facts["facts"].get(str(number), {})),
                seconds=float(arrays["seconds"][number]),
                seed=None if seed == NO_SEED else seed,
                failure=facts["failures"].get(str(number)),
                reward=rewards.get(number),
            )
        )
    return tuple(evaluations)


def _check_columns(arrays: Arrays, count: int) -> None:
    """Refuse columns that are no real numbers, or not as long as there are evaluations."""
    for name in COLUMNS:
        column = arrays[name]
        length = len(column) if column.ndim else 0
        optional = name in ("gradient", "log_likelihoods") and length == 0
        if column.dtype.kind not in "iuf" or (length != count and not optional):
            raise ValueError(
                f"{name} has type {column.dtype} and shape {column.shape}; expected a row of "
                f"numbers for each of {count} evaluations"
            )
