"""Whether one model contains another: the same data and setting, and a larger reward family."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from boirl.problem import Problem, TabularProblem
from boirl.problem.probing import PROBE_THETAS
from boirl.rewards import LinearReward, RewardFamily, Transitions
from boirl.types import FloatArray

AGREEMENT = 1e-8
"""Relative difference of rewards up to which they count as the same."""

WIDER = ("state", "state_action", "transition")
"""What rewards depend on, the least first."""


def same_demonstrations(one: Problem[Any], other: Problem[Any]) -> bool:
    """Whether two problems explain the same trajectories."""
    first, second = one.demonstrations, other.demonstrations
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in ("lengths", "states", "actions")
    )


def different_setting(one: Problem[Any], other: Problem[Any]) -> str | None:
    """In what two problems differ apart from their rewards and demonstrations; None if in nothing.

    Settings that only the code of a domain knows are not compared.
    """
    if type(one) is not type(other):
        return f"they are a {type(one).__name__} and a {type(other).__name__}"
    if one.gamma != other.gamma:
        return f"their discounts are {one.gamma:g} and {other.gamma:g}"
    if not (isinstance(one, TabularProblem) and isinstance(other, TabularProblem)):
        return None
    if _choices(one) != _choices(other):
        return f"their solvers are {one.solver} and {other.solver}"
    if one.mdp is not other.mdp and not _same_dynamics(one, other):
        return "their dynamics differ"
    return None


def _choices(problem: TabularProblem) -> tuple[Any, ...]:
    """What policies depend on beside rewards and dynamics."""
    solver = problem.solver
    return solver.bellman, solver.inverse_temperature, solver.horizon


def _same_dynamics(one: TabularProblem, other: TabularProblem) -> bool:
    first, second = one.mdp, other.mdp
    pairs: list[tuple[NDArray[Any], NDArray[Any]]] = [
        (first.transition.indptr, second.transition.indptr),
        (first.transition.indices, second.transition.indices),
        (first.transition.data, second.transition.data),
        (first.terminal, second.terminal),
    ]
    return all(np.array_equal(a, b) for a, b in pairs)


def contains(larger: Problem[Any], smaller: Problem[Any]) -> bool | None:
    """Whether the reward family of a problem contains that of another; None if it cannot be told.

    It does where parameters of the same names, with those that the smaller family lacks at 0 (or at
    the value that it holds them at), pay the same. Of linear families it is known for sure, however
    their parameters are called: the features of the smaller one have to be weighted sums of those
    of the larger one.
    """
    widest = max((larger, smaller), key=lambda one: WIDER.index(one.reward.depends_on))
    transitions = widest.probed_transitions()
    if _contains_by_name(larger.reward, smaller.reward, transitions):
        return True
    if isinstance(larger.reward, LinearReward) and isinstance(smaller.reward, LinearReward):
        return _spans(larger.reward, smaller.reward, transitions)
    return None


def _contains_by_name(
    larger: RewardFamily, smaller: RewardFamily, transitions: Transitions
) -> bool:
    box, own = larger.box, smaller.box
    thetas = own.from_unit(np.random.default_rng(0).random((PROBE_THETAS, own.dimension)))
    held = {p.name: p.fixed for p in smaller.parameters if p.fixed is not None}
    columns = []
    for name, low, high in zip(box.names, box.low, box.high, strict=True):
        if name in own.names:
            columns.append(thetas[:, own.names.index(name)])
            continue
        value = held.get(name, 0.0)
        if not low <= value <= high:
            return False
        columns.append(np.full(len(thetas), value))
    with torch.no_grad():
        wide = larger(torch.tensor(np.stack(columns, axis=1)), transitions).numpy()
        narrow = smaller(torch.tensor(thetas), transitions).numpy()
    return bool(np.allclose(wide, narrow, rtol=AGREEMENT, atol=AGREEMENT * np.abs(narrow).max()))


def _spans(larger: LinearReward, smaller: LinearReward, transitions: Transitions) -> bool:
    """Whether weighted sums of the free features of one family give all rewards of another."""
    wide, wide_offset = _free_features(larger, transitions)
    narrow, narrow_offset = _free_features(smaller, transitions)
    wanted = np.column_stack([narrow, narrow_offset - wide_offset])
    weights = np.linalg.lstsq(wide, wanted, rcond=None)[0]
    return bool(np.allclose(wide @ weights, wanted, rtol=0.0, atol=AGREEMENT * _size(wanted, wide)))


def _size(*arrays: FloatArray) -> float:
    return max(float(np.abs(array).max(initial=0.0)) for array in arrays)


def _free_features(family: LinearReward, transitions: Transitions) -> tuple[FloatArray, FloatArray]:
    """Features of the free parameters, `T x d`, and what the fixed ones pay, `T`."""
    features = family.features(transitions).numpy()
    fixed = np.array([0.0 if p.fixed is None else p.fixed for p in family.parameters])
    free = np.array([p.fixed is None for p in family.parameters])
    return features[:, free], features @ fixed
