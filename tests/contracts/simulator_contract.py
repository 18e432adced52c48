"""What every simulator must do.

    class TestMySimulator(SimulatorContract):
        @pytest.fixture
        def simulator(self):
            return MySimulator()

For simulators of many copies that advance together, `VectorSimulatorContract` asks for more.
"""

import numpy as np
import pytest

from boirl.environments.simulator import Simulator, VectorSimulator, fit_to
from boirl.errors import DemonstrationError

HORIZON = 6


def rng(seed=1000):
    return np.random.default_rng(seed)


def assert_same(first, second):
    assert first.to_dict().keys() == second.to_dict().keys()
    for name, array in second.to_dict().items():
        np.testing.assert_array_equal(first.to_dict()[name], array)


class Recorder:
    """Draws uniform actions, and keeps what it saw."""

    def __init__(self, simulator):
        self.simulator = simulator
        self.seen = []

    def sample(self, states, rng):
        self.seen.append(np.array(states))
        return self.simulator.uniform_actions(len(states), rng)


class SimulatorContract:
    """Tests of a simulator; a subclass has a fixture `simulator`."""

    sets_starts = True
    """Whether it can be set to where a trajectory started."""

    @pytest.fixture
    def simulator(self):
        raise NotImplementedError("a subclass gives the simulator")

    def test_it_says_what_it_is(self, simulator):
        assert isinstance(simulator, Simulator)
        assert simulator.name in simulator.identity
        assert simulator.horizon >= 1
        assert simulator.observation_centre.shape == (simulator.observation_size,)
        assert simulator.observation_scale.shape == (simulator.observation_size,)
        assert (simulator.observation_scale > 0.0).all()
        assert 2 <= simulator.rollouts_to_compare <= simulator.rollouts_to_measure
        if simulator.n_actions is None:
            assert (simulator.action_low < simulator.action_high).all()
            assert np.isfinite([simulator.action_low, simulator.action_high]).all()
        else:
            assert simulator.n_actions >= 2
            assert simulator.action_low.shape == simulator.action_high.shape == (0,)

    def test_roll_outs_have_the_shapes_that_it_names(self, simulator):
        drawn = simulator.roll_out(None, 3, HORIZON, rng())
        assert len(drawn) == 3
        assert 1 <= drawn.lengths.min() <= drawn.lengths.max() <= HORIZON
        assert drawn.states.shape == (drawn.lengths.sum(), simulator.observation_size)
        assert drawn.next_states.shape == drawn.states.shape
        assert not drawn.unknown_ends.any()
        if simulator.n_actions is None:
            assert drawn.actions.shape == (len(drawn.states), len(simulator.action_low))
            assert (drawn.actions >= simulator.action_low).all()
            assert (drawn.actions <= simulator.action_high).all()
        else:
            assert drawn.actions.shape == (len(drawn.states),)
            assert set(drawn.actions.tolist()) <= set(range(simulator.n_actions))

    def test_the_seed_decides_about_roll_outs(self, simulator):
        first, again, other = (
            simulator.roll_out(None, 2, HORIZON, rng(seed)) for seed in (1000, 1000, 1001)
        )
        assert_same(again, first)
        assert not np.array_equal(other.states[0], first.states[0])

    def test_global_random_numbers_are_left_alone(self, simulator):
        state = np.random.get_state()[1].copy()  # noqa: NPY002
        simulator.roll_out(None, 2, HORIZON, rng())
        np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002

    def test_trajectories_start_in_different_places(self, simulator):
        drawn = simulator.roll_out(None, 5, 1, rng())
        assert len(np.unique(drawn.states, axis=0)) == 5

    def test_roll_outs_start_where_others_did(self, simulator):
        first = simulator.roll_out(None, 3, HORIZON, rng())
        chosen = first.starts[[2, 0]]
        begins = np.cumsum(first.lengths) - first.lengths
        again = simulator.roll_out(None, chosen, 2, rng(1001))
        ends = np.cumsum(again.lengths) - again.lengths
        close = np.allclose(again.states[ends], first.states[begins[[2, 0]]], atol=1e-6)
        assert close == self.sets_starts

    def test_a_policy_sees_the_states_and_its_actions_are_taken(self, simulator):
        recorder = Recorder(simulator)
        drawn = simulator.roll_out(recorder, 2, HORIZON, rng())
        seen = np.unique(np.concatenate(recorder.seen), axis=0)
        np.testing.assert_allclose(seen, np.unique(drawn.states, axis=0))

    def test_its_own_roll_outs_fit(self, simulator):
        drawn = simulator.roll_out(None, 2, HORIZON, rng())
        assert_same(fit_to(simulator, drawn), drawn)
        wider = type(drawn)(
            np.hstack([drawn.states, drawn.states]),
            drawn.actions,
            np.hstack([drawn.next_states, drawn.next_states]),
            drawn.lengths,
        )
        with pytest.raises(DemonstrationError, match="observations have shape"):
            fit_to(simulator, wider)


class VectorSimulatorContract(SimulatorContract):
    """Tests of copies that advance together."""

    def test_copies_do_not_influence_each_other(self, simulator):
        assert isinstance(simulator, VectorSimulator)
        states = simulator.reset(4, rng())
        actions = simulator.uniform_actions(4, rng())
        together = simulator.step(states, actions)
        for number in range(4):
            alone = simulator.step(states[[number]], actions[[number]])
            np.testing.assert_array_equal(alone[0], together[number])

    def test_a_step_leaves_what_it_was_given_alone(self, simulator):
        states = simulator.reset(3, rng())
        actions = simulator.uniform_actions(3, rng())
        kept, acted = states.copy(), actions.copy()
        observed = simulator.observe(states)
        simulator.step(states, actions)
        observed += 1.0
        np.testing.assert_array_equal(states, kept)
        np.testing.assert_array_equal(actions, acted)

    def test_trajectories_last_until_the_horizon(self, simulator):
        drawn = simulator.roll_out(None, 3, HORIZON, rng())
        assert drawn.lengths.tolist() == [HORIZON] * 3
        assert drawn.start_states.shape == simulator.reset(3, rng()).shape

    def test_forces_beyond_the_bounds_count_as_at_the_bounds(self, simulator):
        states = simulator.reset(3, rng())
        high = np.tile(simulator.action_high, (3, 1))
        np.testing.assert_array_equal(
            simulator.step(states, 2.0 * high), simulator.step(states, high)
        )
