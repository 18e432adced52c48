"""A problem: an environment, a reward family, demonstrations and a way to solve for a policy."""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike

from boirl.demonstrations import UNKNOWN, Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import BoirlWarning, DemonstrationError, InvalidInputError, SolverError
from boirl.likelihood import Policy, negative_log_likelihood, negative_log_likelihoods
from boirl.policies import TabularPolicy, TabularSolver, expected_return
from boirl.policies.explanation import explain
from boirl.rewards import RewardFamily
from boirl.types import Box, Difference, Evaluation, FloatArray, IntArray, Report, silent

BATCH_ENTRIES = 100_000
"""State-actions solved at once in a batch of thetas: what fits the cache of a core."""

FINGERPRINT_THETAS = 16

P = TypeVar("P", bound=Policy)


class Problem(ABC, Generic[P]):
    """What a search needs to know; `P` is the type of its policies.

    Attributes:
        name: Shown in reports.
        reward: The family whose theta is sought.
        demonstrations: What is to be explained.
        gamma: Discount.
        truth: Theta of the demonstrator where it is known, in the order of the free parameters.
        recipe: Name and options for `load_problem`, where the problem came from there.
    """

    name: str
    reward: RewardFamily
    demonstrations: Demonstrations
    truth: tuple[float, ...] | None
    recipe: Mapping[str, Any] | None

    @property
    @abstractmethod
    def gamma(self) -> float: ...

    @property
    def box(self) -> Box:
        """Names and bounds of the free parameters."""
        return self.reward.box

    @abstractmethod
    def policy(self, theta: ArrayLike) -> P:
        """The policy that is good for theta; raises `SolverError` where there is none."""

    @abstractmethod
    def with_demonstrations(self, demonstrations: Demonstrations) -> Problem[P]:
        """The same problem with other demonstrations to explain."""

    def solve(
        self,
        reward: RewardFamily,
        theta: ArrayLike,
        seed: int = 0,
        warm_start: P | None = None,
        report: Report = silent,
    ) -> P:
        """A policy for any reward in this environment: one policy optimisation.

        Args:
            reward: A family, not necessarily that of the problem.
            theta: Its parameters.
            seed: Seeds a solver that learns.
            warm_start: A policy for a similar reward.
            report: Told how far the solver is, where that takes long.

        Raises:
            SolverError: There is no such policy.
        """
        raise InvalidInputError(
            f"problem {self.name!r} can be solved for rewards of its own family alone"
        )

    def true_return(self, policy: P) -> float:
        """Expected discounted *true* reward of a policy: the ESOR of the paper."""
        raise InvalidInputError(f"the ESOR of problem {self.name!r} cannot be computed")

    @property
    def steps_a_policy(self) -> int:
        """Steps in the environment that a call of `solve` takes; none where dynamics are known."""
        return 0

    @property
    def policies_an_evaluation(self) -> int:
        """Policy optimisations of an evaluation."""
        return 1

    @property
    def same_behaviour(self) -> float:
        """Behavioural distance up to which two rewards count as acting alike."""
        return 0.05

    @property
    def learns(self) -> bool:
        """Whether policies are learned from samples: far dearer than rolling them out."""
        return False

    def with_policies(self, folder: Path) -> Problem[P]:
        """The same problem that keeps the policies it learns; nothing to do where that is quick."""
        return self

    def nll(self, theta: ArrayLike) -> float:
        """The NLL of one theta, by the policy that is known for it where there is one."""
        return negative_log_likelihood(self.policy(theta), self.demonstrations)

    def evaluate(
        self, theta: ArrayLike, seed: int | None = None, report: Report = silent
    ) -> Evaluation:
        """The NLL of the demonstrations under the policy of theta; a failed solver is told.

        Args:
            theta: The reward.
            seed: Seeds a solver that learns.
            report: Told how far the solver is, where that takes long.
        """
        began = time.perf_counter()
        chosen = tuple(self.box.check_one(theta).tolist())
        nll, failure = float("nan"), None
        try:
            nll = negative_log_likelihood(self.policy(chosen), self.demonstrations)
        except SolverError as error:
            failure = str(error)
        seconds = time.perf_counter() - began
        return Evaluation(chosen, nll, seconds=seconds, seed=seed, failure=failure)

    def nll_and_gradient(self, theta: ArrayLike) -> tuple[float, FloatArray]:
        """The NLL of one theta and its derivative by theta, `d`, both exact.

        Raises:
            SolverError: Theta has no policy.
        """
        raise InvalidInputError(
            f"the NLL of problem {self.name!r} has no exact gradient: its policies are learned"
        )

    @abstractmethod
    def nll_batch(self, thetas: ArrayLike) -> FloatArray:
        """NLL of `n` thetas, NaN where the solver failed."""

    @abstractmethod
    def complete(self, demonstrations: Demonstrations) -> Demonstrations:
        """Check that demonstrations fit the environment, and fill in ends that it can tell."""

    @abstractmethod
    def roll_out(
        self, policy: P | None, starts: Any, horizon: int, rng: np.random.Generator
    ) -> Demonstrations:
        """A trajectory from each start, under a policy or (None) uniformly random actions."""

    def esor(self, theta: ArrayLike) -> Any:
        """`true_return` of the policy of theta; an array `n` for rows of thetas."""
        measured = [self.true_return(self.policy(row)) for row in self.box.check(theta)]
        return measured[0] if np.ndim(theta) <= 1 else np.array(measured)

    @abstractmethod
    def behaviour_distances(self, policies: Sequence[P]) -> FloatArray:
        """How differently `n` policies act where the demonstrations went, `n x n`, in [0, 1]."""

    @abstractmethod
    def most_different(self, one: P, other: P, count: int) -> list[Difference]:
        """Where, of all demonstrated steps, two policies differ most; the farthest apart first."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Changes when anything changes that an NLL depends on."""


@dataclass(frozen=True, eq=False)
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

    def true_return(self, policy: TabularPolicy) -> float:
        return float(self._true_returns(policy.log_probabilities[None])[0])

    def _true_returns(self, log_policies: FloatArray) -> FloatArray:
        """Exact, no sampling; from the demonstrations' starts, over `steps` steps."""
        start = np.bincount(self.demonstrations.starts, minlength=self.mdp.n_states)
        return expected_return(
            self.mdp, log_policies, self.true_rewards(), start / start.sum(), self.steps
        )

    def nll_and_gradient(self, theta: ArrayLike) -> tuple[float, FloatArray]:
        chosen = torch.tensor(self.box.check_one(theta), requires_grad=True)
        rewards = self._rewards(chosen.detach().numpy())[0]
        explained = explain(self.mdp, self.solver, rewards, self.demonstrations)
        depends_on = self.reward.depends_on
        paid = self.reward(chosen[None], self.mdp.paid_transitions(depends_on))[0]
        slopes = self.mdp.slopes_by_transition(explained.slopes, depends_on)
        (gradient,) = torch.autograd.grad(paid @ torch.as_tensor(slopes), chosen)
        return explained.nll, gradient.numpy()

    def nll_batch(self, thetas: ArrayLike) -> FloatArray:
        checked = self.box.check(thetas)
        batches = list(self._batches(len(checked)))
        with ThreadPoolExecutor(os.cpu_count()) as cores:
            parts = cores.map(lambda rows: self._nll_of(checked[rows]), batches)
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
            told = self.mdp.next_states[demonstrations.states, demonstrations.actions]
            following = np.where(unknown, told, demonstrations.next_states)
            return replace(demonstrations, next_states=following)
        check_ends(demonstrations, self.reward)
        return demonstrations

    def true_rewards(self) -> FloatArray:
        """Expected true reward of every state-action, `S x A`, or `S x 1` on states alone."""
        if self.truth is None:
            raise InvalidInputError(
                f"problem {self.name!r} has no known truth, so there is no true reward to sum; "
                "pass truth=... where the demonstrator's theta is known"
            )
        return self._rewards(self.truth)[0]

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

    def most_different(
        self, one: TabularPolicy, other: TabularPolicy, count: int
    ) -> list[Difference]:
        states = np.unique(self.demonstrations.states)
        return largest_differences(
            states, one.probabilities[states], other.probabilities[states], count
        )

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        solver = (self.solver.bellman, self.solver.inverse_temperature, self.solver.tolerance)
        digest.update(repr((self.reward.parameters, solver, self.mdp.gamma)).encode())
        matrix = self.mdp.transition
        for array in (matrix.indptr, matrix.indices, *self.demonstrations.to_dict().values()):
            digest.update(np.asarray(array, dtype=np.int64).tobytes())
        digest.update(matrix.data.tobytes())
        # What a reward family computes is told by what it gives at some thetas.
        drawn = np.random.default_rng(0).random((FINGERPRINT_THETAS, self.box.dimension))
        rewards = self.mdp.expected_rewards(self.reward, self.box.from_unit(drawn))
        digest.update((np.round(rewards, 9) + 0.0).tobytes())
        return digest.hexdigest()[:16]

    def _batches(self, count: int) -> Iterator[IntArray]:
        size = max(1, BATCH_ENTRIES // (self.mdp.n_states * self.mdp.n_actions))
        return (np.arange(first, min(first + size, count)) for first in range(0, count, size))

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
        middle = 0.5 * (self.box.low + self.box.high)
        try:
            self.mdp.expected_rewards(self.reward, middle[None])
        except IndexError as error:
            raise InvalidInputError(
                f"the reward family does not cover the {self.mdp.n_states} states and "
                f"{self.mdp.n_actions} actions of the environment ({error}); give it a feature "
                "for each"
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


def check_ends(demonstrations: Demonstrations, reward: RewardFamily) -> None:
    """Refuse trajectories whose end is unknown where the reward depends on it."""
    unknown = demonstrations.unknown_ends
    if unknown.any() and reward.depends_on == "transition":
        raise DemonstrationError(
            f"trajectory {demonstrations.trajectory_numbers[unknown.argmax()]} does not say "
            "where its last action led, and the reward depends on it; give one state more "
            "than actions"
        )


def mean_total_variation(probabilities: FloatArray, visits: IntArray) -> FloatArray:
    """Total variation between policies, averaged over states by their visits.

    Args:
        probabilities: Of each action in each of `S` states under each policy, `n x S x A`.
        visits: `S`.

    Returns:
        `n x n`.
    """
    weights = 0.5 * visits / visits.sum()
    return np.stack([np.abs(probabilities - one).sum(axis=2) @ weights for one in probabilities])


def largest_differences(
    states: IntArray, one: FloatArray, other: FloatArray, count: int
) -> list[Difference]:
    """Where two policies differ most, given their probabilities in `S` states, `S x A` each."""
    distances = 0.5 * np.abs(one - other).sum(axis=1)
    farthest = np.argsort(-distances, kind="stable")[:count]
    columns = states, one.argmax(axis=1), other.argmax(axis=1), distances
    rows = zip(*(column[farthest].tolist() for column in columns), strict=True)
    return [Difference(*row) for row in rows]
