"""Regrets: values alone, and distances from the optimum in tolerances."""

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments import regrets
from boirl.experiments.regrets import ValuesAlone, first_within, mean_log_regret, tabular_problem
from boirl.tolerance import likelihood_ratio_tolerance


def test_values_alone_have_no_gradients(random_problem):
    problem = random_problem(0)
    alone = ValuesAlone.of(problem)
    theta = np.array([0.3, -0.2])
    assert problem.evaluate(theta).gradient is not None
    assert alone.evaluate(theta).gradient is None
    assert alone.evaluate(theta).nll == pytest.approx(problem.evaluate(theta).nll, rel=1e-12)
    assert alone.fingerprint() == problem.fingerprint()


def test_regrets_are_in_tolerances_and_fall(random_problem, monkeypatch):
    problem = random_problem(0)
    monkeypatch.setattr(regrets, "optimum", lambda problem: 2.0)
    unit = likelihood_ratio_tolerance(len(problem.demonstrations), 2)
    curve = regrets.regrets(problem, np.array([np.nan, 2.0 + unit, 9.0, 1.9]))
    np.testing.assert_allclose(curve[1:], [1.0, 1.0, 0.0])
    assert first_within(curve, 0.5) == 4
    assert first_within(curve[:2], 0.5) is None
    assert mean_log_regret(curve) == pytest.approx((0.0 + 0.0 - 3.0) / 3.0)


def test_other_problems_are_refused():
    with pytest.raises(InvalidInputError, match="expected one on tables"):
        tabular_problem("town", 1002)
