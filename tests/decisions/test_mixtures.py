"""Several demonstrators."""

import numpy as np
import pytest

from boirl.decisions.mixtures import NoTrajectoryLeftError, fit_mixture
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.experiments.mixtures import problem_of

QUICK = {"kernel": "rbf", "acquisition": "random"}


@pytest.fixture(scope="module")
def mixed():
    return problem_of(1000)


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


def test_one_demonstrator_is_enough_where_nobody_else_has_a_trajectory():
    """Every trajectory is the same, so that a second demonstrator would have none."""
    problem, _, _ = problem_of(1000)
    one = problem.demonstrations.subset([0])
    alike = problem.with_demonstrations(Demonstrations.concatenate([one] * 6))
    with pytest.raises(NoTrajectoryLeftError, match="expected fewer demonstrators"):
        fit_mixture(alike, 2, evaluations=4, seed=1000, **QUICK)
    found = fit_mixture(alike, None, evaluations=4, seed=1000, **QUICK)
    assert len(found) == 1
    assert found.labels.tolist() == [0] * 6
