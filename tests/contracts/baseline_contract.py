"""What every baseline must do. The tests of a new baseline inherit `BaselineContract`."""

import numpy as np
import pytest

import boirl
from boirl.baselines import BASELINES, Baseline, BaselineRun
from boirl.baselines.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from boirl.problem.likelihood import negative_log_likelihood
from boirl.types import silent


def assert_same_run(one, other):
    """All evaluations are equal, but for the time that they took."""
    np.testing.assert_array_equal(one.nll, other.nll)
    np.testing.assert_array_equal(one.thetas, other.thetas)
    assert one.failures == other.failures
    for first, second in zip(one.evaluations, other.evaluations, strict=True):
        assert first.facts == second.facts
        assert first.seed == second.seed
        assert first.n_policies == second.n_policies
        assert first.environment_steps == second.environment_steps
        assert (first.reward is None) == (second.reward is None)
        assert_same_policies(first, second)


def assert_same_policies(one, other):
    assert len(one.policies) == len(other.policies)
    for first, second in zip(one.policies, other.policies, strict=True):
        assert sorted(first) == sorted(second)
        for name in first:
            np.testing.assert_array_equal(first[name], second[name])


class BaselineContract:
    """Tests that a baseline passes on a problem that it applies to.

    A subclass has a fixture `baseline`; it may have a fixture `problem` in place of Gridworld.
    """

    @pytest.fixture
    def baseline(self) -> Baseline:
        raise NotImplementedError("return the baseline under test")

    @pytest.fixture
    def problem(self, gridworld):
        return gridworld

    def test_it_is_registered_under_its_name(self, baseline):
        assert BASELINES[baseline.name] is type(baseline)
        assert baseline.summary
        assert "\n" not in baseline.summary
        assert baseline.default_evaluations >= 1
        assert type(baseline)() == type(baseline)()
        assert repr(baseline).startswith(type(baseline).__name__)

    def test_every_evaluation_says_reward_nll_and_cost(self, baseline, problem):
        seen = []
        run = baseline.run(problem, 6, seed=1, callback=lambda *one: seen.append(one))
        assert isinstance(run, BaselineRun)
        assert run.method == baseline.name
        assert [number for _, number in seen] == list(range(6))
        for kept, (reported, _) in zip(run.evaluations, seen, strict=True):
            assert (kept.theta, kept.nll) == (reported.theta, reported.nll)
            family = problem.reward if kept.reward is None else kept.reward
            family.box.check(kept.theta)
            if reported.policies:
                policy = problem.policy_of(reported)
            else:
                policy = problem.solve(family, kept.theta)
            nll = negative_log_likelihood(policy, problem.demonstrations)
            assert kept.nll == pytest.approx(nll, abs=1e-9)
            if kept.log_likelihoods is not None:
                assert kept.log_likelihoods.shape == (len(problem.demonstrations),)
                assert -kept.log_likelihoods.mean() == pytest.approx(kept.nll, abs=1e-9)
            assert kept.seconds > 0.0
            assert kept.n_policies >= 0
            assert kept.environment_steps >= 0
        assert run.evaluations[0].n_policies >= 1
        assert run.best_nll == np.nanmin(run.nll)

    def test_policies_are_kept_where_the_nll_improved(self, baseline, problem):
        seen = []
        run = baseline.run(problem, 6, seed=1, callback=lambda one, number: seen.append(one))
        lowest = np.minimum.accumulate(np.concatenate([[np.inf], run.nll]))[:-1]
        for kept, reported, before in zip(run.evaluations, seen, lowest, strict=True):
            expected = len(reported.policies) if kept.nll < before else 0
            assert len(kept.policies) == expected
        policy = run.policy(run.best_index)
        nll = negative_log_likelihood(policy, problem.demonstrations)
        assert nll == pytest.approx(run.best_nll, abs=1e-9)

    def test_the_seed_decides_everything(self, baseline, problem):
        first = baseline.run(problem, 4, seed=3)
        assert_same_run(first, baseline.run(problem, 4, seed=3))
        assert not np.array_equal(first.nll, baseline.run(problem, 4, seed=4).nll)

    def test_a_resumed_run_equals_an_uninterrupted_one(self, baseline, problem, tmp_path):
        whole = baseline.run(problem, 7, seed=2)
        part = baseline.run(problem, 3, seed=2, checkpoint=tmp_path / "kept.run")
        numbers = []
        resumed = baseline.run(
            problem,
            7,
            seed=2,
            callback=lambda one, number: numbers.append(number),
            checkpoint=tmp_path / "kept.run",
        )
        assert_same_run(resumed, whole)
        assert_same_run(part, whole.truncate(3))
        assert numbers == list(range(7))
        assert list(resumed.returned) == list(whole.returned)
        for name, thetas in whole.returned.items():
            np.testing.assert_array_equal(resumed.returned[name], thetas)
        shorter = baseline.run(problem, 3, seed=2, checkpoint=tmp_path / "kept.run")
        assert_same_run(shorter, part)

    def test_states_can_be_kept_at_any_time(self, baseline, problem, tmp_path):
        path = tmp_path / "kept.run"
        whole = baseline.run(problem, 3, seed=2)
        state = baseline.begin(problem, 2)
        for expected in whole.nll:
            save_checkpoint(path, "a run", Checkpoint(baseline.pack(state), []))
            state, _ = load_checkpoint(path, "a run", problem, baseline.unpack)
            assert baseline.advance(problem, state, silent).nll == expected

    def test_results_are_written_and_read(self, baseline, problem, tmp_path):
        run = baseline.run(problem, 5, seed=0)
        run.save_table(tmp_path / "run.csv")
        lines = (tmp_path / "run.csv").read_text().splitlines()
        assert lines[0].startswith("evaluation,nll,n_policies,environment_steps,seconds")
        assert len(lines) == 6
        assert [float(line.split(",")[1]) for line in lines[1:]] == run.nll.tolist()
        run.save(tmp_path / "run.npz")
        found = boirl.load_result(tmp_path / "run.npz", problem)
        assert type(found) is BaselineRun
        assert_same_run(found, run)
        assert str(found) == str(run)
        assert "best NLL" in str(found)

    def test_convergence_is_drawn(self, baseline, problem):
        figure = boirl.drawing.convergence(baseline.run(problem, 3, seed=0))
        assert figure.axes[0].get_ylabel() == "NLL above the lowest"
        assert baseline.name in figure.axes[0].get_title()
