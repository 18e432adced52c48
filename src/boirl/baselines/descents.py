"""What methods that descend from many starts share: one descent at a time, handed out by steps."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from boirl.baselines.base import Baseline
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.types import Report

MAX_DESCENTS = 2**20
"""More than any run makes; the starts of a file that claims more would take forever."""


@dataclass
class DescentState:
    """Evaluations of the present descent that are still to come, and the number of descents."""

    seed: int
    waiting: deque[Evaluation] = field(default_factory=deque)
    descents: int = 0


class DescentBaseline(Baseline):
    """A method that descends from one start after another.

    Evaluations of a descent are made at once and handed out one by one. The seed and the number of
    a descent say where it starts, so that nothing else has to be kept.
    """

    times_itself: ClassVar[bool] = True

    @abstractmethod
    def descend(self, problem: Problem[Any], seed: int, number: int) -> list[Evaluation]:
        """Every evaluation of a descent, with their seconds; numbers count from 1."""

    def begin(self, problem: Problem[Any], seed: int) -> DescentState:
        return DescentState(seed)

    def pack(self, state: DescentState) -> dict[str, Any]:
        return {"seed": state.seed, "descents": state.descents, "waiting": list(state.waiting)}

    def unpack(self, problem: Problem[Any], packed: dict[str, Any]) -> DescentState:
        if not 0 <= packed["descents"] <= MAX_DESCENTS:
            raise ValueError(f"there were {packed['descents']} descents")
        if not all(isinstance(one, Evaluation) for one in packed["waiting"]):
            raise ValueError("something among the evaluations to come is none")
        np.random.SeedSequence(packed["seed"])
        return DescentState(packed["seed"], deque(packed["waiting"]), packed["descents"])

    def advance(self, problem: Problem[Any], state: DescentState, report: Report) -> Evaluation:
        if not state.waiting:
            state.descents += 1
            state.waiting.extend(self.descend(problem, state.seed, state.descents))
        return state.waiting.popleft()
