"""Pictures and films of what policies do, with a policy that needs no learning."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
import torch
from PIL import Image

import boirl
from boirl import paths
from boirl.demonstrations import Demonstrations
from boirl.environments import maze_dynamics
from boirl.environments import point_mass_maze as maze
from boirl.errors import InvalidInputError, StorageError
from boirl.gym_problem import GymProblem
from boirl.policies.actions import Categorical, CensoredGaussian, UniformMixture
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Solver
from boirl.rewards import CallableReward
from boirl.types import silent

gymnasium = pytest.importorskip("gymnasium", reason="these need the extra boirl[rl]")
from boirl.environments.gym_simulator import GymSimulator  # noqa: E402

SIMULATOR = maze.PointMassMaze()
TRUTH = (0.3, 0.1)
STEPS = 8


@dataclass(frozen=True)
class Homing(Solver):
    """Heads for the target; where there are choices, takes any."""

    def solve(self, task, run, report=silent):
        inputs, choices = task.simulator.observation_size, task.simulator.n_actions
        if choices is not None:
            zeros = (np.zeros((inputs, choices)),), (np.zeros(choices),)
            return NetworkPolicy(*zeros, "tanh", Categorical(choices))
        count = len(task.simulator.action_low)
        bounds = (-1.0,) * count, (1.0,) * count
        return NetworkPolicy(
            weights=(-6.0 * np.eye(inputs, count),),
            biases=(6.0 * np.resize(task.theta, count),),
            activation="tanh",
            actions=UniformMixture(CensoredGaussian(*bounds)),
            log_sd=np.full(count, -2.0),
        )


def build(count=4, **options):
    drawn = SIMULATOR.roll_out(None, count, STEPS, np.random.default_rng(0))
    given = {"demonstrations": drawn, "horizon": STEPS, "workers": 0, **options}
    return GymProblem(SIMULATOR, maze.TargetReward(), solver=Homing(), **given)


@pytest.fixture(scope="module")
def problem():
    return build()


def build_gym(env, count=3, steps=STEPS):
    """The same in a Gymnasium environment, with a reward that does not matter."""
    drawn = GymSimulator(env).roll_out(None, count, steps, np.random.default_rng(0))
    reward = CallableReward(
        lambda theta, seen: theta[:, :1] * torch.ones(len(seen)), {"weight": (0.0, 1.0)}
    )
    return GymProblem(env, reward, drawn, Homing(), horizon=steps, workers=0)


def drawn_paths(axes, colour):
    """The lines of more than one point that have a colour."""
    lines = [line for line in axes.lines if line.get_color() == colour]
    return [np.column_stack(line.get_data()) for line in lines if len(line.get_xdata()) > 1]


def test_there_are_paths_where_a_policy_acts_in_an_environment(problem):
    assert paths.has_paths(problem)
    assert not paths.has_paths(boirl.load_problem("gridworld"))


def test_demonstrations_are_drawn_beside_the_paths_of_each_reward(problem):
    figure = paths.paths_figure(problem, [TRUTH, (-0.5, 0.0)])
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["demonstrations", "x = 0.3, y = 0.1", "x = -0.5, y = 0"]
    given = problem.demonstrations
    for one, path in zip(given, drawn_paths(figure.axes[0], "black"), strict=True):
        np.testing.assert_array_equal(path, np.vstack([one.states, one.next_states[-1:]]))
    for axes, colour, target in zip(
        figure.axes[1:], paths.COLOURS, (TRUTH, (-0.5, 0.0)), strict=False
    ):
        walked = np.array(drawn_paths(axes, colour))
        assert walked.shape == (4, STEPS + 1, 2)
        # From where demonstrations began, towards the target.
        np.testing.assert_array_equal(walked[:, 0], given.starts[:, :2])
        gap = np.linalg.norm(walked - target, axis=2)
        assert gap[:, -1].mean() < gap[:, 0].mean()
        marks = [line.get_xydata() for line in axes.lines if line.get_marker() == "X"]
        np.testing.assert_allclose(marks, [[target]])
    walls = drawn_paths(figure.axes[0], "dimgray")
    np.testing.assert_allclose(np.reshape(walls, (-1, 4)), maze_dynamics.WALLS)


def test_the_same_seed_draws_the_same_paths(problem):
    first, again, other = (
        drawn_paths(paths.paths_figure(problem, [TRUTH], seed).axes[1], paths.COLOURS[0])
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_no_more_is_drawn_than_can_be_seen():
    many = build(paths.EPISODES + 3)
    thetas = [(0.1 * number, 0.0) for number in range(paths.MOST_REWARDS + 2)]
    figure = paths.paths_figure(many, thetas)
    assert len(figure.axes) == 1 + paths.MOST_REWARDS
    assert len(drawn_paths(figure.axes[0], "black")) == paths.EPISODES
    assert len(drawn_paths(figure.axes[1], paths.COLOURS[0])) == paths.EPISODES


def test_an_end_that_nobody_recorded_is_left_out(problem):
    plain = Demonstrations.from_trajectories(
        [(one.states, one.actions) for one in problem.demonstrations]
    )
    figure = paths.paths_figure(build(demonstrations=plain), [])
    assert {len(path) for path in drawn_paths(figure.axes[0], "black")} == {STEPS}


def test_other_environments_show_their_first_two_observations():
    pole = build_gym("CartPole-v1")
    figure = paths.paths_figure(pole, [[0.5]])
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == (
        "observation 0",
        "observation 1",
    )
    path = drawn_paths(figure.axes[0], "black")[0]
    np.testing.assert_array_equal(path[0], pole.demonstrations.states[0, :2])


class Dot(gymnasium.Env):
    """A dot on a line that draws itself."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012
    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (1,), np.float64)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)

    def __init__(self, render_mode=None, blind=False):
        self.render_mode, self.blind = render_mode, blind

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.np_random.uniform(-3.0, 3.0, 1)
        return self.place.copy(), {}

    def step(self, action):
        self.place = np.clip(self.place + action, -9.0, 9.0)
        return self.place.copy(), 0.0, False, False, {}

    def render(self):
        if self.blind:
            raise OSError("no screen\nanywhere")
        picture = np.zeros((40, 60, 3), np.uint8)
        picture[:, int(3 * (self.place[0] + 9.0))] = 255
        return picture


gymnasium.register("boirl-tests/Dot-v0", entry_point=Dot, max_episode_steps=STEPS)
gymnasium.register(
    "boirl-tests/Blind-v0", entry_point=Dot, max_episode_steps=STEPS, kwargs={"blind": True}
)


def test_a_single_observation_is_drawn_over_time():
    problem = build_gym("boirl-tests/Dot-v0")
    path = drawn_paths(paths.paths_figure(problem, []).axes[0], "black")[0]
    np.testing.assert_array_equal(path[:, 0], np.arange(STEPS + 1))
    np.testing.assert_array_equal(path[:-1, 1], problem.demonstrations[0].states[:, 0])


def test_a_search_is_drawn_by_its_behaviours(problem, tmp_path):
    found = boirl.explore(problem, 4, seed=0, n_demonstrations=4, rollouts="uniform")
    (picture,) = paths.save_paths(found, tmp_path / "pictures")
    assert picture == tmp_path / "pictures" / "paths.png"
    assert picture.stat().st_size > 10_000


def frames(path):
    with Image.open(path) as film:
        pictures = []
        for number in range(film.n_frames):
            film.seek(number)
            pictures.append(np.asarray(film.convert("RGB")))
    return pictures


def test_a_film_shows_every_step(problem, tmp_path):
    film = paths.save_film(problem, TRUTH, tmp_path / "films" / "film.gif", episodes=2)
    assert film == tmp_path / "films" / "film.gif"
    pictures = frames(film)
    assert len(pictures) == STEPS + 1
    assert all((one != other).any() for one, other in pairwise(pictures))
    again = frames(paths.save_film(problem, TRUTH, tmp_path / "again.gif", episodes=2))
    np.testing.assert_array_equal(again, pictures)


def test_episodes_of_different_lengths_are_filmed_to_the_end_of_the_longest(tmp_path):
    pole = build_gym("CartPole-v1", steps=60)
    lengths = pole.demonstrations.lengths
    assert len(set(lengths.tolist())) > 1
    film = paths.save_film(pole, [0.5], tmp_path / "film.gif", episodes=3)
    assert 8 < len(frames(film)) <= lengths.max() + 1


@pytest.mark.parametrize("name", ["film.avi", "film", "film.gif.png"])
def test_a_name_that_is_no_film_is_refused(problem, tmp_path, name):
    with pytest.raises(InvalidInputError, match=r"expected a name in \.gif or \.mp4"):
        paths.save_film(problem, TRUTH, tmp_path / "films" / name)
    assert list(tmp_path.iterdir()) == []


def test_without_ffmpeg_there_is_a_gif(problem, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(InvalidInputError, match=r"takes ffmpeg.*write a \.gif"):
        paths.save_film(problem, TRUTH, tmp_path / "film.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_reward_outside_the_box_is_not_filmed(problem, tmp_path):
    with pytest.raises(InvalidInputError, match="x = 3"):
        paths.save_film(problem, (3.0, 0.0), tmp_path / "film.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_told(problem, tmp_path):
    (tmp_path / "taken").write_text("a file")
    (tmp_path / "folder.gif").mkdir()
    for name in ("taken/film.gif", "folder.gif"):
        with pytest.raises(StorageError, match="could not be written"):
            paths.save_film(problem, TRUTH, tmp_path / name, episodes=1)


def test_a_camera_films_one_episode_after_another(tmp_path):
    problem = build_gym("boirl-tests/Dot-v0")
    film = paths.save_film(problem, [0.5], tmp_path / "film.gif", episodes=2, camera=True)
    # A picture before each of the steps; Pillow merges those that show the same.
    assert STEPS < len(frames(film)) <= 2 * STEPS
    assert frames(film)[0].shape == (40, 60, 3)


def test_a_camera_that_fails_is_told_in_one_line(tmp_path):
    problem = build_gym("boirl-tests/Blind-v0")
    with pytest.raises(InvalidInputError, match=r"could not draw itself \(OSError: no screen any"):
        paths.save_film(problem, [0.5], tmp_path / "film.gif", camera=True)
    assert list(tmp_path.iterdir()) == []


def test_a_function_that_takes_a_render_mode_is_asked_for_pictures(tmp_path):
    problem = build_gym(lambda **options: Dot(**options))
    film = paths.save_film(problem, [0.5], tmp_path / "film.gif", episodes=1, camera=True)
    assert frames(film)[0].shape == (40, 60, 3)


def test_a_camera_needs_an_environment_that_takes_a_render_mode(tmp_path):
    with pytest.raises(InvalidInputError, match=r"made by a function.*leave the camera out"):
        paths.save_film(build_gym(lambda: Dot()), [0.5], tmp_path / "film.gif", camera=True)


def test_a_maze_without_graphics_is_told(problem, tmp_path, monkeypatch):
    def fail(*given):
        raise RuntimeError("no context")

    monkeypatch.setattr(pytest.importorskip("mujoco"), "Renderer", fail)
    with pytest.raises(InvalidInputError, match=r"apt-get install libegl1.*leave the camera out"):
        paths.save_film(problem, TRUTH, tmp_path / "film.gif", camera=True)


@pytest.mark.filterwarnings("ignore")
def test_a_camera_shows_the_maze(problem, tmp_path):
    try:
        film = paths.save_film(problem, TRUTH, tmp_path / "film.gif", episodes=1, camera=True)
    except InvalidInputError as error:
        pytest.skip(str(error))
    assert 1 < len(frames(film)) <= STEPS
