"""Which of two trajectories is better? The pairs whose comparison says most about the reward.

Under a reward, the first is the better one with probability `sigmoid(beta (R(a) - R(b)))`, see
`boirl.Preferences`. The answer is one of two, so that its information is the entropy of what is
expected less what is expected of the entropy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.special import expit, xlogy

from boirl.decisions.behaviours import describe_paths
from boirl.decisions.ensemble import Ensemble, ensemble_of
from boirl.decisions.questions import ask_ensemble, check_starts
from boirl.decisions.starts import state_name
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.problem import Problem, TabularProblem
from boirl.problem.preferences import Preferences, discounted_returns
from boirl.problem.walks import horizon_of, walk_from
from boirl.types import FloatArray

if TYPE_CHECKING:
    from boirl.results import RewardSet

COMPARISON_STREAM = 32
STARTS = 4
"""Starts whose trajectories are compared: those about which most is to be learned."""

TELLING = 16
"""Rewards all over the box that tell trajectories apart, beside those of the posterior."""

DRAWN = 12
"""Trajectories from each start, of rewards that are drawn by their weights."""


@dataclass(frozen=True, eq=False)
class ComparisonQuestion:
    """Two trajectories from one start to compare.

    Attributes:
        start: Where both start.
        first: One trajectory.
        second: The other.
        information: What the answer is expected to say about the reward beyond the answers to the
            questions before it, in nats; log 2 = 0.69 at most.
        probability: That the first is the better one, by what is known now.
        inverse_temperature: How surely the better one is preferred.
        words: Both in words.
    """

    start: Any
    first: Demonstrations
    second: Demonstrations
    information: float
    probability: float
    inverse_temperature: float
    words: str

    @property
    def paths(self) -> tuple[Any, Any]:
        """The states of both trajectories."""
        return _states(self.first), _states(self.second)

    def answer(self, first_is_better: bool) -> Preferences:
        """The answer as evidence, for `study.add_preferences`."""
        pair = (self.first, self.second) if first_is_better else (self.second, self.first)
        return Preferences(*pair, self.inverse_temperature)

    def __str__(self) -> str:
        share = f"  by what is known, the first with {self.probability:.0%}"
        return f"which is better? ({self.information:.2f} nats expected)\n{self.words}\n{share}"


def ask_comparisons(
    found: RewardSet,
    n: int = 3,
    starts: Any = None,
    inverse_temperature: float | None = None,
    policies: int | None = None,
    seed: int = 0,
) -> list[ComparisonQuestion]:
    """The pairs of trajectories to ask about, the best question first.

    Args:
        found: The answer of a search.
        n: Questions.
        starts: Where trajectories may start; by default where demonstrations would say most.
        inverse_temperature: Of who compares; by default that of the demonstrator.
        policies: See `boirl.decisions.ensemble`.
        seed: Of everything random.
    """
    if n < 1:
        raise InvalidInputError(f"n is {n}; expected at least one question")
    ensemble = ensemble_of(found, policies, seed)
    problem = ensemble.problem
    rng = np.random.default_rng([seed, COMPARISON_STREAM])
    if starts is None:
        starts = [one.start for one in ask_ensemble(ensemble, STARTS, seed=seed)]
    if isinstance(problem, TabularProblem):
        check_starts(np.asarray(starts), problem.mdp.n_states)
    if inverse_temperature is not None and not inverse_temperature > 0.0:
        raise InvalidInputError(
            f"inverse_temperature is {inverse_temperature}; expected a positive number"
        )
    solver = getattr(problem, "solver", None)
    beta = inverse_temperature or getattr(solver, "inverse_temperature", None) or 1.0
    pool = [_trajectories(ensemble, start, rng) for start in starts]
    pairs = [_Pair(part, a, b) for part in pool for a, b in combinations(range(len(part)), 2)]
    if not pairs:
        raise InvalidInputError(
            "no reward tells the trajectories from these starts apart, so that there is nothing to "
            "compare; pass other starts"
        )
    chances = np.concatenate([_chances(ensemble, part, beta) for part in pool])
    return [
        pairs[number].question(ensemble, information, float(ensemble.weights @ row), beta)
        for number, information, row in _choose(ensemble.weights, chances, min(n, len(pairs)))
    ]


@dataclass(frozen=True)
class _Pair:
    pool: Demonstrations
    one: int
    other: int

    def question(
        self, ensemble: Ensemble, information: float, probability: float, beta: float
    ) -> ComparisonQuestion:
        first, second = (self.pool.subset([number]) for number in (self.one, self.other))
        start = first.starts[0]
        words = describe_paths(ensemble, [_states(first), _states(second)])
        lines = [
            f"  {label}: {each}" for label, each in zip(("first", "second"), words, strict=True)
        ]
        named = f"  from {state_name(ensemble.problem, first.states[0])}"
        return ComparisonQuestion(
            start if np.ndim(start) else start.item(),
            first,
            second,
            information,
            probability,
            beta,
            "\n".join([named, *lines]),
        )


def _states(one: Demonstrations) -> Any:
    known = one.next_states[-1:][~one.unknown_ends[-1:]]
    return np.concatenate([one.states, known])


def _trajectories(ensemble: Ensemble, start: Any, rng: np.random.Generator) -> Demonstrations:
    """Trajectories from a start, each of a reward that is drawn, that rewards tell apart."""
    problem = ensemble.problem
    owners = rng.choice(len(ensemble), DRAWN, p=ensemble.weights)
    drawn = [
        walk_from(
            problem, ensemble.policies[owner], np.asarray(start)[None], horizon_of(problem), rng
        )
        for owner in owners
    ]
    pool = problem.complete(Demonstrations.concatenate(drawn))
    anywhere = problem.box.from_unit(rng.random((TELLING, problem.box.dimension)))
    returns = _returns(problem, np.concatenate([ensemble.thetas, anywhere]), pool)
    # What no reward tells apart, such as what is done where nothing changes, is one and the same.
    rounded = np.round(returns / max(float(np.abs(returns).max()), 1e-300), 9)
    _, first = np.unique(rounded, axis=1, return_index=True)
    return pool.subset(np.sort(first))


def _returns(problem: Problem[Any], thetas: FloatArray, pool: Demonstrations) -> FloatArray:
    """Discounted return of each trajectory under each reward, `m x n`."""
    with torch.no_grad():
        found = discounted_returns(problem.reward, problem.gamma, torch.tensor(thetas), pool)
    return np.asarray(found.numpy(), dtype=np.float64)


def _chances(ensemble: Ensemble, pool: Demonstrations, beta: float) -> FloatArray:
    """Probability under each reward that the first of each pair is better, `pairs x m`."""
    returns = _returns(ensemble.problem, ensemble.thetas, pool)
    rows = [
        expit(beta * (returns[:, a] - returns[:, b])) for a, b in combinations(range(len(pool)), 2)
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, len(ensemble))


def _choose(
    weights: FloatArray, chances: FloatArray, n: int
) -> Iterator[tuple[int, float, FloatArray]]:
    """Numbers of pairs, what each says beyond those before it, and its chances, `m`.

    All outcomes of the earlier ones are gone through: `2^n` sets of weights.
    """
    outcomes, limit = weights[None], np.log(2.0)
    taken: list[int] = []
    for _ in range(n):
        total = outcomes.sum(axis=1, keepdims=True)
        given = outcomes / np.maximum(total, 1e-300)
        expected = given @ chances.T
        within = given @ _entropy(chances).T
        gains = total[:, 0] @ (_entropy(expected) - within)
        gains[taken] = -np.inf
        best = int(gains.argmax())
        limit = min(limit, max(0.0, float(gains[best])))
        taken.append(best)
        yield best, limit, chances[best]
        outcomes = np.concatenate([outcomes * chances[best], outcomes * (1.0 - chances[best])])


def _entropy(chances: FloatArray) -> FloatArray:
    found: FloatArray = -xlogy(chances, chances) - xlogy(1.0 - chances, 1.0 - chances)
    return found
