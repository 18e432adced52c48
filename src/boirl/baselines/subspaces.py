"""Many parameters without gradients: one search after another, each in a few directions.

A landscape of fifty parameters cannot be learned from a hundred evaluations. Each round therefore
searches a plane through the best theta so far, spanned by a few random directions: parameters, or
any linear combinations of all (a random linear embedding). The next round has other directions.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from boirl.baselines.base import Baseline
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.problem.simulated import GymProblem
from boirl.problem.tabular import TabularProblem
from boirl.rewards.embedded import EmbeddedReward, coordinate_directions, random_directions
from boirl.search import explore
from boirl.types import FloatArray, Report

STREAM = 51
Directions = Literal["coordinates", "linear"]


@dataclass
class SubspaceState:
    """The best theta so far, and evaluations of the present round that are still to come."""

    seed: int
    theta: FloatArray
    nll: float = float("inf")
    rounds: int = 0
    waiting: deque[Evaluation] = field(default_factory=deque)


@dataclass(frozen=True)
class Subspaces(Baseline):
    """Searches in planes through the best theta.

    Args:
        directions: `"coordinates"`: some parameters at a time; `"linear"`: random directions.
        dimension: Of a plane.
        round_size: Evaluations of a round.
        kernel: Of the searches.
    """

    directions: Directions = "coordinates"
    dimension: int = 5
    round_size: int = 15
    kernel: str = "rho-matern"

    name: ClassVar[str] = "subspaces"
    summary: ClassVar[str] = "searches in a few random directions at a time, for many parameters"
    times_itself: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.directions not in get_args(Directions):
            expected = " or ".join(map(repr, get_args(Directions)))
            raise InvalidInputError(f"directions is {self.directions!r}; expected {expected}")
        for name, least in (("dimension", 1), ("round_size", 2)):
            if getattr(self, name) < least:
                found = getattr(self, name)
                raise InvalidInputError(f"{name} is {found}; expected at least {least}")

    def check(self, problem: Problem[Any]) -> None:
        if not isinstance(problem, TabularProblem | GymProblem):
            raise InvalidInputError(
                f"subspaces needs a problem whose reward family can be replaced, and problem "
                f"{problem.name!r} is a {type(problem).__name__}; use a search"
            )
        if problem.box.dimension <= self.dimension:
            raise InvalidInputError(
                f"problem {problem.name!r} has {problem.box.dimension} parameters and subspaces "
                f"have {self.dimension}; use a search, or lower dimension"
            )

    def begin(self, problem: Problem[Any], seed: int) -> SubspaceState:
        first = np.random.default_rng([seed, STREAM]).random(problem.box.dimension)
        return SubspaceState(seed, problem.box.from_unit(first))

    def pack(self, state: SubspaceState) -> dict[str, Any]:
        return {**vars(state), "waiting": list(state.waiting)}

    def unpack(self, problem: Problem[Any], packed: dict[str, Any]) -> SubspaceState:
        if not all(isinstance(one, Evaluation) for one in packed["waiting"]):
            raise ValueError("something among the evaluations to come is none")
        np.random.SeedSequence(packed["seed"])
        theta = problem.box.check_one(packed["theta"])
        return SubspaceState(**{**packed, "theta": theta, "waiting": deque(packed["waiting"])})

    def advance(self, problem: Problem[Any], state: SubspaceState, report: Report) -> Evaluation:
        if not state.waiting:
            state.rounds += 1
            state.waiting.extend(self._round(problem, state))
        return state.waiting.popleft()

    def _round(self, problem: Any, state: SubspaceState) -> list[Evaluation]:
        """Every evaluation of a search in a plane, as of the whole family."""
        began, box = time.perf_counter(), problem.box
        rng = np.random.default_rng([state.seed, STREAM, state.rounds])
        draw = coordinate_directions if self.directions == "coordinates" else random_directions
        plane = EmbeddedReward(
            problem.reward, state.theta, draw(box.low, box.high, self.dimension, rng)
        )
        within = replace(problem, reward=plane, truth=None, recipe=None)
        found = explore(
            within,
            self.round_size,
            seed=int(rng.integers(2**31)),
            initial=self._initial(len(plane.parameters), state, rng),
            kernel=self.kernel,
        )
        seconds = (time.perf_counter() - began) / len(found)
        evaluations = [
            replace(
                one,
                theta=tuple(theta.tolist()),
                gradient=None,
                facts={**one.facts, "round": state.rounds},
                seconds=seconds,
            )
            for one, theta in zip(found.evaluations, plane.full(found.thetas), strict=True)
        ]
        for one in evaluations:
            if one.ok and one.nll < state.nll:
                state.theta, state.nll = np.array(one.theta), one.nll
        return evaluations

    def _initial(
        self, dimension: int, state: SubspaceState, rng: np.random.Generator
    ) -> FloatArray:
        """The best theta, from which the surrogate knows what to beat, and a random one."""
        return np.vstack([np.zeros(dimension), rng.uniform(-1.0, 1.0, dimension)])
