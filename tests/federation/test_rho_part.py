"""Rows of the projection depend on their own demonstration alone, to the last bit."""

import numpy as np
import pytest
import torch

from boirl.demonstrations import Demonstrations
from boirl.errors import DemonstrationError
from boirl.federation.rho_part import RhoPart
from boirl.projections import LogRho, sample_rollouts
from boirl.rewards import CallableReward, LinearReward
from boirl.surrogate.latent import jacobians

THETAS = np.array([[0.3, -1.2], [-2.0, 2.0], [1.5, 0.7]])
BOUNDS = {"first": (-2.0, 2.0), "second": (-2.0, 2.0)}


def families():
    rng = np.random.default_rng(5101)
    return {
        "state": None,
        "state_action": LinearReward(rng.normal(size=(4, 3, 2)), BOUNDS),
        "transition": LinearReward(rng.normal(size=(4, 2)), BOUNDS, of_next=True),
    }


@pytest.mark.parametrize("depends_on", list(families()))
def test_it_is_log_rho_with_derivatives(depends_on, random_problem):
    problem = random_problem(5102, reward=families()[depends_on])
    assert problem.reward.depends_on == depends_on
    shown = problem.demonstrations
    rollouts = sample_rollouts(problem, shown, 4, np.random.default_rng(5103))
    pooled = LogRho(problem, shown, rollouts)
    sets = [Demonstrations.concatenate([shown.subset([k]), one]) for k, one in enumerate(rollouts)]
    values, slopes = RhoPart(problem, problem.reward, sets)(THETAS, slopes=True)
    at = torch.tensor(THETAS)
    assert values == pytest.approx(pooled.project(at).numpy(), abs=1e-11)
    assert slopes == pytest.approx(jacobians(pooled.project, at).numpy(), abs=1e-11)
    for rows in ([0], [3, 1]):
        own, own_slopes = RhoPart(problem, problem.reward, [sets[row] for row in rows])(
            THETAS, slopes=True
        )
        assert (own == values[:, rows]).all()
        assert (own_slopes == slopes[:, rows]).all()


def test_rewards_without_a_gradient_have_no_slopes(random_problem):
    def steps(theta, transitions):
        floors = np.floor(theta.detach().numpy()[:, :1] * transitions.states)
        return torch.tensor(floors)

    problem = random_problem(5104, reward=CallableReward(steps, BOUNDS))
    values, slopes = RhoPart(problem, problem.reward, [problem.demonstrations])(THETAS, True)
    assert values.shape == (3, 1)
    assert slopes is None


def test_impossible_steps_are_refused(random_problem):
    reward = LinearReward(np.eye(4, 2), BOUNDS, of_next=True)
    problem = random_problem(5105, reward=reward, deterministic=True)
    table = problem.mdp.next_states
    torn = Demonstrations.from_trajectories([([0], [0], [(table[0, 0] + 1) % 4])])
    with pytest.raises(DemonstrationError, match="impossible"):
        RhoPart(problem, reward, [torn])
