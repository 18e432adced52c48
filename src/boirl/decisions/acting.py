"""Acting while the reward is not known: one policy for all rewards that explain the demonstrations.

The regret of a policy under a reward is what it earns less than the best policy for that reward.
`risk="mean"` minimises its mean over the posterior, `risk="worst"` its maximum, and a level between
0 and 1 the mean of the worst share `1 - level` of the posterior (conditional value at risk), which
is the mean at 0 and the maximum at 1; see `boirl.decisions.regret`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boirl.constraints import Measured
from boirl.decisions.behaviours import alike_from
from boirl.decisions.ensemble import Ensemble, ensemble_of
from boirl.decisions.plausible import with_plausible
from boirl.decisions.regret import minimise_regret
from boirl.decisions.returns import DrawnPolicy, Returns, SampledReturns, TabularReturns
from boirl.errors import InvalidInputError
from boirl.problem import TabularProblem
from boirl.problem.walks import horizon_of
from boirl.threads import single_thread
from boirl.types import FloatArray, IntArray

if TYPE_CHECKING:
    from boirl.results import RewardSet

ACTING_STREAM = 34

LISTED_GROUPS = 10
"""Behaviours that `print` lists."""


class GroupRegret(NamedTuple):
    """Regrets under the rewards of one behaviour.

    Attributes:
        theta: The reward of the group with the largest weight, `d`.
        weight: Share of the posterior.
        members: Numbers of its rewards.
        regret: Mean regret of the policy.
        worst: The largest.
        single: Mean regret of acting on the single best reward.
        single_worst: The largest of that.
    """

    theta: FloatArray
    weight: float
    members: IntArray
    regret: float
    worst: float
    single: float
    single_worst: float


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """A policy for all rewards that explain the demonstrations; it can be used as a policy.

    Attributes:
        policy: A `TabularPolicy`, a policy that was learned, or several to draw from.
        risk: `"mean"`, `"worst"` or a level.
        ensemble: The rewards that were considered.
        regrets: Of the policy under each, `m`, in units of the reward.
        single_regrets: Of acting on the single best reward alone, `m`.
        groups: The same by behaviour, the most probable first.
        broken: Constraints on behaviour that the policy itself does not meet, in words. They say
            what the demonstrator does; a policy that earns more may go further.
    """

    policy: Any
    risk: str | float
    ensemble: Ensemble
    regrets: FloatArray
    single_regrets: FloatArray
    groups: tuple[GroupRegret, ...]
    broken: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        # Only asked for what a decision has not: what its policy can do, it can.
        if name.startswith("__") or name == "policy":
            raise AttributeError(name)
        return getattr(self.policy, name)

    @property
    def mean_regret(self) -> float:
        """Mean over the posterior."""
        return float(self.ensemble.weights @ self.regrets)

    @property
    def worst_regret(self) -> float:
        """The largest regret under any of the rewards."""
        return float(self.regrets.max())

    @property
    def single_mean_regret(self) -> float:
        """`mean_regret` of acting on the single best reward."""
        return float(self.ensemble.weights @ self.single_regrets)

    @property
    def single_worst_regret(self) -> float:
        """`worst_regret` of acting on the single best reward."""
        return float(self.single_regrets.max())

    def __repr__(self) -> str:
        return (
            f"Decision(risk={self.risk!r}, mean regret {self.mean_regret:.4g}, worst "
            f"{self.worst_regret:.4g})"
        )

    def __str__(self) -> str:
        names = self.ensemble.problem.box.names
        header = "".join(f"{name[:13]:>14}" for name in names)
        lines = [
            f"regret of one policy for {len(self.ensemble)} rewards (risk {self.risk}), beside "
            "acting on the single best reward:",
            f"{'':>8}{header}{'regret':>12}{'worst':>12}{'single best':>14}{'its worst':>12}",
        ]
        for one in self.groups[:LISTED_GROUPS]:
            theta = "".join(f"{value:>14.4g}" for value in one.theta)
            numbers = f"{one.regret:>12.4g}{one.worst:>12.4g}{one.single:>14.4g}"
            lines.append(f"{one.weight:>8.0%}{theta}{numbers}{one.single_worst:>12.4g}")
        if len(self.groups) > LISTED_GROUPS:
            lines.append(f"{'':>8}  and {len(self.groups) - LISTED_GROUPS} more behaviours")
        blank = "".join(f"{'':>14}" for _ in names)
        lines.append(
            f"{'all':>8}{blank}{self.mean_regret:>12.4g}{self.worst_regret:>12.4g}"
            f"{self.single_mean_regret:>14.4g}{self.single_worst_regret:>12.4g}"
        )
        lines += [f"  ! the policy itself breaks {one}" for one in self.broken]
        return "\n".join(lines)


def act(
    found: RewardSet,
    risk: str | float = "mean",
    start: Any = None,
    policies: int | None = None,
    seed: int = 0,
) -> Decision:
    """The policy that is best for all rewards of the posterior, at a level of risk.

    The rewards are those that stand for the posterior; in the worst case, all that are known and
    that a likelihood-ratio test at 95 % does not reject. Where policies are learned, those that the
    search kept are chosen from.

    Args:
        found: The answer of a search.
        risk: `"mean"`, `"worst"`, or a level in [0, 1].
        start: Where to act from: a distribution over the states of a table, `S`; else rows of
            starts. By default where the environment starts.
        policies: See `boirl.decisions.ensemble`.
        seed: Of everything random.
    """
    level = _level(risk)
    ensemble = ensemble_of(found, policies, seed)
    plausible = with_plausible(found, ensemble, level == 1.0, policies, seed)
    decision = decide(plausible, found.best, level, risk, start, seed)
    return replace(decision, broken=_broken(found, decision.policy))


def _broken(found: RewardSet, policy: Any) -> tuple[str, ...]:
    """The constraints on behaviour that a policy does not meet, in words."""
    several = isinstance(policy, DrawnPolicy)
    policies = policy.policies if several else (policy,)
    shares = policy.shares if several else np.ones(1)
    words = []
    for one in found.constraints.behaviour if found.constraints.is_measurable else ():
        each = np.array([one.measure(found.problem, own)[:2] for own in policies])
        # One of them is drawn for each episode.
        value, error = float(shares @ each[:, 0]), float(np.hypot.reduce(shares * each[:, 1]))
        measured = Measured(value, error)
        if not one.holds(measured):
            words.append(one.describe(measured))
    return tuple(words)


def decide(
    ensemble: Ensemble,
    best: FloatArray,
    level: float,
    risk: str | float,
    start: Any = None,
    seed: int = 0,
) -> Decision:
    """`act` for rewards that stand for the posterior, beside the single reward `best`."""
    with single_thread():
        returns = _returns(ensemble, start, seed)
        pool, shares = minimise_regret(returns, level)
        regrets = returns.best - shares @ np.stack([returns.of(policy) for policy in pool])
        single = returns.best - returns.of(_single(returns, best))
        policy = returns.join(pool, shares)
        scale = max(float(np.abs(returns.best).max()), 1e-300)
        # What is left of rounding.
        regrets, single = (np.where(one < 1e-9 * scale, 0.0, one) for one in (regrets, single))
        groups = _groups(ensemble, regrets, single, start, seed)
    return Decision(policy, risk, ensemble, regrets, single, groups)


def _level(risk: str | float) -> float:
    named = {"mean": 0.0, "worst": 1.0}
    if isinstance(risk, str):
        if risk in named:
            return named[risk]
    elif isinstance(risk, int | float) and 0.0 <= risk <= 1.0:
        return float(risk)
    raise InvalidInputError(
        f"the risk is {risk!r}; expected 'mean', 'worst' or a level from 0 (the mean) to 1 (the "
        "worst)"
    )


def _returns(ensemble: Ensemble, start: Any, seed: int) -> Returns:
    problem = ensemble.problem
    if not isinstance(problem, TabularProblem):
        return SampledReturns(ensemble, start, seed)
    n = problem.mdp.n_states
    first = problem.mdp.start if start is None else np.asarray(start, dtype=np.float64)
    if first.shape != (n,) or first.min() < 0.0 or not math.isclose(float(first.sum()), 1.0):
        raise InvalidInputError(
            f"the start has shape {first.shape}; expected {n} probabilities of states that sum to 1"
        )
    return TabularReturns(ensemble, first)


def _single(returns: Returns, best: FloatArray) -> Any:
    """The policy of acting on one reward: the best for it, or the one that was kept."""
    distances = np.abs(returns.ensemble.thetas - best).sum(axis=1)
    number = int(distances.argmin())
    response = returns.best_response(np.eye(len(returns.ensemble))[number])
    return returns.ensemble.policies[number] if response is None else response


def _groups(
    ensemble: Ensemble, regrets: FloatArray, single: FloatArray, start: Any, seed: int
) -> tuple[GroupRegret, ...]:
    """Regrets by behaviour where the policy acts."""
    problem = ensemble.problem
    rng = np.random.default_rng([seed, ACTING_STREAM])
    if isinstance(problem, TabularProblem):
        first = problem.mdp.start if start is None else np.asarray(start, dtype=np.float64)
        starts: Any = rng.choice(problem.mdp.n_states, size=4, p=first)
    else:
        given = problem.demonstrations.starts if start is None else np.asarray(start)
        starts = given[rng.integers(len(given), size=4)]
    _, groups = alike_from(ensemble, starts, horizon_of(problem), rng)
    found = []
    for members in groups:
        weights = ensemble.weights[members]
        total = float(weights.sum())
        shares = weights / total if total > 0.0 else np.full(len(members), 1.0 / len(members))
        found.append(
            GroupRegret(
                ensemble.thetas[members[int(weights.argmax())]],
                total,
                members,
                float(shares @ regrets[members]),
                float(regrets[members].max()),
                float(shares @ single[members]),
                float(single[members].max()),
            )
        )
    return tuple(sorted(found, key=lambda one: -one.weight))
