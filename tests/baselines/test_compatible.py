"""Compatible rewards: the gradient vanishes, and no function of states is among them."""

import numpy as np
import pytest

from boirl.baselines.cloning import fit_clone
from boirl.baselines.compatible import compatible_rewards, null_space, orthonormal


@pytest.fixture(scope="module")
def problem(random_problem):
    return random_problem(1, count=30)


FEATURES = np.column_stack([np.ones(4), np.linspace(-1.0, 1.0, 4)])


def found(problem, known_dynamics=False, features=FEATURES, sharpness=0.1):
    shown = problem.demonstrations
    clone = fit_clone(features, shown, 3, ridge=1e-9)
    cone = compatible_rewards(problem.mdp, shown, clone, known_dynamics, 1e-6, sharpness)
    return clone, cone


def test_null_spaces_and_ranges():
    matrix = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    basis = null_space(matrix, 1e-9)
    assert basis.shape == (3, 2)
    np.testing.assert_allclose(matrix @ basis, 0.0, atol=1e-12)
    assert orthonormal(matrix.T, 1e-9).shape == (3, 1)
    assert orthonormal(np.zeros((3, 2)), 1e-9).shape == (3, 0)


def test_the_gradient_of_the_return_vanishes_where_dynamics_are_known(problem):
    """A reward of the basis is that of a Q function, which scores and visits are blind to."""
    clone, cone = found(problem, known_dynamics=True)
    shown, gamma = problem.demonstrations, problem.gamma
    states, actions = np.divmod(cone.pairs, 3)
    assert len(cone.pairs) == 12  # everything was done, so that values are exact
    chances = np.exp(clone.log_probabilities(np.arange(4)))
    after = problem.mdp.transition.toarray()
    chain = after[:, :, None] * chances[None]
    values = np.linalg.solve(np.eye(12) - gamma * chain.reshape(12, 12), cone.basis)
    columns = np.searchsorted(cone.pairs, shown.states * 3 + shown.actions)
    visits = np.bincount(columns, gamma**shown.step_numbers, 12)
    gradient = (clone.scores(states, actions).T * visits) @ values
    np.testing.assert_allclose(gradient, 0.0, atol=1e-4 * visits.sum())


def test_without_dynamics_rewards_are_advantages(problem):
    clone, cone = found(problem)
    states, actions = np.divmod(cone.pairs, 3)
    chances = np.exp(clone.log_probabilities(states))[np.arange(len(states)), actions]
    for state in range(4):
        here = states == state
        np.testing.assert_allclose(chances[here] @ cone.basis[here], 0.0, atol=1e-9)


def test_the_sharpest_has_the_lowest_trace_and_draws_stay_in_the_cone(problem):
    _, cone = found(problem)
    assert (cone.traces <= 0.0).all()
    sharpest = cone.sharpest
    assert np.linalg.norm(sharpest) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        drawn = cone.draw(rng)
        assert (drawn >= 0.0).all()
        assert np.linalg.norm(drawn) == pytest.approx(1.0)
        assert cone.traces @ drawn >= cone.traces @ sharpest


def test_a_higher_bar_keeps_fewer(problem):
    _, all_kept = found(problem, sharpness=1e9)
    assert all_kept.n_negative == all_kept.n_found == all_kept.basis.shape[1]
    _, none = found(problem, sharpness=1e-9)
    assert none.n_negative == 0
    assert none.basis.shape[1] == none.n_found


def test_what_nobody_did_pays_least(random_problem):
    problem = random_problem(1, count=2, horizon=4)
    _, cone = found(problem)
    table = cone.table(cone.sharpest, (4, 3))
    done = np.zeros(12, dtype=bool)
    done[cone.pairs] = True
    assert not done.all()
    assert (table.reshape(-1)[~done] == table.min()).all()
    assert np.ptp(table) == pytest.approx(1.0)


def test_a_policy_that_is_free_everywhere_has_no_compatible_reward(random_problem):
    """Only functions of states are left, which advantages have none of."""
    problem = random_problem(1, count=30, gamma=1.0)
    shown = problem.demonstrations
    clone = fit_clone(np.eye(4), shown, 3, ridge=1e-12)
    assert compatible_rewards(problem.mdp, shown, clone, False, 1e-2, 0.1) is None
