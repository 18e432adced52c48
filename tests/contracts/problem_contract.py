"""What every problem must do.

class TestMyProblem(ProblemContract):
    @pytest.fixture(scope="class")
    @classmethod
    def problem(cls):
        return my_problem()
"""

import json

import numpy as np
import pytest

from boirl.errors import InvalidInputError, SolverError
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.problem.likelihood import trajectory_log_likelihoods


def assert_same_evaluation(found, expected):
    """Equal in everything but the time that it took."""
    first, second = ({**one.numbers(), "seconds": 0.0} for one in (found, expected))
    assert json.dumps(first) == json.dumps(second)
    assert found.arrays().keys() == expected.arrays().keys()
    for name, array in expected.arrays().items():
        np.testing.assert_array_equal(found.arrays()[name], array)


class ProblemContract:
    """Tests of a problem; a subclass has a fixture `problem` with at least two trajectories."""

    seed = 1000

    @pytest.fixture(scope="class")
    @classmethod
    def problem(cls):
        raise NotImplementedError("a subclass gives the problem")

    @pytest.fixture(scope="class")
    @classmethod
    def thetas(cls, problem):
        """Three thetas that the solver has a policy for, `3 x d`."""
        unit = np.random.default_rng(1000).uniform(0.2, 0.8, (3, problem.box.dimension))
        return problem.box.from_unit(unit)

    @pytest.fixture(scope="class")
    @classmethod
    def evaluations(cls, problem, thetas):
        return [problem.evaluate(theta, cls.seed) for theta in thetas]

    @pytest.fixture(scope="class")
    @classmethod
    def fewer(cls, problem):
        """The same problem with the last two demonstrations, in another order."""
        count = len(problem.demonstrations)
        return problem.with_demonstrations(problem.demonstrations.subset([count - 1, count - 2]))

    def test_it_says_what_it_is(self, problem):
        assert isinstance(problem, Problem)
        assert problem.box.names == problem.reward.box.names
        assert 0.0 < problem.gamma <= 1.0
        assert repr(problem.name) in repr(problem)
        assert f"{problem.box.dimension} parameters" in repr(problem)
        assert problem.policies_per_evaluation >= 1
        assert problem.is_model_free == (problem.env_steps_per_policy > 0)
        assert 0.0 < problem.same_behaviour < 1.0
        if problem.truth is not None:
            problem.box.check_one(problem.truth)
        problem.check_reward_varies()

    def test_an_evaluation_is_complete(self, problem, thetas, evaluations):
        for theta, evaluation in zip(thetas, evaluations, strict=True):
            assert evaluation.ok
            assert evaluation.theta == tuple(theta.tolist())
            assert np.isfinite(evaluation.nll)
            assert evaluation.nll_se >= 0.0
            assert evaluation.log_likelihoods.shape == (len(problem.demonstrations),)
            assert evaluation.nll == pytest.approx(-evaluation.log_likelihoods.mean(), rel=1e-12)
            assert len(evaluation.policies) >= 1
            assert evaluation.n_policies == problem.policies_per_evaluation
            steps = problem.policies_per_evaluation * problem.env_steps_per_policy
            assert evaluation.environment_steps == steps
            assert evaluation.seed == self.seed
            assert evaluation.seconds > 0.0
            assert evaluation.reward is None

    def test_evaluating_is_pure(self, problem, thetas, evaluations):
        fingerprint = problem.fingerprint()
        state = np.random.get_state()[1].copy()  # noqa: NPY002
        assert_same_evaluation(problem.evaluate(thetas[0], self.seed), evaluations[0])
        np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
        assert problem.fingerprint() == fingerprint

    def test_an_evaluation_can_be_taken_apart(self, problem, evaluations):
        for evaluation in evaluations:
            numbers = json.loads(json.dumps(evaluation.numbers()))
            again = Evaluation.from_parts(numbers, evaluation.arrays())
            assert_same_evaluation(again, evaluation)
            np.testing.assert_array_equal(
                trajectory_log_likelihoods(problem.policy_of(again), problem.demonstrations),
                trajectory_log_likelihoods(problem.policy_of(evaluation), problem.demonstrations),
            )

    def test_kept_policies_explain_as_the_evaluation_says(self, problem, evaluations):
        for evaluation in evaluations:
            rows = [
                trajectory_log_likelihoods(policy, problem.demonstrations)
                for policy in problem.policies_of(evaluation)
            ]
            np.testing.assert_allclose(
                np.mean(rows, axis=0), evaluation.log_likelihoods, rtol=1e-10
            )
            best = trajectory_log_likelihoods(problem.policy_of(evaluation), problem.demonstrations)
            np.testing.assert_array_equal(best, rows[0])

    def test_a_policy_survives_its_compact_form(self, problem, evaluations):
        policy = problem.policy_of(evaluations[0])
        again = problem._restore_policy(problem.compact_policy(policy), evaluations[0])
        np.testing.assert_allclose(
            trajectory_log_likelihoods(again, problem.demonstrations),
            trajectory_log_likelihoods(policy, problem.demonstrations),
            rtol=1e-10,
        )

    def test_without_a_kept_policy_there_is_none(self, problem, thetas):
        theta = tuple(thetas[0].tolist())
        with pytest.raises(SolverError, match="its policy was not kept"):
            problem.policy_of(Evaluation(theta, 3.0))
        with pytest.raises(SolverError, match="the motor caught fire"):
            problem.policy_of(Evaluation(theta, 3.0, failure="the motor caught fire"))

    def test_scoring_again_changes_nothing(self, problem, evaluations):
        for evaluation in evaluations:
            again = problem.rescore(evaluation)
            assert again.nll == pytest.approx(evaluation.nll, rel=1e-10)
            np.testing.assert_allclose(
                again.log_likelihoods, evaluation.log_likelihoods, rtol=1e-10
            )
            assert again.gradient is None
            assert again.theta == evaluation.theta

    def test_scoring_other_demonstrations_is_evaluating_with_them(
        self, problem, fewer, thetas, evaluations
    ):
        for theta, evaluation in zip(thetas, evaluations, strict=True):
            found = fewer.rescore(evaluation)
            expected = fewer.evaluate(theta, self.seed)
            assert found.nll == pytest.approx(expected.nll, rel=1e-10)
            assert found.nll_se == pytest.approx(expected.nll_se, rel=1e-8, abs=1e-12)
            np.testing.assert_allclose(found.log_likelihoods, expected.log_likelihoods, rtol=1e-10)
            np.testing.assert_allclose(
                found.log_likelihoods, evaluation.log_likelihoods[[-1, -2]], rtol=1e-10
            )

    def test_a_failed_evaluation_stays_one(self, problem, thetas):
        failed = Evaluation(tuple(thetas[0].tolist()), 0.0, failure="lost")
        assert problem.rescore(failed) is failed

    def test_the_gradient_is_that_of_the_nll_or_there_is_none(self, problem, thetas, evaluations):
        for theta, evaluation in zip(thetas, evaluations, strict=True):
            if evaluation.gradient is None:
                with pytest.raises(InvalidInputError, match="has no exact gradient"):
                    problem.nll_and_gradient(theta)
                continue
            nll, gradient = problem.nll_and_gradient(theta)
            assert nll == pytest.approx(evaluation.nll, rel=1e-12)
            np.testing.assert_array_equal(gradient, evaluation.gradient)
            for number, step in enumerate(1e-5 * (problem.box.high - problem.box.low)):
                moved = step * (np.arange(problem.box.dimension) == number)
                slope = (problem.nll(theta + moved) - problem.nll(theta - moved)) / (2.0 * step)
                assert gradient[number] == pytest.approx(slope, rel=1e-5, abs=1e-5)

    def test_a_batch_equals_one_at_a_time(self, problem, thetas):
        batch = problem.nll_batch(thetas[:2])
        assert batch == pytest.approx([problem.nll(theta) for theta in thetas[:2]], rel=1e-9)
        assert problem.nll_batch(thetas[:0]).shape == (0,)

    def test_thetas_that_do_not_fit_are_refused(self, problem, thetas):
        outside = problem.box.high + 1.0
        with pytest.raises(InvalidInputError, match="expected a number in"):
            problem.evaluate(outside)
        with pytest.raises(InvalidInputError, match="expected a single one"):
            problem.evaluate(thetas)

    def test_roll_outs_start_where_they_are_asked_to(self, problem, evaluations):
        starts = problem.demonstrations.starts[[0, 1, 1]]
        for policy in (None, problem.policy_of(evaluations[0])):
            first, again = (
                problem.roll_out(policy, starts, 4, np.random.default_rng(3)) for _ in range(2)
            )
            assert len(first) == 3
            assert first.lengths.max() <= 4
            np.testing.assert_allclose(first.starts, starts, atol=1e-6)
            for name, array in first.to_dict().items():
                np.testing.assert_array_equal(again.to_dict()[name], array)
            problem.complete(first)

    def test_demonstrations_that_are_complete_stay_as_they_are(self, problem):
        shown = problem.demonstrations
        again = problem.complete(shown)
        for name, array in shown.to_dict().items():
            np.testing.assert_array_equal(again.to_dict()[name], array)

    def test_distances_between_behaviours(self, problem, evaluations):
        policies = [problem.policy_of(one) for one in (*evaluations, evaluations[0])]
        distances = problem.behaviour_distances(policies)
        assert distances.shape == (4, 4)
        np.testing.assert_allclose(distances, distances.T, atol=1e-12)
        np.testing.assert_allclose(np.diag(distances), 0.0, atol=1e-12)
        assert distances[0, 3] == pytest.approx(0.0, abs=1e-12)
        assert distances.min() >= 0.0
        assert 0.0 < distances.max() <= 1.0

    def test_differences_come_largest_first(self, problem, evaluations):
        one, other = (problem.policy_of(evaluation) for evaluation in evaluations[:2])
        apart = [found.distance for found in problem.most_different(one, other, 3)]
        assert 1 <= len(apart) <= 3
        assert apart == sorted(apart, reverse=True)
        assert 0.0 < apart[0] <= 1.0
        assert problem.most_different(one, one, 1)[0].distance == pytest.approx(0.0, abs=1e-12)

    def test_the_fingerprint_is_of_the_demonstrations_too(self, problem, fewer):
        assert problem.fingerprint() == problem.fingerprint() != fewer.fingerprint()
        same = problem.with_demonstrations(problem.demonstrations)
        assert same.fingerprint() == problem.fingerprint()
