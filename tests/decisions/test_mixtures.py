"""Several demonstrators."""

import numpy as np
import pytest

from boirl.decisions.mixtures import fit_mixture, fit_table, log_likelihood_table
from boirl.errors import InvalidInputError, SolverError
from boirl.experiments.mixtures import problem_of

QUICK = {"kernel": "rbf", "acquisition": "random"}


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


def test_labels_give_a_set_for_each(mixed):
    problem, owners, _ = mixed
    names = np.array(["ann", "bob"])[owners]
    found = fit_mixture(problem, labels=names, evaluations=3, seed=1000, **QUICK)
    assert found.names == ("ann", "bob")
    np.testing.assert_array_equal(found.labels, owners)
    for number, one in enumerate(found.sets):
        assert len(one.problem.demonstrations) == (owners == number).sum()
    assert set(found.shared()) == set(problem.box.names)
    assert "may have in common" in str(found)
    assert found.thetas.shape == (2, 3)


def test_mixtures_are_found_without_labels(mixed):
    problem, _, _ = mixed
    found = fit_mixture(problem, 2, evaluations=6, seed=1000, **QUICK)
    assert len(found) == 2
    np.testing.assert_allclose(found.responsibilities.sum(axis=1), 1.0)
    assert found.shares.sum() == pytest.approx(1.0)
    assert np.isfinite(found.bic)


def test_wrong_arguments_are_refused(mixed):
    problem, owners, _ = mixed
    with pytest.raises(InvalidInputError, match="expected a number from 1 to 40"):
        fit_mixture(problem, 0)
    with pytest.raises(InvalidInputError, match="expected 40, one for each trajectory"):
        fit_mixture(problem, labels=owners[:3])
    with pytest.raises(SolverError, match="expected at least 2"):
        fit_table(np.full((3, 4), -np.inf), 2, np.random.default_rng(0))
