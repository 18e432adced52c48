"""Environments that are sampled, and demonstrations that have to fit them."""

import numpy as np
import pytest

from boirl.demonstrations import Demonstrations
from boirl.environments.simulator import Simulator, VectorSimulator, fit_to
from boirl.errors import DemonstrationError, InvalidInputError


class Drift(VectorSimulator):
    """A number that moves by its action and by its hidden speed."""

    name = "drift"
    horizon = 5
    n_actions = None
    action_low = np.array([-1.0])
    action_high = np.array([0.5])
    observation_size = 1
    observation_centre = np.zeros(1)
    observation_scale = np.ones(1)

    def reset(self, count, rng):
        return rng.uniform(0.0, 1.0, (count, 2))

    def step(self, states, actions):
        moved = states.copy()
        moved[:, 0] += states[:, 1] + actions[:, 0]
        return moved

    def observe(self, states):
        return states[:, :1].copy()


class Choices(Drift):
    """The same with three actions to choose from."""

    n_actions = 3  # type: ignore[assignment]
    action_low = action_high = np.empty(0)


class Still:
    """Does nothing, and keeps what it saw."""

    def __init__(self):
        self.seen = []

    def sample(self, states, rng):
        self.seen.append(states)
        return np.zeros((len(states), 1))


def rng(seed=1000):
    return np.random.default_rng(seed)


def test_copies_advance_together():
    starts = np.array([[0.0, 1.0], [5.0, -2.0]])
    policy = Still()
    drawn = Drift().roll_out(policy, starts, 3, rng())
    assert drawn.lengths.tolist() == [3, 3]
    assert drawn.states[:, 0].tolist() == [0.0, 1.0, 2.0, 5.0, 3.0, 1.0]
    assert drawn.next_states[:, 0].tolist() == [1.0, 2.0, 3.0, 3.0, 1.0, -1.0]
    np.testing.assert_array_equal(drawn.start_states, starts)
    assert [seen[:, 0].tolist() for seen in policy.seen] == [[0.0, 5.0], [1.0, 3.0], [2.0, 1.0]]


def test_a_number_of_starts_is_drawn_by_the_environment():
    drawn = Drift().roll_out(None, 4, 2, rng())
    np.testing.assert_array_equal(drawn.start_states, Drift().reset(4, rng()))


def test_uniform_actions_fill_their_range():
    drawn = Drift().uniform_actions(2000, rng())
    assert drawn.shape == (2000, 1)
    assert drawn.min() == pytest.approx(-1.0, abs=0.01)
    assert drawn.max() == pytest.approx(0.5, abs=0.01)
    chosen = Choices().uniform_actions(2000, rng())
    assert chosen.shape == (2000,)
    np.testing.assert_allclose(np.bincount(chosen) / 2000, 1 / 3, atol=0.05)


def test_an_environment_has_no_camera_unless_it_says_so():
    with pytest.raises(InvalidInputError, match="environment 'drift' cannot draw itself"):
        Drift().camera_env(np.zeros(1))
    assert Drift().identity == "drift"


def test_the_abstract_simulator_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        Simulator()  # type: ignore[abstract]


def shown(actions, width=1):
    acted = np.asarray(actions)
    return Demonstrations.from_arrays(np.zeros((1, acted.shape[1], width)), acted)


@pytest.mark.parametrize(
    ("simulator", "demonstrations", "message"),
    [
        (Drift(), shown([[[0.0]]], width=2), r"observations have shape \(1, 2\); expected"),
        (Drift(), shown([[[0.0, 0.0]]]), r"actions have shape \(1, 2\); expected"),
        (Drift(), shown([[0, 1]]), r"actions have shape \(2,\)"),
        (Drift(), shown([[[0.0], [0.6]]]), r"trajectory 0, step 1: the action is \[0\.6\]"),
        (Drift(), shown([[[-1.1], [0.0]]]), r"trajectory 0, step 0: the action is \[-1\.1\]"),
        (Choices(), shown([[[0.0]]]), r"actions have shape \(1, 1\); expected"),
        (Choices(), shown([[0, 3, 1]]), "step 1: the action is 3; expected a whole number below 3"),
    ],
)
def test_demonstrations_of_another_environment_are_refused(simulator, demonstrations, message):
    with pytest.raises(DemonstrationError, match=message):
        fit_to(simulator, demonstrations)


def test_actions_close_to_a_bound_are_put_on_it():
    """Bounds may be those of a float32."""
    given = shown([[[0.5 + 1e-7], [0.5 - 1e-7], [-1.0 - 1e-7], [-1.0 + 1e-7], [0.2]]])
    assert fit_to(Drift(), given).actions[:, 0].tolist() == [0.5, 0.5, -1.0, -1.0, 0.2]


def test_choices_that_fit_stay_as_they_are():
    given = shown([[0, 2, 1]])
    assert fit_to(Choices(), given) is given
