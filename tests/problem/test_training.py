"""Training runs for one theta, and what is measured of them."""

import numpy as np
import pytest

from boirl.errors import SolverError
from boirl.policies.actions import CensoredGaussian
from boirl.policies.solver import Run
from boirl.problem.likelihood import trajectory_log_likelihoods
from boirl.problem.training import train
from boirl.types import silent
from tests.problem.learned import TRUTH, Magnet, build, magnet, trained

ANCHOR = magnet(TRUTH, seed=99)


@pytest.fixture(autouse=True)
def _fresh():
    trained.clear()


def outcomes(problem, *runs, theta=TRUTH, report=silent):
    return train(problem, problem.task(theta), list(runs), report)


def test_a_run_is_measured_by_likelihood_and_return():
    problem = build()
    cold, warm = outcomes(problem, Run(3), Run(4, ANCHOR))
    assert [one.warm for one in (cold, warm)] == [False, True]
    expected = magnet(TRUTH, seed=3)
    states = problem.demonstrations.states
    np.testing.assert_array_equal(cold.policy.outputs(states), expected.outputs(states))
    np.testing.assert_array_equal(
        cold.log_likelihoods, trajectory_log_likelihoods(expected, problem.demonstrations)
    )
    assert cold.nll == pytest.approx(-cold.log_likelihoods.mean())


def test_runs_are_compared_on_the_same_starts():
    problem = build(Magnet(jitter=0.0))
    first, second = outcomes(problem, Run(3), Run(4))
    assert first.mean_return == second.mean_return
    (better,) = outcomes(problem, Run(3))
    (worse,) = outcomes(build(Magnet(gain=0.5, jitter=0.0)), Run(3))
    assert better.mean_return > worse.mean_return


def test_outputs_are_understood_as_the_problem_says():
    plain = CensoredGaussian((-1.0, -1.0), (1.0, 1.0))
    (found,) = outcomes(build(likelihood=plain), Run(3))
    assert found.policy.actions == plain
    (usual,) = outcomes(build(), Run(3))
    assert found.nll != usual.nll


def test_where_one_run_fails_the_others_are_run_alone():
    problem = build(Magnet(fate="fails"))
    found = outcomes(problem, Run(1), Run(2, ANCHOR), Run(3, ANCHOR))
    assert [one.warm for one in found] == [True, True]


def test_where_all_runs_fail_each_reason_is_named_once():
    with pytest.raises(SolverError, match=r"^the critic diverged$"):
        outcomes(build(Magnet(fate="fails")), Run(1), Run(2))
    with pytest.raises(SolverError, match=r"^training crashed with ZeroDivisionError"):
        outcomes(build(Magnet(fate="crashes")), Run(1))


def test_a_policy_that_is_worse_than_chance_does_not_count():
    problem = build(Magnet(gain=-6.0))
    with pytest.raises(SolverError, match="nothing was learned: the mean return -"):
        outcomes(problem, Run(1), theta=(0.2, 0.1))


def test_progress_is_that_of_all_runs():
    shares = []
    outcomes(build(), Run(1), Run(2), report=lambda share, message: shares.append(share))
    assert shares == [0.5, 1.0]
