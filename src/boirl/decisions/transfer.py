"""The found rewards in a changed environment: what would happen there, and how surely.

The posterior over rewards stays as it is; their policies are solved for where they are to act. What
the rewards disagree on there is the spread that the ambiguity causes, and every number that
describes behaviour becomes an interval, before the change, after it, and of the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boirl.constraints.quantities import Quantity
from boirl.decisions.behaviours import Behaviour, behaviour_lines, behaviours_from, walk
from boirl.decisions.ensemble import Ensemble, ensemble_of, solved_ensemble
from boirl.errors import InvalidInputError
from boirl.problem import Problem, TabularProblem
from boirl.problem.walks import horizon_of
from boirl.types import FloatArray

if TYPE_CHECKING:
    from boirl.results import RewardSet

TRANSFER_STREAM = 36
TRAINED = 3
"""Rewards that are trained for in the changed environment, where policies are learned."""

LEVEL = 0.95


class Interval(NamedTuple):
    """A mean over the posterior and the ends of a 95 % interval."""

    low: float
    mean: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.4g} ({self.low:.4g} to {self.high:.4g})"


class Effect(NamedTuple):
    """A quantity before and after a change; `before` is None where it has no meaning there."""

    name: str
    before: Interval | None
    after: Interval
    difference: Interval | None


@dataclass(frozen=True, eq=False, repr=False)
class Transfer:
    """What rewards would do in a changed environment.

    Attributes:
        ensemble: The rewards, with their policies there.
        effects: What was measured.
        spread: Mean behavioural distance between two rewards of the posterior there, in [0, 1].
        spread_before: The same where they were found.
        behaviours: What they would do there from its likeliest start, the most probable first.
    """

    ensemble: Ensemble
    effects: tuple[Effect, ...]
    spread: float
    spread_before: float
    behaviours: tuple[Behaviour, ...]

    def __repr__(self) -> str:
        return f"Transfer({self.ensemble.problem.name!r}, spread {self.spread:.3f})"

    def __str__(self) -> str:
        lines = [
            f"{self.ensemble.problem.name}: {len(self.ensemble)} rewards; two of them choose "
            f"differently in {self.spread:.1%} of the steps there, in {self.spread_before:.1%} "
            "before"
        ]
        for one in self.effects:
            before = "" if one.before is None else f"{one.before} before, "
            change = "" if one.difference is None else f"; difference {one.difference}"
            lines.append(f"  {one.name}: {before}{one.after} after{change}")
        lines.append("from its likeliest start:")
        return "\n".join([*lines, *behaviour_lines(self.behaviours)])


def transfer(
    found: RewardSet,
    other: Problem[Any],
    quantities: Sequence[Quantity] = (),
    policies: int | None = None,
    seed: int = 0,
) -> Transfer:
    """The rewards of a search in another environment.

    Args:
        found: The answer of a search.
        other: The changed problem: the same parameters of the reward, any dynamics. It needs no
            demonstrations.
        quantities: What to measure, see `boirl.constraints.Reach` and others.
        policies: See `boirl.decisions.ensemble`. Where policies are learned, the rewards to train
            for, by default 3.
        seed: Of everything random.
    """
    if not isinstance(other, Problem):
        raise InvalidInputError(
            f"the other problem is a {type(other).__name__}; expected a boirl.Problem, such as "
            "boirl.decisions.changed_problem(found.problem, closed=[5])"
        )
    names = other.box.names
    if names != found.names:
        raise InvalidInputError(
            f"the parameters of the other problem are {', '.join(names)}; expected those of the "
            f"rewards: {', '.join(found.names)}"
        )
    here = ensemble_of(found, 0 if other.is_model_free else policies, seed)
    if other.is_model_free:
        chosen = np.argsort(-here.weights, kind="stable")[: policies or TRAINED]
        weights = here.weights[chosen] / here.weights[chosen].sum()
        kept = tuple(here.policies[number] for number in chosen)
        here = Ensemble(here.problem, here.thetas[chosen], weights, kept)
    there = solved_ensemble(other, here.thetas, here.weights)
    rng = np.random.default_rng([seed, TRANSFER_STREAM])
    start = starts_of(other, rng)
    return Transfer(
        there,
        tuple(_effect(one, here, there) for one in quantities),
        spread_of(there, rng),
        spread_of(here, rng),
        behaviours_from(there, start[0], horizon_of(other), rng),
    )


def starts_of(problem: Problem[Any], rng: np.random.Generator) -> Any:
    """A few starts of an environment, the likeliest one first."""
    if isinstance(problem, TabularProblem):
        first = int(problem.mdp.start.argmax())
        return np.append(first, rng.choice(problem.mdp.n_states, size=3, p=problem.mdp.start))
    simulator = getattr(problem, "simulator", None)
    if simulator is not None:
        return simulator.roll_out(None, 4, 1, rng).starts
    return problem.demonstrations.starts[:4]


def spread_of(ensemble: Ensemble, rng: np.random.Generator) -> float:
    """Mean behavioural distance between two rewards that are drawn, where they act."""
    if len(ensemble) < 2:
        return 0.0
    problem = ensemble.problem
    walks = walk(ensemble, starts_of(problem, rng), horizon_of(problem), rng)
    distances = walks.behaviour_distances(ensemble.policies)
    return float(ensemble.weights @ distances @ ensemble.weights)


def _effect(quantity: Quantity, here: Ensemble, there: Ensemble) -> Effect:
    """A quantity before, after, and the difference reward by reward."""
    quantity.check(there.problem)
    after = _measured(quantity, there)
    try:
        quantity.check(here.problem)
    except InvalidInputError:
        # States of the changed environment that the other one does not have.
        return Effect(quantity.name, None, interval(after, there.weights), None)
    before = _measured(quantity, here)
    # What is left of rounding is no difference.
    rounding = 1e-9 * float(np.abs(before).max(initial=0.0))
    places = {tuple(theta): number for number, theta in enumerate(here.thetas.tolist())}
    same = [places[tuple(theta)] for theta in there.thetas.tolist()]
    return Effect(
        quantity.name,
        interval(before, here.weights),
        interval(after, there.weights),
        interval(_unless_below(after - before[same], rounding), there.weights),
    )


def _unless_below(values: FloatArray, least: float) -> FloatArray:
    return np.where(np.abs(values) <= least, 0.0, values)


def _measured(quantity: Quantity, ensemble: Ensemble) -> FloatArray:
    found = [quantity.measure(ensemble.problem, one).value for one in ensemble.policies]
    return np.array(found, dtype=np.float64)


def interval(values: FloatArray, weights: FloatArray, level: float = LEVEL) -> Interval:
    """The mean of weighted values, `m`, and the interval that holds a share of them."""
    order = np.argsort(values, kind="stable")
    held = np.cumsum(weights[order]) - 0.5 * weights[order]
    ends = np.interp([0.5 - level / 2, 0.5 + level / 2], held, values[order])
    return Interval(float(ends[0]), float(weights @ values), float(ends[1]))
