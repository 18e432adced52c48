"""Problems in Gymnasium environments, where every policy is learned."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from boirl.demonstrations import Demonstrations
from boirl.environments.simulator import Simulator, fit_to
from boirl.errors import InvalidInputError, ProcessDiedError, SolverError
from boirl.evaluation import Evaluation, PolicyArrays
from boirl.policies.actions import ActionModel
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Run, Solver, Task
from boirl.problem.base import DEMONSTRATION_STREAM, Problem
from boirl.problem.behaviour import sampled_differences, sampled_total_variation
from boirl.problem.endings import check_ends
from boirl.problem.given_later import GivenLater
from boirl.problem.outcomes import (
    TRIMMED,
    Outcome,
    centre,
    equally_good,
    mean_return,
    without_extremes,
)
from boirl.problem.training import train
from boirl.problem.workers import run_jobs
from boirl.rewards import RewardFamily, Transitions
from boirl.types import Difference, FloatArray, Report, silent

if TYPE_CHECKING:
    from boirl.environments.gym_simulator import EnvSource, SetStart

COMPARED_STEPS = 400
PROBED_TRANSITIONS = 100
Seed = int | Sequence[int]

UNIFORM_STREAM, ESOR_STREAM = 6, 7


@dataclass(frozen=True, eq=False, repr=False)
class GymProblem(Problem[NetworkPolicy]):
    """A problem in a Gymnasium environment (or a simulator of boirl's).

    The environment's own reward is replaced by `R_theta`. Observations of a `Dict` space are
    flattened, see `boirl.environments.gym_simulator`.

    Args:
        env: The id of an environment, a function that makes one, or one that was made by id.
        reward: The family whose theta is sought.
        demonstrations: What is to be explained: observations `T x k`, actions `T` or `T x m`; None
            until there are some, see `demonstrate`.
        solver: Learns policies, for instance `boirl.PPO(steps=20_000)`.
        gamma: Discount of returns and of learning.
        horizon: Steps of an episode at most; by default the environment's own limit.
        repeats: Training runs per theta. They share the cores of the machine.
        keep: `"mean"`: the NLL is the mean over the runs, and its standard error goes to the
            surrogate as noise. `"best"`: so it is over the run with the highest return under theta
            and those as good (within 2 % of what it gained over random actions), for environments
            where learning gets stuck; of four such runs or more, the quarters with the highest
            and the lowest NLL are left out.
        anchors: Policies to warm-start from; each adds a run to those of every theta. With
            `keep="best"` they count only where those from scratch get stuck.
        likelihood: How the outputs of a policy are understood, in place of the solver's choice.
        set_start: How to set the environment to a start state, where it does not say so itself.
        workers: Training processes at a time, by default one per core; 0 to learn in this process.
        truth: Theta of the demonstrator where it is known.
    """

    env: EnvSource | Simulator
    reward: RewardFamily
    demonstrations: Demonstrations
    solver: Solver
    gamma: float = 0.99
    horizon: int | None = None
    repeats: int = 1
    keep: Literal["mean", "best"] = "mean"
    anchors: tuple[NetworkPolicy, ...] = ()
    likelihood: ActionModel | None = None
    set_start: SetStart | None = None
    workers: int | None = None
    truth: tuple[float, ...] | None = None
    name: str = "unnamed"
    recipe: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        if not 0.0 < self.gamma <= 1.0:
            raise InvalidInputError(f"gamma is {self.gamma}; expected a number in (0, 1]")
        if self.horizon is not None and self.horizon < 1:
            raise InvalidInputError(f"the horizon is {self.horizon}; expected at least one step")
        if self.repeats < 1:
            raise InvalidInputError(f"repeats is {self.repeats}; expected at least one run")
        if self.keep not in ("mean", "best"):
            raise InvalidInputError(f"keep is {self.keep!r}; expected 'mean' or 'best'")
        set_field(self, "anchors", tuple(self.anchors))
        if self.has_demonstrations:
            set_field(self, "demonstrations", self.complete(self.demonstrations))
        if self.truth is not None:
            set_field(self, "truth", tuple(self.box.check_one(self.truth).tolist()))

    @cached_property
    def simulator(self) -> Simulator:
        """The environment."""
        return as_simulator(self.env, self.set_start, self.horizon)

    @property
    def steps(self) -> int:
        """Steps of an episode at most."""
        return self.horizon or self.simulator.horizon

    @property
    def same_behaviour(self) -> float:
        """Two runs of learning for one reward differ by as much."""
        return 0.25

    @property
    def is_model_free(self) -> bool:
        return True

    def _no_gradient(self) -> str:
        return "its policies are learned"

    def with_demonstrations(self, demonstrations: Demonstrations) -> GymProblem:
        return replace(self, demonstrations=demonstrations)

    def with_gamma(self, gamma: float) -> GymProblem:
        shown = GivenLater.stored(self)
        return replace(self, gamma=gamma, demonstrations=cast(Demonstrations, shown), recipe=None)

    def task(self, theta: ArrayLike) -> Task:
        """What a solver is to learn for theta."""
        return Task(self.simulator, self.reward, self.box.check_one(theta), self.gamma, self.steps)

    def policy(self, theta: ArrayLike) -> NetworkPolicy:
        """Learn the policy of theta, with seed 0. What a search has learned is in its result."""
        evaluation = self.evaluate(theta, seed=0)
        evaluation.raise_if_failed()
        return self.policy_of(evaluation)

    def _evaluate(self, theta: FloatArray, seed: int | None, report: Report) -> Evaluation:
        outcomes = self.learn(theta, seed or 0, report)
        chance = float(self.returns(self.uniform_rollouts, theta).mean())
        trimmed = TRIMMED if self.keep == "best" else 0.0
        kept = outcomes if self.keep == "mean" else equally_good(outcomes, chance)
        nll, nll_se = centre(np.array([outcome.nll for outcome in kept]), trimmed)
        counted = without_extremes(kept, trimmed)
        return Evaluation(
            tuple(theta.tolist()),
            nll,
            nll_se,
            log_likelihoods=np.mean([one.log_likelihoods for one in counted], axis=0),
            policies=tuple(self.compact_policy(one.policy) for one in counted),
            n_policies=self.policies_per_evaluation,
            environment_steps=self.policies_per_evaluation * self.env_steps_per_policy,
            facts={
                "nll": [outcome.nll for outcome in outcomes],
                "returns": [outcome.mean_return for outcome in outcomes],
                "return_of_chance": chance,
            },
        )

    def compact_policy(self, policy: NetworkPolicy) -> PolicyArrays:
        return policy.to_dict()

    def _restore_policy(self, arrays: PolicyArrays, evaluation: Evaluation) -> NetworkPolicy:
        return NetworkPolicy.from_dict(dict(arrays))

    def best_policy(self, theta: ArrayLike, seed: Seed, report: Report = silent) -> NetworkPolicy:
        """The policy of highest return among the training runs of theta; it is not kept."""
        return max(self.learn(theta, seed, report), key=mean_return).policy

    def learn(self, theta: ArrayLike, seed: Seed, report: Report = silent) -> list[Outcome]:
        """The outcomes of all training runs of theta that succeeded, at least one.

        Raises:
            SolverError: None did.
        """
        task = self.task(theta)
        seeds = np.random.SeedSequence(seed).generate_state(self.repeats + len(self.anchors))
        starts = [None] * self.repeats + list(self.anchors)
        runs = [Run(int(own), start) for own, start in zip(seeds, starts, strict=True)]
        at_once = (os.cpu_count() or 1) if self.workers is None else max(1, self.workers)
        groups = [runs[first::at_once] for first in range(min(at_once, len(runs)))]
        jobs = [partial(train, self, task, group) for group in groups]
        results = run_jobs(jobs, report, self.workers)
        outcomes = [outcome for result in results for outcome in result.value or ()]
        if not outcomes:
            reasons = "; ".join(dict.fromkeys(str(result.failure) for result in results))
            raise (ProcessDiedError if any(one.died for one in results) else SolverError)(reasons)
        return outcomes

    @cached_property
    def uniform_rollouts(self) -> Demonstrations:
        """What uniformly random actions do, to compare policies with."""
        rng = np.random.default_rng([0, UNIFORM_STREAM])
        count = self.simulator.rollouts_to_compare
        return self.simulator.roll_out(None, count, self.steps, rng)

    def returns(self, trajectories: Demonstrations, theta: ArrayLike) -> FloatArray:
        """Discounted return of each trajectory under theta, `N`."""
        rewards = self.task(theta).rewards(
            trajectories.states, trajectories.actions, trajectories.next_states
        )
        discounted = self.gamma**trajectories.step_numbers * rewards
        totals = np.bincount(trajectories.trajectory_numbers, discounted).astype(np.float64)
        return totals

    def nll_batch(self, thetas: ArrayLike) -> FloatArray:
        """NLL of `n` thetas, NaN where learning failed; each is learned with seed 0."""
        return np.array([self.evaluate(theta, seed=0).nll for theta in self.box.check(thetas)])

    def nll(self, theta: ArrayLike) -> float:
        evaluation = self.evaluate(theta, seed=0)
        evaluation.raise_if_failed()
        return evaluation.nll

    def solve(
        self,
        reward: RewardFamily,
        theta: ArrayLike,
        seed: int = 0,
        warm_start: NetworkPolicy | None = None,
        report: Report = silent,
    ) -> NetworkPolicy:
        """The policy of a single training run, in this process."""
        chosen = reward.box.check_one(theta)
        task = Task(self.simulator, reward, chosen, self.gamma, self.steps)
        policy = self.solver.solve(task, Run(seed, warm_start), report)
        return policy if self.likelihood is None else policy.with_actions(self.likelihood)

    @property
    def env_steps_per_policy(self) -> int:
        return self.solver.environment_steps

    @property
    def policies_per_evaluation(self) -> int:
        return self.repeats + len(self.anchors)

    def true_return(self, policy: NetworkPolicy) -> float:
        """By roll-outs: the same starts and the same random numbers for every policy."""
        truth = self._require_truth()
        count = self.simulator.rollouts_to_measure
        rng = np.random.default_rng([0, ESOR_STREAM])
        trajectories = self.simulator.roll_out(policy, count, self.steps, rng)
        return float(self.returns(trajectories, truth).mean())

    def complete(self, demonstrations: Demonstrations) -> Demonstrations:
        fitting = fit_to(self.simulator, demonstrations.numbered())
        check_ends(fitting, self.reward)
        return fitting

    def roll_out(
        self,
        policy: NetworkPolicy | None,
        starts: FloatArray,
        horizon: int,
        rng: np.random.Generator,
    ) -> Demonstrations:
        return self.simulator.roll_out(policy, starts, horizon, rng)

    def demonstrate(
        self, theta: ArrayLike, count: int, seed: int, horizon: int | None = None
    ) -> Demonstrations:
        """Trajectories of the best of the policies that are trained for theta."""
        if count < 1:
            raise InvalidInputError(f"count is {count}; expected at least one trajectory")
        rng = np.random.default_rng([seed, DEMONSTRATION_STREAM])
        # Training scores policies by demonstrations; random behaviour holds the place.
        nothing = self.simulator.roll_out(None, 1, self.steps, rng)
        policy = self.with_demonstrations(nothing).best_policy(theta, seed)
        return self.simulator.roll_out(policy, count, horizon or self.steps, rng)

    def behaviour_distances(self, policies: Sequence[NetworkPolicy]) -> FloatArray:
        """Total variation between policies, averaged over demonstrated steps; sampled, `n x n`."""
        rng = np.random.default_rng(0)
        return sampled_total_variation(policies, self._some_states(rng), rng)

    def most_different(self, one: NetworkPolicy, other: NetworkPolicy, n: int) -> list[Difference]:
        rng = np.random.default_rng(0)
        return sampled_differences(one, other, self._some_states(rng), n, rng)

    def _some_states(self, rng: np.random.Generator) -> FloatArray:
        """Observations of demonstrated steps, not too many."""
        states = self.demonstrations.states
        if len(states) > COMPARED_STEPS:
            states = states[rng.choice(len(states), COMPARED_STEPS, replace=False)]
        return states

    def _sizes(self) -> list[str]:
        return [f"environment {self.simulator.name!r}"]

    def fingerprint(self) -> str:
        digest = hashlib.sha256(self._learning.encode())
        for array in self.demonstrations.to_dict().values():
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    @cached_property
    def _learning(self) -> str:
        """Changes when anything changes that a policy depends on."""
        likelihood = None if self.likelihood is None else self.likelihood.describe()
        facts = (self.simulator.identity, self.steps, self.gamma, self.reward.parameters)
        digest = hashlib.sha256(
            repr((*facts, self.solver, self.repeats, self.keep, likelihood)).encode()
        )
        for anchor in self.anchors:
            for array in (*anchor.weights, *anchor.biases):
                digest.update(np.ascontiguousarray(array).tobytes())
        seen = self.uniform_rollouts
        some = slice(0, PROBED_TRANSITIONS)
        rewards = self.probe_reward(
            Transitions(seen.states[some], seen.actions[some], seen.next_states[some])
        )
        digest.update((np.round(np.nan_to_num(rewards), 9) + 0.0).tobytes())
        return digest.hexdigest()[:16]


def as_simulator(
    env: EnvSource | Simulator, set_start: SetStart | None, horizon: int | None
) -> Simulator:
    """The simulator itself, or one around a Gymnasium environment."""
    if isinstance(env, Simulator):
        return env
    from boirl.environments.gym_simulator import GymSimulator

    return GymSimulator(env, set_start, horizon or 0)


GymProblem.demonstrations = GivenLater()  # type: ignore[assignment]
