"""Problems with known dynamics on finitely many states."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from boirl.demonstrations import UNKNOWN, Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError, SolverError
from boirl.evaluation import Evaluation, PolicyArrays
from boirl.policies import TabularPolicy, TabularSolver, expected_return
from boirl.problem.base import DEMONSTRATION_STREAM, Problem
from boirl.problem.behaviour import largest_differences, mean_total_variation, named
from boirl.problem.endings import (
    check_ends,
    check_lengths,
    default_horizon,
    without_ended_steps,
)
from boirl.problem.explanation import explain, gradient_by_theta, slopes_by_rewards
from boirl.problem.given_later import GivenLater
from boirl.problem.likelihood import negative_log_likelihoods
from boirl.problem.rescoring import kept_tabular_log_likelihoods
from boirl.problem.suboptimality import Suboptimality, tabular_suboptimality
from boirl.problem.table_checks import (
    check_covers,
    checked_values,
    refuse_constant_rewards,
    refuse_infinite_rewards,
    warn_of_absorbing_states,
    warn_of_impossible_steps,
    warn_of_unpaid_parameters,
)
from boirl.rewards import RewardFamily, Transitions
from boirl.threads import single_thread
from boirl.types import Difference, FloatArray, IntArray, Report, silent

BATCH_ENTRIES = 100_000
"""State-actions solved at once in a batch of thetas: what fits the cache of a core."""


@dataclass(frozen=True, eq=False, repr=False)
class TabularProblem(Problem[TabularPolicy]):
    """A problem with known dynamics on finitely many states.

    Args:
        mdp: The dynamics.
        reward: The family whose theta is sought.
        demonstrations: What is to be explained. Nothing needs them until something is to be
            explained: policies and `demonstrate` work without. Steps in terminal states are left
            out.
        solver: Operator, inverse temperature, tolerance and, for policies that depend on the steps
            left, horizon.
        horizon: Steps over which `esor` sums; by default the longest demonstration.
        truth: Theta of the demonstrator where it is known.
    """

    mdp: TabularMDP
    reward: RewardFamily
    demonstrations: Demonstrations = cast(Demonstrations, None)  # noqa: RUF009
    solver: TabularSolver = field(default_factory=TabularSolver)
    horizon: int | None = None
    truth: tuple[float, ...] | None = None
    name: str = "unnamed"
    recipe: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        check_covers(self.reward, self.mdp)
        warn_of_unpaid_parameters(self.reward, self.mdp)
        if self.solver.bellman == "logsumexp":
            warn_of_absorbing_states(self.mdp)
        if self.has_demonstrations:
            self._take(self.demonstrations)
        if self.horizon is not None and self.horizon < 1:
            raise InvalidInputError(f"the horizon is {self.horizon}; expected at least one step")
        if self.truth is not None:
            set_field(self, "truth", tuple(self.box.check_one(self.truth).tolist()))

    def _take(self, demonstrations: Demonstrations) -> None:
        object.__setattr__(self, "demonstrations", self.complete(demonstrations))
        warn_of_impossible_steps(self.demonstrations, self.mdp)

    @property
    def gamma(self) -> float:
        return self.mdp.gamma

    @property
    def dynamics(self) -> TabularMDP:
        """What policies choose actions in: the MDP, or a copy of its states for each step."""
        return self.solver.dynamics(self.mdp)

    @property
    def steps(self) -> int:
        """Steps over which `esor` sums.

        The horizon of the problem or of its solver, or else the longest demonstration; without
        demonstrations, the steps that a demonstrator takes by default.
        """
        given = self.horizon or self.solver.horizon
        if given is None and self.has_demonstrations:
            return int(self.demonstrations.lengths.max())
        return given or default_horizon(self.mdp)

    @property
    def explained_steps(self) -> Demonstrations:
        if self.solver.horizon is None:
            return self.demonstrations
        shown, n = self.demonstrations, self.mdp.n_states
        known = shown.next_states != UNKNOWN
        taken = shown.step_numbers
        return replace(
            shown,
            states=shown.states + n * taken,
            next_states=np.where(known, shown.next_states + n * (taken + 1), UNKNOWN),
        )

    def with_demonstrations(self, demonstrations: Demonstrations) -> TabularProblem:
        """The same problem with other demonstrations to explain."""
        # Environment and reward were checked before: all that is new is the demonstrations.
        other = object.__new__(type(self))
        for one in fields(self):
            if one.name != "demonstrations":
                object.__setattr__(other, one.name, getattr(self, one.name))
        other._take(demonstrations)
        return other

    def with_gamma(self, gamma: float) -> TabularProblem:
        mdp, shown = replace(self.mdp, gamma=float(gamma)), GivenLater.stored(self)
        return replace(self, mdp=mdp, demonstrations=cast(Demonstrations, shown), recipe=None)

    def suboptimality(self, theta: ArrayLike | None = None) -> Suboptimality:
        chosen = self._theta_or_estimate(theta)
        return tabular_suboptimality(self, chosen, self._rewards(chosen)[0])

    def policy(self, theta: ArrayLike) -> TabularPolicy:
        return self.solver.solve(self.mdp, self._rewards(self.box.check_one(theta))[0])

    def solve(
        self,
        reward: RewardFamily,
        theta: ArrayLike,
        seed: int = 0,
        warm_start: TabularPolicy | None = None,
        report: Report = silent,
    ) -> TabularPolicy:
        rewards = self.mdp.expected_rewards(reward, reward.box.check_one(theta)[None])[0]
        if not np.isfinite(rewards).all():
            raise SolverError("the reward is not finite in all states")
        return self.solver.solve(
            self.mdp, rewards, None if warm_start is None else warm_start.values
        )

    def _evaluate(self, theta: FloatArray, seed: int | None, report: Report) -> Evaluation:
        explained = explain(self.mdp, self.solver, self._rewards(theta)[0], self.explained_steps)
        return Evaluation(
            tuple(theta.tolist()),
            explained.nll,
            log_likelihoods=explained.log_likelihoods,
            gradient=gradient_by_theta(self.mdp, self.reward, theta, explained.slopes),
            policies=(self.compact_policy(explained.policy),),
            facts=explained.policy.facts,
        )

    def gradient_of(
        self, theta: FloatArray, policy: TabularPolicy, by_choice: FloatArray
    ) -> FloatArray | None:
        """Derivative by theta, `d`, of a number that follows from its policy; None where there is
        none. `by_choice` is as of `slopes_by_rewards`; nothing is solved again."""
        if policy.values is None:
            return None
        slopes = slopes_by_rewards(
            self.mdp, self.solver, self._rewards(theta)[0], policy, by_choice
        )
        return gradient_by_theta(self.mdp, self.reward, theta, slopes)

    def kept_log_likelihoods(self, evaluations: Sequence[Evaluation]) -> FloatArray:
        if any(one.reward is not None for one in evaluations):
            return super().kept_log_likelihoods(evaluations)
        return kept_tabular_log_likelihoods(self, evaluations)

    def compact_policy(self, policy: TabularPolicy) -> PolicyArrays:
        """Its values, from which it follows by one step; without values its log probabilities."""
        return policy.compact()

    def _restore_policy(self, arrays: PolicyArrays, evaluation: Evaluation) -> TabularPolicy:
        if "log_probabilities" in arrays:
            return TabularPolicy.restored(arrays, self.dynamics)
        family = evaluation.reward or self.reward
        rewards = self.mdp.expected_rewards(family, np.array([evaluation.theta]))[0]
        values = checked_values(arrays, self.dynamics.n_states, evaluation.theta)
        return self.solver.policy_of_values(self.mdp, rewards, values)

    def true_return(self, policy: TabularPolicy) -> float:
        return float(self._true_returns(policy.log_probabilities[None])[0])

    def _true_returns(self, log_policies: FloatArray) -> FloatArray:
        """Exact, no sampling; from the demonstrations' starts, over `steps` steps."""
        start = self.mdp.start
        if self.has_demonstrations:
            counts = np.bincount(self.demonstrations.starts, minlength=self.mdp.n_states)
            start = counts / counts.sum()
        rewards = np.tile(self.true_rewards(), (self.dynamics.n_states // self.mdp.n_states, 1))
        first = np.pad(start, (0, self.dynamics.n_states - self.mdp.n_states))
        return expected_return(self.dynamics, log_policies, rewards, first, self.steps)

    def nll_batch(self, thetas: ArrayLike) -> FloatArray:
        checked = self.box.check(thetas)
        batches = list(self._batches(len(checked)))
        with single_thread(), ThreadPoolExecutor(os.cpu_count()) as cores:
            parts = list(cores.map(lambda rows: self._nll_of(checked[rows]), batches))
        return np.concatenate([np.empty(0), *parts])

    def _nll_of(self, thetas: FloatArray) -> FloatArray:
        nll = np.full(len(thetas), np.nan)
        rewards = self.mdp.expected_rewards(self.reward, thetas)
        finite = np.isfinite(rewards).all(axis=(1, 2))
        if not finite.any():
            return nll
        solution = self.solver.solve_batch(self.mdp, rewards[finite])
        solved = negative_log_likelihoods(solution.log_policies, self.explained_steps)
        nll[finite] = np.where(solution.converged, solved, np.nan)
        return nll

    def esor(self, theta: ArrayLike) -> Any:
        """`true_return` of the policy of theta; an array `n` for rows of thetas.

        Raises:
            SolverError: A theta has no policy.
        """
        checked = self.box.check(theta)
        returns = np.empty(len(checked))
        for rows in self._batches(len(checked)):
            solution = self.solver.solve_batch(self.mdp, self._rewards(checked[rows]))
            if not solution.converged.all():
                raise SolverError(self.solver.failure(solution, int(np.argmin(solution.converged))))
            returns[rows] = self._true_returns(solution.log_policies)
        return float(returns[0]) if np.ndim(theta) <= 1 else returns

    def complete(self, demonstrations: Demonstrations) -> Demonstrations:
        demonstrations = demonstrations.numbered(self.mdp.state_names, self.mdp.action_names)
        demonstrations.check_fits(self.mdp.n_states, self.mdp.n_actions)
        demonstrations = without_ended_steps(demonstrations, self.mdp)
        if self.solver.horizon is not None:
            check_lengths(demonstrations, self.solver.horizon)
        unknown = demonstrations.next_states == UNKNOWN
        if unknown.any() and self.mdp.next_states is not None:
            reached = self.mdp.next_states[demonstrations.states, demonstrations.actions]
            following = np.where(unknown, reached, demonstrations.next_states)
            return replace(demonstrations, next_states=following)
        check_ends(demonstrations, self.reward)
        return demonstrations

    def true_rewards(self) -> FloatArray:
        """Expected true reward of every state-action, `S x A`, or `S x 1` on states alone."""
        return self._rewards(self._require_truth())[0]

    def roll_out(
        self,
        policy: TabularPolicy | None,
        starts: IntArray,
        horizon: int,
        rng: np.random.Generator,
    ) -> Demonstrations:
        if policy is None:
            return TabularPolicy.uniform(self.mdp).sample(self.mdp, starts, horizon, rng)
        sampled = policy.sample(self.dynamics, starts, horizon, rng)
        if self.solver.horizon is None:
            return sampled
        n = self.mdp.n_states
        return replace(sampled, states=sampled.states % n, next_states=sampled.next_states % n)

    def demonstrate(
        self, theta: ArrayLike, count: int, seed: int, horizon: int | None = None
    ) -> Demonstrations:
        """Trajectories of the policy of theta, from starts drawn from `mdp.start`.

        By default they take as many steps as `steps` says; without a horizon or demonstrations,
        up to the end or as long as discounted rewards matter.
        """
        if count < 1:
            raise InvalidInputError(f"count is {count}; expected at least one trajectory")
        rng = np.random.default_rng([seed, DEMONSTRATION_STREAM])
        policy = self.policy(theta)
        starts = rng.choice(self.mdp.n_states, size=count, p=self.mdp.start)
        return self.roll_out(policy, starts, horizon or self.steps, rng)

    def behaviour_distances(self, policies: Sequence[TabularPolicy]) -> FloatArray:
        states, visits = np.unique(self.explained_steps.states, return_counts=True)
        return mean_total_variation(
            np.stack([policy.probabilities[states] for policy in policies]), visits
        )

    def most_different(self, one: TabularPolicy, other: TabularPolicy, n: int) -> list[Difference]:
        states = np.unique(self.explained_steps.states)
        found = largest_differences(
            states, one.probabilities[states], other.probabilities[states], n
        )
        return [named(replace(one, state=one.state % self.mdp.n_states), self.mdp) for one in found]

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        own = self.solver
        solver: tuple[Any, ...] = (own.bellman, own.inverse_temperature, own.tolerance)
        if own.horizon is not None:
            solver = (*solver, own.horizon)
        digest.update(repr((self.reward.parameters, solver, self.mdp.gamma)).encode())
        if self.mdp.terminal.size:
            digest.update(self.mdp.terminal.tobytes())
        matrix = self.mdp.transition
        for array in (matrix.indptr, matrix.indices, *self.demonstrations.to_dict().values()):
            digest.update(np.asarray(array, dtype=np.int64).tobytes())
        digest.update(matrix.data.tobytes())
        rewards = self.probe_reward(self.probed_transitions())
        digest.update((np.round(rewards, 9) + 0.0).tobytes())
        return digest.hexdigest()[:16]

    def check_reward_varies(self) -> None:
        super().check_reward_varies()
        refuse_constant_rewards(self.probe_reward(self.probed_transitions()), self.mdp, self.name)

    def probed_transitions(self) -> Transitions:
        return self.mdp.paid_transitions(self.reward.depends_on)

    def _sizes(self) -> list[str]:
        return [f"{self.mdp.n_states} states", f"{self.mdp.n_actions} actions"]

    def _batches(self, n: int) -> Iterator[IntArray]:
        size = max(1, BATCH_ENTRIES // (self.dynamics.n_states * self.mdp.n_actions))
        return (np.arange(first, min(first + size, n)) for first in range(0, n, size))

    def _rewards(self, thetas: ArrayLike) -> FloatArray:
        """Reward tables of `n` thetas, all of them finite."""
        checked = self.box.check(thetas)
        rewards = self.mdp.expected_rewards(self.reward, checked)
        refuse_infinite_rewards(rewards, self.mdp, checked)
        return rewards


TabularProblem.demonstrations = GivenLater()  # type: ignore[assignment]
