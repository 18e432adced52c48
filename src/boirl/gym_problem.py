"""Problems in Gymnasium environments, where every policy is learned."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike

from boirl.demonstrations import Demonstrations
from boirl.environments.simulator import Simulator, fit_to
from boirl.errors import InvalidInputError, SolverError
from boirl.likelihood import negative_log_likelihood
from boirl.outcomes import TRIMMED, Outcome, centre, equally_good, mean_return
from boirl.policies.actions import ActionModel
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Run, Solver, Task
from boirl.policy_store import PolicyStore
from boirl.problem import FINGERPRINT_THETAS, Problem, check_ends
from boirl.rewards import RewardFamily, Transitions
from boirl.types import Difference, Evaluation, FloatArray, Report, silent
from boirl.workers import reason_of, run_jobs

if TYPE_CHECKING:
    from boirl.environments.gym_simulator import EnvSource, SetStart

WORSE_THAN_CHANCE = 3.0
"""Standard errors by which a policy must be worse than random actions to count as not learned."""

COMPARED_STEPS, COMPARED_ACTIONS = 400, 16
Seed = int | Sequence[int]

RETURN_STREAM, UNIFORM_STREAM, ESOR_STREAM, DEMONSTRATION_STREAM = 5, 6, 7, 8


@dataclass(frozen=True, eq=False)
class GymProblem(Problem[NetworkPolicy]):
    """A problem in a Gymnasium environment (or a simulator of boirl's).

    The environment's own reward is replaced by `R_theta`. Observations of a `Dict` space are
    flattened, see `boirl.environments.gym_simulator`.

    Args:
        env: The id of an environment, a function that makes one, or one that was made by id.
        reward: The family whose theta is sought.
        demonstrations: What is to be explained: observations `T x k`, actions `T` or `T x m`.
        solver: Learns policies, for instance `boirl.PPO(steps=20_000)`.
        gamma: Discount of returns and of learning.
        horizon: Steps of an episode at most; by default the environment's own limit.
        repeats: Training runs a theta. They share the cores of the machine.
        keep: `"mean"`: the NLL is the mean over the runs, and its standard error goes to the
            surrogate as noise. `"best"`: so it is over the run with the highest return under theta
            and those as good (within 2 % of what it gained over random actions), for environments
            where learning gets stuck; of four such runs or more, the quarters with the highest
            and the lowest NLL are left out.
        anchors: Policies to warm-start from; each adds a run to those of every theta. With
            `keep="best"` they count only where those that start anew get stuck.
        likelihood: How the outputs of a policy are understood, in place of the solver's choice.
        set_start: How to set the environment to a start state, where it does not say so itself.
        workers: Training processes at a time, by default one a core; 0 to learn in this process.
        truth: Theta of the demonstrator where it is known.
        policies: Where learned policies are kept.
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
    policies: PolicyStore = field(default_factory=PolicyStore)

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
        set_field(self, "demonstrations", self.complete(self.demonstrations))
        if self.truth is not None:
            set_field(self, "truth", tuple(self.box.check_one(self.truth).tolist()))

    @cached_property
    def simulator(self) -> Simulator:
        """The environment."""
        return _simulator(self.env, self.set_start, self.horizon)

    @property
    def steps(self) -> int:
        """Steps of an episode at most."""
        return self.horizon or self.simulator.horizon

    @property
    def same_behaviour(self) -> float:
        """Two runs of learning for one reward differ by as much."""
        return 0.25

    @property
    def learns(self) -> bool:
        return True

    def with_demonstrations(self, demonstrations: Demonstrations) -> GymProblem:
        return replace(self, demonstrations=demonstrations)

    def with_policies(self, folder: Path) -> GymProblem:
        return replace(self, policies=PolicyStore(folder))

    def task(self, theta: ArrayLike) -> Task:
        """What a solver is to learn for theta."""
        return Task(self.simulator, self.reward, self.box.check_one(theta), self.gamma, self.steps)

    def policy(self, theta: ArrayLike) -> NetworkPolicy:
        """The policy of theta: the one that is kept or else one that is learned now."""
        chosen = self.box.check_one(theta)
        kept = self.policies.get(self._learning, chosen)
        if kept is not None:
            return kept
        evaluation = self.evaluate(chosen, seed=0)
        learned = self.policies.get(self._learning, chosen)
        if learned is None:
            raise SolverError(str(evaluation.failure))
        return learned

    def evaluate(
        self, theta: ArrayLike, seed: int | None = None, report: Report = silent
    ) -> Evaluation:
        began = time.perf_counter()
        chosen = tuple(self.box.check_one(theta).tolist())
        nll, nll_se, failure = float("nan"), 0.0, None
        try:
            outcomes = self.learn(chosen, seed or 0, report)
        except SolverError as error:
            failure = str(error)
        else:
            chance = float(self.returns(self._uniform_rollouts, chosen).mean())
            kept = outcomes if self.keep == "mean" else equally_good(outcomes, chance)
            best = max(kept, key=mean_return)
            values = np.array([outcome.nll for outcome in kept])
            nll, nll_se = centre(values, TRIMMED if self.keep == "best" else 0.0)
            facts = {
                "nll": [outcome.nll for outcome in outcomes],
                "returns": [outcome.mean_return for outcome in outcomes],
                "return_of_chance": chance,
            }
            self.policies.put(self._learning, chosen, best.policy, facts)
        seconds = time.perf_counter() - began
        return Evaluation(chosen, nll, nll_se, seconds=seconds, seed=seed, failure=failure)

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
        jobs = [partial(self._train, task, group) for group in groups]
        results = run_jobs(jobs, report, self.workers)
        outcomes = [outcome for result in results for outcome in result.value or ()]
        if not outcomes:
            raise SolverError("; ".join(dict.fromkeys(str(result.failure) for result in results)))
        return outcomes

    def _train(self, task: Task, runs: Sequence[Run], report: Report) -> list[Outcome]:
        """Learn, and measure what came out; in a process of its own."""
        outcomes: list[Outcome] = []
        failures: list[str] = []
        for run, policy in self._policies(task, runs, report, failures):
            if self.likelihood is not None:
                policy = policy.with_actions(self.likelihood)
            nll = negative_log_likelihood(policy, self.demonstrations)
            # The same starts and random numbers for all runs, so that they compare well.
            rng = np.random.default_rng([0, RETURN_STREAM])
            returns = self.returns(
                self.simulator.roll_out(
                    policy, self.simulator.rollouts_to_compare, self.steps, rng
                ),
                task.theta,
            )
            failure = self._failure(nll, returns, task)
            if failure is None:
                warm = run.warm_start is not None
                outcomes.append(Outcome(policy, nll, float(returns.mean()), warm))
            else:
                failures.append(failure)
        if not outcomes:
            raise SolverError("; ".join(dict.fromkeys(failures)))
        return outcomes

    def _policies(
        self, task: Task, runs: Sequence[Run], report: Report, failures: list[str]
    ) -> Iterator[tuple[Run, NetworkPolicy]]:
        """The policies of the runs that succeed; where one fails, the others are run alone."""
        try:
            yield from zip(runs, self.solver.solve_all(task, runs, report), strict=True)
        except Exception as error:
            failures.append(reason_of(error))
            if len(runs) > 1:
                for run in runs:
                    yield from self._policies(task, [run], report, failures)

    def _failure(self, nll: float, returns: FloatArray, task: Task) -> str | None:
        if not math.isfinite(nll):
            return f"the NLL of the learned policy is {nll}; expected a finite number"
        chance = self.returns(self._uniform_rollouts, task.theta)
        error = math.hypot(*(part.std() / math.sqrt(len(part)) for part in (returns, chance)))
        if returns.mean() < chance.mean() - WORSE_THAN_CHANCE * error - 1e-9:
            return (
                f"nothing was learned: the mean return {returns.mean():.4g} is below that of "
                f"random actions, {chance.mean():.4g}; train for longer or change the settings of "
                "the solver"
            )
        return None

    @cached_property
    def _uniform_rollouts(self) -> Demonstrations:
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
        """NLL of `n` thetas, NaN where learning failed; each costs a policy, unless it is kept."""
        nll = np.full(len(self.box.check(thetas)), np.nan)
        for row, theta in enumerate(self.box.check(thetas)):
            try:
                nll[row] = self.nll(theta)
            except SolverError:
                continue
        return nll

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
    def steps_a_policy(self) -> int:
        return self.solver.environment_steps

    @property
    def policies_an_evaluation(self) -> int:
        return self.repeats + len(self.anchors)

    def true_return(self, policy: NetworkPolicy) -> float:
        """By roll-outs: the same starts and the same random numbers for every policy."""
        if self.truth is None:
            raise InvalidInputError(
                f"problem {self.name!r} has no known truth, so there is no true reward to sum; "
                "pass truth=... where the demonstrator's theta is known"
            )
        count = self.simulator.rollouts_to_measure
        rng = np.random.default_rng([0, ESOR_STREAM])
        trajectories = self.simulator.roll_out(policy, count, self.steps, rng)
        return float(self.returns(trajectories, self.truth).mean())

    def complete(self, demonstrations: Demonstrations) -> Demonstrations:
        fitting = fit_to(self.simulator, demonstrations)
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

    def behaviour_distances(self, policies: Sequence[NetworkPolicy]) -> FloatArray:
        """Total variation between policies, averaged over demonstrated steps, `n x n`.

        Sampled: `|p - q| / (p + q)` averaged over actions of both policies.
        """
        rng = np.random.default_rng(0)
        states = self._some_states(rng)
        actions = [policy.sample(states, rng) for policy in policies]
        # logs[i, j]: log probability under policy i of the actions of policy j.
        logs = np.array([[one.log_prob(states, drawn) for drawn in actions] for one in policies])
        own = np.diagonal(logs).T
        one_sided = np.abs(np.tanh(0.5 * (logs - own))).mean(axis=2)
        return 0.5 * (one_sided + one_sided.T)

    def most_different(
        self, one: NetworkPolicy, other: NetworkPolicy, count: int
    ) -> list[Difference]:
        rng = np.random.default_rng(0)
        states = self._some_states(rng)
        sampled = np.repeat(states, COMPARED_ACTIONS, axis=0)
        apart = []
        for actor in (one, other):
            actions = actor.sample(sampled, rng)
            ratio = one.log_prob(sampled, actions) - other.log_prob(sampled, actions)
            apart.append(np.abs(np.tanh(0.5 * ratio)).reshape(len(states), -1).mean(axis=1))
        distances = np.mean(apart, axis=0)
        farthest = np.argsort(-distances, kind="stable")[:count]
        acts = one.mode(states[farthest]), other.mode(states[farthest])
        rows = zip(states[farthest], *acts, distances[farthest].tolist(), strict=True)
        return [Difference(*row) for row in rows]

    def _some_states(self, rng: np.random.Generator) -> FloatArray:
        """Observations of demonstrated steps, not too many."""
        states = self.demonstrations.states
        if len(states) > COMPARED_STEPS:
            states = states[rng.choice(len(states), COMPARED_STEPS, replace=False)]
        return states

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
        # What a reward family computes is told by what it gives at some thetas.
        drawn = np.random.default_rng(0).random((FINGERPRINT_THETAS, self.box.dimension))
        seen = self._uniform_rollouts
        some = slice(0, 100)
        transitions = Transitions(seen.states[some], seen.actions[some], seen.next_states[some])
        with torch.no_grad():
            rewards = self.reward(torch.tensor(self.box.from_unit(drawn)), transitions).numpy()
        digest.update((np.round(np.nan_to_num(rewards), 9) + 0.0).tobytes())
        return digest.hexdigest()[:16]


def demonstrate(
    env: EnvSource | Simulator,
    reward: RewardFamily,
    theta: ArrayLike,
    solver: Solver,
    count: int = 50,
    seed: int = 0,
    **options: Any,
) -> Demonstrations:
    """Demonstrations of a policy that is trained for theta, to try things out with.

    Args:
        env: As of `GymProblem`.
        reward: The family.
        theta: What the demonstrator is after.
        solver: Learns the demonstrator's policy.
        count: Trajectories.
        seed: Of the training and the trajectories.
        **options: Further arguments of `GymProblem`, such as `gamma`.
    """
    simulator = _simulator(env, options.get("set_start"), options.get("horizon"))
    # Nothing is demonstrated yet; random behaviour holds the place.
    rng = np.random.default_rng([seed, DEMONSTRATION_STREAM])
    nothing = simulator.roll_out(None, 1, options.get("horizon") or simulator.horizon, rng)
    problem = GymProblem(simulator, reward, nothing, solver, **options)
    policy = problem.best_policy(theta, seed)
    return simulator.roll_out(policy, count, problem.steps, rng)


def _simulator(
    env: EnvSource | Simulator, set_start: SetStart | None, horizon: int | None
) -> Simulator:
    if isinstance(env, Simulator):
        return env
    from boirl.environments.gym_simulator import GymSimulator

    return GymSimulator(env, set_start, horizon or 0)
