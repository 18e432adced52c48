"""What every solver that learns must do.

    class TestMySolver(SolverContract):
        solver = MySolver(steps=60)

        @pytest.fixture
        def task(self):
            return Task(simulator, reward, theta, gamma, horizon)

Small budgets will do: nothing here asks how good a policy is.
"""

import random
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
import torch

from boirl.errors import SolverError
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Run, Solver
from boirl.rewards import CallableReward


def numbers_of(policy):
    return [*policy.weights, *policy.biases, *([] if policy.log_sd is None else [policy.log_sd])]


def same(first, second):
    pairs = zip(numbers_of(first), numbers_of(second), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)


def apart(first, second):
    pairs = zip(first.weights, second.weights, strict=True)
    return max(np.abs(one - other).max() for one, other in pairs)


def never_finite(theta, steps):
    return theta[:, :1] + torch.full((len(theta), len(steps)), torch.nan, dtype=torch.float64)


class SolverContract:
    """Tests of a solver; a subclass has the attribute `solver` and a fixture `task`."""

    solver: Solver

    side_by_side = 0.0
    """How far weights of a run may differ when it is trained beside others."""

    @pytest.fixture
    def task(self):
        raise NotImplementedError("a subclass gives the task")

    @pytest.fixture
    def observations(self, task):
        """What policies are asked about, `n x k`."""
        return task.simulator.roll_out(None, 4, 5, np.random.default_rng(1000)).states

    @pytest.fixture
    def bounds(self, task):
        """Lowest and highest actions, `m` each; None where actions are numbered."""
        if task.simulator.n_actions is not None:
            return None
        return task.simulator.action_low, task.simulator.action_high

    def test_its_repr_identifies_its_settings(self):
        assert isinstance(self.solver, Solver)
        assert self.solver == replace(self.solver)  # type: ignore[type-var]
        assert repr(self.solver) == repr(replace(self.solver))  # type: ignore[type-var]
        name = fields(self.solver)[0].name
        with pytest.raises(FrozenInstanceError):
            setattr(self.solver, name, None)
        assert self.solver.environment_steps >= 0

    def test_a_policy_acts_and_explains(self, task, observations, bounds):
        policy = self.solver.solve(task, Run(1000))
        assert isinstance(policy, NetworkPolicy)
        drawn = policy.sample(observations, np.random.default_rng(1000))
        for actions in (drawn, policy.mode(observations)):
            log_prob = policy.log_prob(observations, actions)
            assert log_prob.shape == (len(observations),)
            assert np.isfinite(log_prob).all()
            if bounds is None:
                assert np.issubdtype(np.asarray(actions).dtype, np.integer)
                assert (np.min(actions) >= 0) & (np.max(actions) < task.simulator.n_actions)
            else:
                assert (actions >= bounds[0] - 1e-6).all()
                assert (actions <= bounds[1] + 1e-6).all()

    def test_a_policy_survives_a_file(self, task, observations):
        policy = self.solver.solve(task, Run(1000))
        again = NetworkPolicy.from_dict(policy.to_dict())
        np.testing.assert_array_equal(again.outputs(observations), policy.outputs(observations))
        assert again.actions == policy.actions

    def test_the_seed_decides_whatever_was_drawn_before(self, task):
        first = self.solver.solve(task, Run(1000))
        torch.rand(3)
        assert same(first, self.solver.solve(task, Run(1000)))
        assert not same(first, self.solver.solve(task, Run(1001)))

    def test_global_random_numbers_and_threads_are_left_alone(self, task):
        torch_state, threads = torch.get_rng_state(), torch.get_num_threads()
        numpy_state = np.random.get_state()[1].copy()  # noqa: NPY002
        python_state = random.getstate()
        self.solver.solve(task, Run(1000))
        assert torch.equal(torch.get_rng_state(), torch_state)
        np.testing.assert_array_equal(np.random.get_state()[1], numpy_state)  # noqa: NPY002
        assert random.getstate() == python_state
        assert torch.get_num_threads() == threads

    def test_runs_together_are_what_they_are_alone(self, task):
        runs = [Run(1000), Run(1001)]
        together = self.solver.solve_all(task, runs)
        for run, policy in zip(runs, together, strict=True):
            alone = self.solver.solve(task, run)
            for one, other in zip(numbers_of(policy), numbers_of(alone), strict=True):
                np.testing.assert_allclose(one, other, rtol=0.0, atol=self.side_by_side)
        assert apart(*together) > 1e-3
        assert self.solver.solve_all(task, []) == []

    def test_a_warm_start_matters(self, task):
        start = self.solver.solve(task, Run(1000))
        cold, warm = (self.solver.solve(task, Run(1001, given)) for given in (None, start))
        assert not same(cold, warm)
        assert apart(warm, start) < apart(cold, start)

    def test_progress_reaches_the_end(self, task):
        shares = []
        self.solver.solve_all(task, [Run(1000), Run(1001)], lambda share, _: shares.append(share))
        assert shares == sorted(shares)
        assert shares[-1] == pytest.approx(1.0)

    def test_rewards_that_are_not_finite_are_a_solver_error(self, task):
        reward = CallableReward(never_finite, {"w": (0.0, 1.0)}, "transition")
        broken = replace(task, reward=reward, theta=np.array([0.5]))
        with pytest.raises(SolverError) as caught:
            self.solver.solve(broken, Run(1000))
        assert "\n" not in str(caught.value)
