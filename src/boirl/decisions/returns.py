"""What policies earn under many rewards at once, and what the best policy for a mixture of them is.

On a table all is exact: how often a policy is in each state, discounted, follows from one linear
system, and what it earns under any reward is a sum over that. Elsewhere there are the policies that
were kept, and what they earn is measured by roll-outs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import splu

from boirl.decisions.ensemble import Ensemble
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError, SolverError
from boirl.policies import TabularPolicy
from boirl.problem import Problem, TabularProblem
from boirl.problem.preferences import discounted_returns
from boirl.problem.simulated import GymProblem
from boirl.problem.walks import horizon_of, walk_from
from boirl.types import FloatArray

RETURN_STREAM = 33
EPISODES = 200
"""Roll-outs that a return is measured by, where it is not exact."""


class Returns(ABC):
    """What policies earn under the rewards of an ensemble."""

    ensemble: Ensemble

    @property
    @abstractmethod
    def best(self) -> FloatArray:
        """The highest return under each reward, `m`."""

    @property
    @abstractmethod
    def first(self) -> list[Any]:
        """Policies to start from: at least one."""

    @abstractmethod
    def of(self, policy: Any) -> FloatArray:
        """What a policy earns under each reward, `m`."""

    @abstractmethod
    def best_response(self, weights: FloatArray) -> Any | None:
        """The policy that earns most under the rewards summed by weights `m`.

        None where policies cannot be solved for.
        """

    @abstractmethod
    def join(self, policies: list[Any], shares: FloatArray) -> Any:
        """One policy that earns what these do, each for its share."""


class TabularReturns(Returns):
    """Exact returns from a distribution of starts."""

    def __init__(self, ensemble: Ensemble, start: FloatArray) -> None:
        self.ensemble = ensemble
        problem = ensemble.problem
        assert isinstance(problem, TabularProblem)
        self.problem = problem
        self.dynamics = problem.dynamics
        copies = self.dynamics.n_states // problem.mdp.n_states
        self.rewards = np.tile(ensemble.rewards, (1, copies, 1))
        later = np.zeros(self.dynamics.n_states - problem.mdp.n_states)
        self.start = np.concatenate([start, later])
        self._solver = replace(problem.solver, bellman="max")

    @cached_property
    def best(self) -> FloatArray:
        if self.problem.solver.bellman == "max":
            # The values that the ensemble was solved for are the optimal ones.
            values = [policy.values for policy in self.ensemble.policies]
        else:
            values = [self._solved(table).values for table in self.ensemble.rewards]
        return np.stack(values) @ self.start

    @property
    def first(self) -> list[Any]:
        return [self.best_response(self.ensemble.weights)]

    def _solved(self, table: FloatArray) -> TabularPolicy:
        return self._solver.solve(self.problem.mdp, table)

    def of(self, policy: Any) -> FloatArray:
        visits = self.visits(policy)
        if self.rewards.shape[2] == 1:
            return self.rewards[..., 0] @ visits
        return np.einsum("msa,sa->m", self.rewards, visits[:, None] * policy.probabilities)

    def visits(self, policy: TabularPolicy) -> FloatArray:
        """How often a policy is in each state, discounted, `S`."""
        chain = self.dynamics.chain(policy.probabilities)
        system = sp.eye_array(self.dynamics.n_states, format="csc") - self.dynamics.gamma * chain.T
        try:
            found: FloatArray = splu(sp.csc_matrix(system)).solve(self.start)
        except RuntimeError:
            raise SolverError(
                "a policy never ends, so that its undiscounted return does not exist; use gamma "
                "below 1, or rewards under which going on costs something"
            ) from None
        return found

    def best_response(self, weights: FloatArray) -> Any | None:
        table = np.tensordot(weights, self.ensemble.rewards, axes=1)
        values = self._solved(table).values
        assert values is not None
        q = self._solver.equation(self.problem.mdp, table[None]).q(values[:, None])[..., 0]
        return deterministic(q, self.dynamics.is_terminal, values)

    def join(self, policies: list[Any], shares: FloatArray) -> TabularPolicy:
        """The policy that is in each state and acts there as often as all together.

        It chooses by chance where they differ; no other memory is needed.
        """
        visits = np.stack([self.visits(policy) for policy in policies])
        weights = shares[:, None] * visits
        flows = np.einsum("ks,ksa->sa", weights, np.stack([one.probabilities for one in policies]))
        total = flows.sum(axis=1, keepdims=True)
        # States that none of them visits are left to the one of the largest share.
        rest = policies[int(shares.argmax())].probabilities
        chances = np.where(total > 0.0, flows / np.maximum(total, 1e-300), rest)
        with np.errstate(divide="ignore"):
            return TabularPolicy(np.log(chances))


def deterministic(
    q: FloatArray, terminal: np.ndarray, values: FloatArray | None = None
) -> TabularPolicy:
    """The policy that takes the best action, by `q` `S x A`, everywhere."""
    logs = np.full(q.shape, -np.inf)
    logs[np.arange(len(q)), q.argmax(axis=1)] = 0.0
    logs[terminal] = -np.inf
    return TabularPolicy(logs, values)


class SampledReturns(Returns):
    """Returns of the policies of an ensemble, measured by roll-outs; nothing is solved for."""

    def __init__(self, ensemble: Ensemble, starts: Any, seed: int) -> None:
        self.ensemble = ensemble
        rows = [self._measured(policy, starts, seed) for policy in ensemble.policies]
        self.table = np.stack(rows)

    def _measured(self, policy: Any, starts: Any, seed: int) -> FloatArray:
        """The mean return of a policy under each reward; the same random numbers for all."""
        problem = self.ensemble.problem
        rng = np.random.default_rng([seed, RETURN_STREAM])
        if starts is None and isinstance(problem, GymProblem):
            count = problem.simulator.rollouts_to_compare
            drawn = problem.simulator.roll_out(policy, count, problem.steps, rng)
        else:
            given = problem.demonstrations.starts if starts is None else np.asarray(starts)
            chosen = given[rng.integers(len(given), size=EPISODES)]
            drawn = walk_from(problem, policy, chosen, horizon_of(problem), rng)
        with torch.no_grad():
            thetas = torch.tensor(self.ensemble.thetas)
            returns = discounted_returns(problem.reward, problem.gamma, thetas, drawn)
        return np.asarray(returns.numpy().mean(axis=1), dtype=np.float64)

    @property
    def best(self) -> FloatArray:
        return self.table.max(axis=0)

    @property
    def first(self) -> list[Any]:
        return list(self.ensemble.policies)

    def of(self, policy: Any) -> FloatArray:
        number = next(n for n, own in enumerate(self.ensemble.policies) if own is policy)
        return self.table[number]

    def best_response(self, weights: FloatArray) -> Any | None:
        return None

    def join(self, policies: list[Any], shares: FloatArray) -> Any:
        if len(policies) == 1:
            return policies[0]
        return DrawnPolicy(tuple(policies), shares)


class DrawnPolicy:
    """Several policies, one of which is drawn for each episode.

    Attributes:
        policies: Those to draw from.
        shares: How often each is drawn.
    """

    def __init__(self, policies: tuple[Any, ...], shares: FloatArray) -> None:
        self.policies, self.shares = policies, shares

    def __repr__(self) -> str:
        return f"DrawnPolicy({len(self.policies)} policies)"

    def draw(self, rng: np.random.Generator) -> Any:
        """The policy of an episode."""
        return self.policies[int(rng.choice(len(self.policies), p=self.shares))]

    def sample(self, states: Any, rng: np.random.Generator) -> Any:
        """No policy chooses from step to step: one is drawn for a whole episode."""
        raise InvalidInputError(
            f"{len(self.policies)} policies are to be drawn from, one for each episode; expected "
            "policy.draw(rng) before an episode, or policy.roll_out(problem, starts, horizon, rng)"
        )

    def roll_out(
        self, problem: Problem[Any], starts: Any, horizon: int, rng: np.random.Generator
    ) -> Demonstrations:
        """A trajectory from each start, each of a policy that is drawn for it."""
        given = np.asarray(starts)
        drawn = rng.choice(len(self.policies), size=len(given), p=self.shares)
        order = np.argsort(drawn, kind="stable")
        parts = [
            problem.roll_out(self.policies[number], given[drawn == number], horizon, rng)
            for number in np.unique(drawn)
        ]
        return Demonstrations.concatenate(parts).subset(np.argsort(order, kind="stable"))
