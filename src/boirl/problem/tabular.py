"""Problems with known dynamics on finitely many states."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from boirl.demonstrations import UNKNOWN, Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import BoirlWarning, InvalidInputError, SolverError
from boirl.evaluation import Evaluation, PolicyArrays
from boirl.policies import TabularPolicy, TabularSolver, expected_return
from boirl.problem.base import Problem, check_ends
from boirl.problem.behaviour import largest_differences, mean_total_variation
from boirl.problem.explanation import explain
from boirl.problem.likelihood import negative_log_likelihoods
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
        demonstrations: What is to be explained.
        solver: Operator, inverse temperature and tolerance.
        horizon: Steps over which `esor` sums; by default the longest demonstration.
        truth: Theta of the demonstrator where it is known.
    """

    mdp: TabularMDP
    reward: RewardFamily
    demonstrations: Demonstrations
    solver: TabularSolver = field(default_factory=TabularSolver)
    horizon: int | None = None
    truth: tuple[float, ...] | None = None
    name: str = "unnamed"
    recipe: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        self._check_reward()
        set_field(self, "demonstrations", self.complete(self.demonstrations))
        self._warn_of_impossible_steps()
        if self.horizon is not None and self.horizon < 1:
            raise InvalidInputError(f"the horizon is {self.horizon}; expected at least one step")
        if self.truth is not None:
            set_field(self, "truth", tuple(self.box.check_one(self.truth).tolist()))

    @property
    def gamma(self) -> float:
        return self.mdp.gamma

    @property
    def steps(self) -> int:
        """Steps over which `esor` sums: the horizon, or else the longest demonstration."""
        return self.horizon or int(self.demonstrations.lengths.max())

    def with_demonstrations(self, demonstrations: Demonstrations) -> TabularProblem:
        """The same problem with other demonstrations to explain."""
        return replace(self, demonstrations=demonstrations)

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
        explained = explain(self.mdp, self.solver, self._rewards(theta)[0], self.demonstrations)
        return Evaluation(
            tuple(theta.tolist()),
            explained.nll,
            log_likelihoods=explained.log_likelihoods,
            gradient=self._gradient(theta, explained.slopes),
            policies=(self.compact_policy(explained.policy),),
            facts=explained.policy.facts,
        )

    def _gradient(self, theta: FloatArray, slopes: FloatArray | None) -> FloatArray | None:
        """Derivative of the NLL by theta, `d`, from that by rewards; None where there is none."""
        if slopes is None:
            return None
        chosen = torch.tensor(theta, requires_grad=True)
        depends_on = self.reward.depends_on
        paid = self.reward(chosen[None], self.mdp.paid_transitions(depends_on))[0]
        if not paid.requires_grad:
            return None
        by_transition = self.mdp.slopes_by_transition(slopes, depends_on)
        (gradient,) = torch.autograd.grad(paid @ torch.as_tensor(by_transition), chosen)
        return np.asarray(gradient.numpy())

    def compact_policy(self, policy: TabularPolicy) -> PolicyArrays:
        """Its values: the policy follows from them by one step."""
        assert policy.values is not None
        return {"values": policy.values}

    def _restore_policy(self, arrays: PolicyArrays, evaluation: Evaluation) -> TabularPolicy:
        family = evaluation.reward or self.reward
        rewards = self.mdp.expected_rewards(family, np.array([evaluation.theta]))[0]
        return self.solver.policy_of_values(self.mdp, rewards, arrays["values"])

    def true_return(self, policy: TabularPolicy) -> float:
        return float(self._true_returns(policy.log_probabilities[None])[0])

    def _true_returns(self, log_policies: FloatArray) -> FloatArray:
        """Exact, no sampling; from the demonstrations' starts, over `steps` steps."""
        start = np.bincount(self.demonstrations.starts, minlength=self.mdp.n_states)
        return expected_return(
            self.mdp, log_policies, self.true_rewards(), start / start.sum(), self.steps
        )

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
        solved = negative_log_likelihoods(solution.log_policies, self.demonstrations)
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
        demonstrations.check_fits(self.mdp.n_states, self.mdp.n_actions)
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
        chosen = TabularPolicy.uniform(self.mdp) if policy is None else policy
        return chosen.sample(self.mdp, starts, horizon, rng)

    def behaviour_distances(self, policies: Sequence[TabularPolicy]) -> FloatArray:
        states, visits = np.unique(self.demonstrations.states, return_counts=True)
        return mean_total_variation(
            np.stack([policy.probabilities[states] for policy in policies]), visits
        )

    def most_different(self, one: TabularPolicy, other: TabularPolicy, n: int) -> list[Difference]:
        states = np.unique(self.demonstrations.states)
        return largest_differences(
            states, one.probabilities[states], other.probabilities[states], n
        )

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        solver = (self.solver.bellman, self.solver.inverse_temperature, self.solver.tolerance)
        digest.update(repr((self.reward.parameters, solver, self.mdp.gamma)).encode())
        matrix = self.mdp.transition
        for array in (matrix.indptr, matrix.indices, *self.demonstrations.to_dict().values()):
            digest.update(np.asarray(array, dtype=np.int64).tobytes())
        digest.update(matrix.data.tobytes())
        rewards = self.probe_reward(self._probed_transitions())
        digest.update((np.round(rewards, 9) + 0.0).tobytes())
        return digest.hexdigest()[:16]

    def _probed_transitions(self) -> Transitions:
        return self.mdp.paid_transitions(self.reward.depends_on)

    def _sizes(self) -> list[str]:
        return [f"{self.mdp.n_states} states", f"{self.mdp.n_actions} actions"]

    def _batches(self, n: int) -> Iterator[IntArray]:
        size = max(1, BATCH_ENTRIES // (self.mdp.n_states * self.mdp.n_actions))
        return (np.arange(first, min(first + size, n)) for first in range(0, n, size))

    def _rewards(self, thetas: ArrayLike) -> FloatArray:
        """Reward tables of `n` thetas, all of them finite."""
        checked = self.box.check(thetas)
        rewards = self.mdp.expected_rewards(self.reward, checked)
        if not np.isfinite(rewards).all():
            number, state = np.argwhere(~np.isfinite(rewards))[0][:2]
            raise SolverError(
                f"the reward of state {state} is not finite for theta "
                f"{tuple(checked[number].tolist())}; expected finite rewards all over the box"
            )
        return rewards

    def _check_reward(self) -> None:
        expected = (self.mdp.n_states, self.mdp.n_actions)
        sizes = self.reward.table_shape
        if sizes is not None and sizes != expected[: len(sizes)]:
            raise InvalidInputError(
                f"the features of the reward are for {' x '.join(map(str, sizes))} states"
                f"{' and actions' if len(sizes) > 1 else ''}, and the environment has "
                f"{expected[0]} states and {expected[1]} actions; give one row per state"
            )
        middle = 0.5 * (self.box.low + self.box.high)
        try:
            self.mdp.expected_rewards(self.reward, np.stack([middle, middle]))
        except IndexError as error:
            raise InvalidInputError(
                f"the reward family does not cover the {expected[0]} states and "
                f"{expected[1]} actions of the environment ({error}); give it a feature for each"
            ) from error

    def _warn_of_impossible_steps(self) -> None:
        demonstrations = self.demonstrations
        states, actions = demonstrations.states, demonstrations.actions
        following = demonstrations.next_states
        known = np.flatnonzero(following != UNKNOWN)
        rows = states[known] * self.mdp.n_actions + actions[known]
        impossible = known[np.asarray(self.mdp.transition[rows, following[known]]) == 0.0]
        if impossible.size:
            step = impossible[0]
            warnings.warn(
                f"{impossible.size} demonstrated steps cannot happen in this environment, first "
                f"in trajectory {demonstrations.trajectory_numbers[step]}, step "
                f"{demonstrations.step_numbers[step]}: action {actions[step]} in state "
                f"{states[step]} led to state {following[step]}; check the numbering of states "
                "and actions",
                BoirlWarning,
                stacklevel=4,
            )
