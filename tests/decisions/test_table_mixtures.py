"""Mixtures of rows of a table."""

import numpy as np
import pytest

from boirl.decisions.table_mixtures import fit_table, log_likelihood_table
from boirl.errors import SolverError
from boirl.experiments.mixtures import problem_of


@pytest.fixture(scope="module")
def mixed():
    return problem_of(1000)


def test_rows_that_explain_different_columns_are_found():
    table = np.full((4, 10), -9.0)
    table[1, :6] = table[3, 6:] = -1.0
    fit = fit_table(table, 2, np.random.default_rng(0))
    assert set(fit.rows.tolist()) == {1, 3}
    assert sorted(fit.shares.round(2).tolist()) == [0.4, 0.6]
    assert len(set(fit.labels[:6].tolist())) == 1
    assert fit.labels[0] != fit.labels[9]


def test_two_demonstrators_are_told_apart_by_their_rewards(mixed):
    problem, owners, truths = mixed
    pool = [problem.evaluate(theta) for theta in [*truths, (5.0, 5.0, 5.0), (1.0, 9.0, 1.0)]]
    fit = fit_table(log_likelihood_table(problem, pool), 2, np.random.default_rng(0))
    assert set(fit.rows.tolist()) == {0, 1}
    right = (fit.labels == owners).mean()
    assert max(right, 1 - right) >= 0.95


def test_too_few_rows_are_refused():
    with pytest.raises(SolverError, match="expected at least 2"):
        fit_table(np.full((3, 4), -np.inf), 2, np.random.default_rng(0))
