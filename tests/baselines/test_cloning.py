"""Behavioural cloning: likely weights, exact scores and curvatures, features of the graph."""

import numpy as np
import pytest

from boirl.baselines.cloning import BoltzmannClone, fit_clone, graph_features


@pytest.fixture
def clone():
    rng = np.random.default_rng(0)
    return BoltzmannClone(rng.standard_normal((4, 2)), rng.standard_normal((2, 3)))


def moved(clone, step):
    return BoltzmannClone(clone.features, clone.weights + step.reshape(clone.weights.shape))


def test_scores_and_curvatures_are_those_of_small_differences(clone):
    states, actions = np.array([0, 2, 3]), np.array([1, 0, 2])
    scores = clone.scores(states, actions)
    weights = np.array([0.5, 2.0, 1.0])
    curvature = clone.curvature(states, weights)
    for axis in range(clone.n_parameters):
        step = np.zeros(clone.n_parameters)
        step[axis] = 1e-6
        ends = [moved(clone, side * step) for side in (-1, 1)]
        log_chances = [one.log_probabilities(states)[np.arange(3), actions] for one in ends]
        np.testing.assert_allclose(
            (log_chances[1] - log_chances[0]) / 2e-6, scores[:, axis], atol=1e-7
        )
        slopes = [weights @ one.scores(states, actions) for one in ends]
        np.testing.assert_allclose((slopes[1] - slopes[0]) / 2e-6, curvature[axis], atol=1e-6)
    traces = clone.curvature_traces(states)
    assert weights @ traces == pytest.approx(np.trace(curvature))


def test_the_clone_has_the_frequencies_of_the_demonstrations(random_problem):
    """With a feature of its own for every state it is free to."""
    shown = random_problem(0, count=50).demonstrations
    clone = fit_clone(np.eye(4), shown, 3, ridge=1e-9)
    chances = np.exp(clone.log_probabilities(np.arange(4)))
    for state in range(4):
        counts = np.bincount(shown.actions[shown.states == state], minlength=3)
        np.testing.assert_allclose(chances[state], counts / counts.sum(), atol=1e-4)


def test_a_ridge_keeps_weights_small(random_problem):
    shown = random_problem(0).demonstrations
    sizes = [
        np.abs(fit_clone(np.eye(4), shown, 3, ridge=ridge).weights).max() for ridge in (1e-6, 1.0)
    ]
    assert sizes[1] < 0.2 * sizes[0]


def test_features_of_the_graph_are_alike_where_states_are_near(gridworld):
    features = graph_features(gridworld.mdp, 8)
    assert features.shape == (gridworld.mdp.n_states, 9)
    assert (features[:, 0] == 1.0).all()
    near = np.linalg.norm(features[0] - features[1])
    far = np.linalg.norm(features[0] - features[35])
    assert near < 0.7 * far
    np.testing.assert_array_equal(features, graph_features(gridworld.mdp, 8))
