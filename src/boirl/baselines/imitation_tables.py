"""Imitation where states are numbered: logits of actions, and odds of state-actions, as tables.

With known dynamics the advantages `A` of the odds are exact, and one step of the natural policy
gradient adds them to the logits: `pi(a|s)` is multiplied with `exp(rate A(s, a))`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import spsolve
from scipy.special import log_softmax

from boirl.baselines.adversarial import Sample, roll_out_like_demonstrations
from boirl.baselines.airl import Steps
from boirl.baselines.imitation import Imitator
from boirl.baselines.plain import pack_optimiser, unpack_optimiser
from boirl.policies.tabular import TabularPolicy
from boirl.problem import TabularProblem
from boirl.types import FloatArray


class TableImitator(Imitator):
    """See `GAIL` for the settings. Policy and odds begin uniform, whatever the seed."""

    def __init__(
        self,
        problem: TabularProblem,
        steps: int,
        policy_rate: float = 0.1,
        odds_rate: float = 0.05,
        penalty: float = 1e-3,
    ) -> None:
        mdp = problem.mdp
        self.problem, self.steps = problem, steps
        self.policy_rate, self.penalty = policy_rate, penalty
        self.logits = np.zeros((mdp.n_states, mdp.n_actions))
        self.odds = torch.zeros((mdp.n_states, mdp.n_actions), dtype=torch.float64)
        self.odds.requires_grad_()
        self.optimiser = torch.optim.Adam([self.odds], lr=odds_rate)

    def policy(self) -> TabularPolicy:
        log_probabilities = log_softmax(self.logits, axis=1)
        log_probabilities[self.problem.mdp.terminal] = -np.inf
        return TabularPolicy(log_probabilities)

    def improve(self, rng: np.random.Generator) -> tuple[int, dict[str, float]]:
        problem, policy = self.problem, self.policy()
        rolled_out = roll_out_like_demonstrations(problem, policy, rng)
        sample = Sample(policy, rolled_out)
        steps = Steps(problem.demonstrations, [sample], problem.gamma)
        states, actions = steps.transitions.states, steps.transitions.actions
        for _ in range(self.steps):
            odds = self.odds[torch.as_tensor(states), torch.as_tensor(actions)]
            loss = steps.loss(odds) + self.penalty * self.odds.square().sum()
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
        facts = {"loss": float(loss.detach()), "accuracy": steps.accuracy(odds.detach())}
        self.logits = self.logits + self.policy_rate * self._advantages(policy)
        return len(rolled_out.states), facts

    def _advantages(self, policy: TabularPolicy) -> FloatArray:
        """Of the odds as a reward, under a policy, `S x A`; exact."""
        mdp = self.problem.mdp
        chances, rewards = policy.probabilities, self.odds.detach().numpy().copy()
        rewards[mdp.terminal] = 0.0
        system = sp.eye_array(mdp.n_states) - mdp.gamma * mdp.chain(chances)
        values = spsolve(sp.csc_array(system), (chances * rewards).sum(axis=1))
        ahead = mdp.expect_next(values[:, None])[..., 0]
        advantages = rewards + mdp.gamma * ahead - values[:, None]
        advantages[mdp.terminal] = 0.0
        return np.asarray(advantages)

    def pack(self) -> dict[str, Any]:
        return {"logits": self.logits, "odds": pack_optimiser(self.optimiser)}

    def unpack(self, packed: dict[str, Any]) -> None:
        if packed["logits"].shape != self.logits.shape:
            raise ValueError(f"the logits have shape {packed['logits'].shape}")
        self.logits = packed["logits"].copy()
        unpack_optimiser(self.optimiser, packed["odds"])
