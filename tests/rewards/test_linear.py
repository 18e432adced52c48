import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError
from boirl.rewards import LinearReward, Transitions

THETA = torch.tensor([[2.0, -1.0], [0.5, 0.0]], dtype=torch.float64)
BOUNDS = {"a": (-5.0, 5.0), "b": (-5.0, 5.0)}


def test_a_table_of_states_pays_theta_times_features():
    features = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    rewards = LinearReward(features, BOUNDS)(THETA, Transitions(np.array([0, 1, 2, 2])))
    assert rewards.tolist() == [[2.0, -1.0, 1.0, 1.0], [0.5, 0.0, 0.5, 0.5]]


def test_a_table_of_state_actions_looks_at_the_action():
    features = np.arange(8.0).reshape(2, 2, 2)
    family = LinearReward(features, BOUNDS)
    rewards = family(THETA, Transitions(np.array([0, 1]), np.array([1, 0])))
    assert family.depends_on == "state_action"
    np.testing.assert_allclose(rewards, THETA.numpy() @ features[[0, 1], [1, 0]].T)


def test_a_function_sees_the_next_state():
    family = LinearReward(
        lambda steps: np.stack([steps.next_states, steps.next_states == steps.states], axis=1),  # type: ignore[list-item]
        BOUNDS,
    )
    rewards = family(THETA[:1], Transitions(np.array([3, 1]), np.zeros(2, int), np.array([3, 0])))
    assert family.depends_on == "transition"
    assert rewards.tolist() == [[5.0, 0.0]]


def test_a_fixed_weight_is_not_part_of_theta():
    family = LinearReward(np.eye(2), BOUNDS).fix(a=3.0)
    theta = torch.tensor([[1.0]], dtype=torch.float64)
    assert family.box.names == ("b",)
    assert family(theta, Transitions(np.array([0, 1]))).tolist() == [[3.0, 1.0]]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.zeros(3), r"features have shape \(3,\)"),
        (np.array([[0.0, np.nan]]), "features hold NaN or infinity"),
        (np.zeros((3, 4)), "4 features and 2 parameters"),
    ],
)
def test_features_that_do_not_fit_are_refused(features, message):
    with pytest.raises(InvalidInputError, match=message):
        LinearReward(features, BOUNDS)
