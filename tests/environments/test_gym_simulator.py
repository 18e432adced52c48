from collections import OrderedDict

import numpy as np
import pytest

from boirl.errors import InvalidInputError

gymnasium = pytest.importorskip("gymnasium", reason="these need the extra boirl[rl]")
from gymnasium import spaces  # noqa: E402

from boirl.environments.gym_simulator import (  # noqa: E402
    HORIZON,
    GymSimulator,
    observation_parts,
    part_of,
)


class Line(gymnasium.Env):  # type: ignore[name-defined]
    """A walker on a line that sees its place, its goal and a clock; it ends at the goal."""

    def __init__(self, actions=None, observations=None, ordered=False):
        kind = OrderedDict if ordered else dict
        self.observation_space = observations or spaces.Dict(
            kind(
                [
                    ("place", spaces.Box(-1.0, 3.0, (1,), np.float64)),
                    ("goal", spaces.Box(-np.inf, np.inf, (2,), np.float64)),
                    ("clock", spaces.Box(0.0, 10.0, (1,), np.float64)),
                ]
            )
        )
        self.action_space = actions or spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.place, self.clock = 0.0, 0

    def look(self):
        return {
            "place": np.array([self.place]),
            "goal": np.array([2.0, -2.0]),
            "clock": np.array([float(self.clock)]),
        }

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.clock = float(self.np_random.uniform(0.0, 0.5)), 0
        return self.look(), {}

    def step(self, action):
        self.place = float(np.clip(self.place + action[0], -1.0, 3.0))
        self.clock += 1
        return self.look(), 0.0, self.place >= 2.0, False, {}


class Mechanism(Line):
    """The same on one joint, as environments on MuJoCo are."""

    class Data:
        def __init__(self):
            self.qpos, self.qvel = np.zeros(1), np.zeros(1)

    def __init__(self):
        super().__init__(observations=spaces.Box(-np.inf, np.inf, (2,), np.float64))
        self.data = self.Data()

    def set_state(self, qpos, qvel):
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel

    def _get_obs(self):
        return np.concatenate([self.data.qpos, 10.0 * self.data.qvel])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.set_state(self.np_random.uniform(0.0, 0.1, 1), np.zeros(1))
        return self._get_obs(), {}

    def step(self, action):
        self.set_state(self.data.qpos + self.data.qvel, self.data.qvel + action)
        return self._get_obs(), 0.0, False, False, {}


class Always:
    """Takes one action whatever it sees."""

    def __init__(self, action):
        self.action = np.asarray(action)

    def sample(self, states, rng):
        return np.repeat(self.action[None], len(states), axis=0)


def rng(seed=0):
    return np.random.default_rng(seed)


def test_what_is_known_of_cart_pole():
    simulator = GymSimulator("CartPole-v1")
    assert (simulator.name, simulator.horizon) == ("CartPole-v1", 500)
    assert (simulator.n_actions, simulator.observation_size) == (2, 4)
    assert simulator.action_low.shape == simulator.action_high.shape == (0,)


def test_what_is_known_of_the_pendulum():
    simulator = GymSimulator("Pendulum-v1", horizon=30)
    assert (simulator.n_actions, simulator.horizon, simulator.observation_size) == (None, 30, 3)
    np.testing.assert_array_equal([simulator.action_low, simulator.action_high], [[-2.0], [2.0]])


def test_bounds_are_scaled_and_the_rest_is_left_alone():
    simulator = GymSimulator(Line)
    # In the order of the space: clock, goal, place.
    np.testing.assert_array_equal(simulator.observation_centre, [5.0, 0.0, 0.0, 1.0])
    np.testing.assert_array_equal(simulator.observation_scale, [5.0, 1.0, 1.0, 2.0])
    chosen = GymSimulator(Line, centre=np.arange(4.0), scale=np.full(4, 2.0))
    np.testing.assert_array_equal(chosen.observation_centre, np.arange(4.0))
    np.testing.assert_array_equal(chosen.observation_scale, np.full(4, 2.0))


@pytest.mark.parametrize("ordered", [False, True])
def test_parts_of_an_observation_are_found_in_the_flat_one(ordered):
    simulator = GymSimulator(lambda: Line(ordered=ordered))
    space = simulator.env.observation_space
    names = ["place", "goal", "clock"] if ordered else ["clock", "goal", "place"]
    assert list(observation_parts(space)) == names
    seen = simulator.roll_out(Always([0.3]), 3, 4, rng()).states
    assert seen.shape == (12, 4)
    np.testing.assert_array_equal(part_of(seen, space, "goal"), np.tile([2.0, -2.0], (12, 1)))
    np.testing.assert_array_equal(part_of(seen, space, "clock")[:, 0], np.tile(np.arange(4), 3))
    place = part_of(seen, space, "place").reshape(3, 4)
    np.testing.assert_allclose(np.diff(place), 0.3, rtol=1e-6)


def test_only_observations_with_names_have_parts():
    with pytest.raises(InvalidInputError, match="expected a Dict space"):
        observation_parts(spaces.Box(0.0, 1.0, (2,)))


@pytest.mark.parametrize("policy", [None, Always(1)])
def test_choices(policy):
    drawn = GymSimulator("CartPole-v1").roll_out(policy, 3, 7, rng())
    assert drawn.states.shape == (21, 4)
    assert drawn.actions.dtype == np.int64
    assert set(drawn.actions) == ({0, 1} if policy is None else {1})


@pytest.mark.parametrize("policy", [None, Always([0.5])])
def test_vectors(policy):
    drawn = GymSimulator("Pendulum-v1").roll_out(policy, 2, 10, rng())
    assert drawn.actions.shape == (20, 1)
    assert np.abs(drawn.actions).max() <= 2.0
    assert (drawn.actions.std() > 0.5) == (policy is None)
    np.testing.assert_array_equal(drawn.next_states[:9], drawn.states[1:10])


def test_an_early_end_ends_the_trajectory():
    simulator = GymSimulator(Line)
    drawn = simulator.roll_out(Always([1.0]), 4, 50, rng())
    assert set(drawn.lengths) == {2}
    ends = np.cumsum(drawn.lengths) - 1
    assert (part_of(drawn.next_states[ends], simulator.env.observation_space, "place") >= 2).all()
    assert set(simulator.roll_out(Always([1.0]), 4, 1, rng()).lengths) == {1}
    fallen = GymSimulator("CartPole-v1").roll_out(Always(1), 5, 500, rng())
    assert fallen.lengths.max() < 20


def test_a_limit_of_the_environment_ends_the_trajectory_too():
    simulator = GymSimulator("Pendulum-v1")
    assert simulator.roll_out(None, 1, 1_000, rng()).lengths.tolist() == [200]


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1", "Acrobot-v1", "MountainCar-v0"])
def test_roll_outs_of_classic_control_start_where_they_are_asked_to(name):
    simulator = GymSimulator(name)
    first = simulator.roll_out(None, 3, 6, rng(0))
    assert first.start_states is not None
    again = simulator.roll_out(None, first.starts, 6, rng(1))
    np.testing.assert_allclose(again.start_states, first.start_states, rtol=1e-6)
    np.testing.assert_allclose(again.states[::6], first.states[::6], rtol=1e-5, atol=1e-6)
    assert not np.array_equal(again.actions, first.actions)


def test_the_same_actions_from_the_same_start_lead_to_the_same_states():
    simulator = GymSimulator("Pendulum-v1")
    first = simulator.roll_out(Always([0.7]), 2, 20, rng(0))
    again = simulator.roll_out(Always([0.7]), first.starts, 20, rng(1))
    np.testing.assert_allclose(again.next_states, first.next_states, atol=1e-5)


def test_roll_outs_of_a_mechanism_start_at_its_joints():
    simulator = GymSimulator(Mechanism)
    starts = np.array([[0.5, -0.25], [1.0, 2.0]])
    drawn = simulator.roll_out(Always([0.0]), starts, 3, rng())
    np.testing.assert_array_equal(drawn.start_states, starts)
    np.testing.assert_array_equal(drawn.states[::3], starts * [1.0, 10.0])
    np.testing.assert_allclose(drawn.next_states[2::3, 0], starts[:, 0] + 3 * starts[:, 1])


def test_a_function_of_the_user_says_how_to_start():
    def set_start(env, start):
        env.unwrapped.place = float(start[-1])
        return env.unwrapped.look()

    simulator = GymSimulator(Line, set_start=set_start)
    first = simulator.roll_out(Always([0.1]), 3, 4, rng(0))
    assert first.start_states is None
    again = simulator.roll_out(Always([0.1]), first.starts, 4, rng(1))
    np.testing.assert_array_equal(again.states, first.states)


def test_where_nobody_knows_how_to_start_the_environment_decides():
    simulator = GymSimulator(Line)
    first = simulator.roll_out(Always([0.1]), 3, 4, rng(0))
    assert first.start_states is None
    again = simulator.roll_out(Always([0.1]), first.starts, 4, rng(1))
    assert not np.isclose(again.starts, first.starts).all()


def test_starts_of_another_size_are_left_to_the_environment():
    simulator = GymSimulator("CartPole-v1")
    drawn = simulator.roll_out(Always(1), np.full((2, 3), 0.2), 3, rng())
    assert np.abs(drawn.starts).max() <= 0.05


def test_the_maze_on_mujoco_starts_where_it_is_asked_to():
    maze = pytest.importorskip("boirl.domains.maze.env")
    simulator = GymSimulator(maze.ENV_ID)
    starts = np.array([[0.1, 0.2, 0.0, 0.0], [0.5, 0.0, 0.3, 0.1]])
    drawn = simulator.roll_out(Always([0.2, 0.1]), starts, 5, rng())
    np.testing.assert_array_equal(drawn.states[::5], starts[:, :2])
    np.testing.assert_array_equal(drawn.start_states, starts)


@pytest.mark.parametrize("source", ["CartPole-v1", "Pendulum-v1", Line, Mechanism])
def test_the_same_seed_gives_the_same_roll_outs(source):
    simulator = GymSimulator(source)
    first = simulator.roll_out(None, 3, 8, rng(5))
    # In another copy, and whatever happened before.
    for other in (GymSimulator(source), simulator):
        again = other.roll_out(None, 3, 8, rng(5))
        np.testing.assert_array_equal(again.actions, first.actions)
        np.testing.assert_array_equal(again.next_states, first.next_states)
    assert not np.array_equal(simulator.roll_out(None, 3, 8, rng(6)).starts, first.starts)


def test_global_random_numbers_are_left_alone():
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    GymSimulator("Pendulum-v1").roll_out(None, 2, 5, rng())
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_an_environment_made_by_its_id_can_be_copied():
    given = gymnasium.make("Pendulum-v1", g=1.25)
    simulator = GymSimulator(given)
    assert simulator.env is not given
    assert simulator.env.unwrapped.g == 1.25  # type: ignore[attr-defined]
    assert simulator.make().unwrapped.g == 1.25  # type: ignore[attr-defined]
    assert simulator.horizon == 200


def test_environments_without_a_limit_get_one():
    simulator = GymSimulator(Line)
    assert (simulator.horizon, simulator.name) == (HORIZON, "Line")


def test_actions_come_as_the_environment_has_them():
    line, pole = GymSimulator(Line), GymSimulator("CartPole-v1")
    assert line.as_action(np.array([0.25])).dtype == np.float32
    assert type(pole.as_action(np.int64(1))) is int


WORDS = spaces.Dict({"place": spaces.Box(0.0, 1.0, (1,)), "text": spaces.Text(3)})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("NoSuchThing-v0", "Gymnasium cannot make 'NoSuchThing-v0'"),
        ("no/such/thing", "Gymnasium cannot make"),
        (lambda: Line(spaces.Box(-np.inf, np.inf, (1,))), "expected finite bounds .*RescaleAction"),
        (lambda: Line(spaces.MultiDiscrete([2, 3])), "expected a Discrete space or a Box"),
        (lambda: Line(spaces.Box(-1.0, 1.0, (2, 2))), "expected a Discrete space or a Box"),
        (lambda: Line(spaces.Discrete(3, start=1)), "expected them to start at 0"),
        (lambda: Line(observations=spaces.Discrete(4)), "expected a Box or a Dict of boxes"),
        (lambda: Line(observations=WORDS), "expected a Box or a Dict of boxes"),
        (Line(), r"expected an id or a function that makes one"),
        (lambda: "nonsense", "env made str; expected a Gymnasium environment"),
        (lambda: None, "env made NoneType"),
    ],
    ids=[
        "unknown id",
        "malformed id",
        "unbounded",
        "several choices",
        "matrix",
        "numbered from 1",
        "observations",
        "parts of observations",
        "no copies",
        "text",
        "nothing",
    ],
)
def test_what_cannot_be_simulated_is_refused(source, message):
    with pytest.raises(InvalidInputError, match=message) as caught:
        GymSimulator(source)
    assert "\n" not in str(caught.value)


class Stateful(Line):
    """Has a state, and a way of its own to set it."""

    def __init__(self):
        super().__init__(observations=spaces.Box(-1.0, 3.0, (1,), np.float64))
        self.state = np.zeros(1)

    def set_state(self, state):
        self.state = state

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = np.array([self.place])
        return self.state.copy(), {}

    def step(self, action):
        self.state = self.state + action
        return self.state.copy(), 0.0, False, False, {}


def test_a_state_with_a_way_of_its_own_to_set_it():
    drawn = GymSimulator(Stateful).roll_out(Always([0.0]), np.array([[1.5]]), 2, rng())
    np.testing.assert_array_equal(drawn.states, [[1.5], [1.5]])


def test_the_first_observation_is_wrapped_as_the_others_are():
    def make():
        inner = gymnasium.make("MountainCar-v0")
        return gymnasium.wrappers.TransformObservation(inner, lambda seen: seen + 5.0, None)

    simulator = GymSimulator(make)
    first = simulator.roll_out(None, 2, 4, rng())
    again = simulator.roll_out(None, first.starts, 4, rng())
    assert first.states.min() > 3.0
    assert again.states.min() > 3.0


def test_so_it_is_by_wrappers_that_remember():
    def make():
        return gymnasium.wrappers.FrameStackObservation(gymnasium.make("MountainCar-v0"), 3)

    simulator = GymSimulator(make)
    first = simulator.roll_out(None, 2, 4, rng())
    again = simulator.roll_out(None, first.starts, 4, rng())
    assert again.states.shape == first.states.shape == (8, 6)


def test_bounds_as_large_as_float32_has_them_are_none():
    largest = np.finfo(np.float32).max
    space = spaces.Box(-largest, largest, (1,), np.float32)
    simulator = GymSimulator(lambda: Line(observations=space))
    np.testing.assert_array_equal(simulator.observation_scale, 1.0)


def test_a_number_that_never_changes_has_a_scale():
    space = spaces.Box(np.array([0.0, 1.0]), np.array([1.0, 1.0]), dtype=np.float64)
    assert (GymSimulator(lambda: Line(observations=space)).observation_scale > 0.0).all()
