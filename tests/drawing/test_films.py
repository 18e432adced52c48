"""Films of what policies do, with a policy that needs no learning."""

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from boirl.drawing import save_film
from boirl.errors import InvalidInputError, StorageError
from boirl.policies.solver import Run

from .conftest import STEPS

gymnasium = pytest.importorskip("gymnasium", reason="these need the extra boirl[rl]")

TRUTH = (0.3, 0.1)


class Dot(gymnasium.Env):  # type: ignore[name-defined]
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


@pytest.fixture(scope="module")
def problem(maze_problem):
    return maze_problem()


def film_of(problem, theta, path, **options):
    """A film of the policy that the solver of the problem has for theta."""
    policy = problem.solver.solve(problem.task(theta), Run(0))
    return save_film(problem, policy, theta, path, **options)


def frames(path):
    with Image.open(path) as film:
        pictures = []
        for number in range(film.n_frames):  # type: ignore[attr-defined]
            film.seek(number)
            pictures.append(np.asarray(film.convert("RGB")))
    return pictures


def test_a_film_shows_every_step(problem, tmp_path):
    film = film_of(problem, TRUTH, tmp_path / "films" / "film.gif", episodes=2)
    assert film == tmp_path / "films" / "film.gif"
    pictures = frames(film)
    assert len(pictures) == STEPS + 1
    assert all((one != other).any() for one, other in pairwise(pictures))
    again = frames(film_of(problem, TRUTH, tmp_path / "again.gif", episodes=2))
    np.testing.assert_array_equal(again, pictures)


def test_another_seed_is_another_film(problem, tmp_path):
    first, other = (
        frames(film_of(problem, TRUTH, tmp_path / f"{seed}.gif", episodes=2, seed=seed))
        for seed in (0, 1)
    )
    assert any((one != two).any() for one, two in zip(first, other, strict=True))


def test_episodes_of_different_lengths_are_filmed_to_the_end_of_the_longest(gym_problem, tmp_path):
    pole = gym_problem("CartPole-v1", steps=25)
    lengths = pole.demonstrations.lengths
    assert len(set(lengths.tolist())) > 1
    film = film_of(pole, [0.5], tmp_path / "film.gif", episodes=3)
    assert 8 < len(frames(film)) <= lengths.max() + 1


@pytest.mark.parametrize("name", ["film.avi", "film", "film.gif.png"])
def test_a_name_that_is_no_film_is_refused(problem, tmp_path, name):
    with pytest.raises(InvalidInputError, match=r"ends in \.gif or \.mp4"):
        film_of(problem, TRUTH, tmp_path / "films" / name)
    assert list(tmp_path.iterdir()) == []


def test_without_ffmpeg_there_is_a_gif(problem, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(InvalidInputError, match=r"takes ffmpeg.*write a \.gif"):
        film_of(problem, TRUTH, tmp_path / "film.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_reward_outside_the_box_is_not_filmed(problem, tmp_path):
    policy = problem.solver.solve(problem.task(TRUTH), Run(0))
    with pytest.raises(InvalidInputError, match="x = 3"):
        save_film(problem, policy, (3.0, 0.0), tmp_path / "film.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_reported(problem, tmp_path):
    (tmp_path / "taken").write_text("a file")
    (tmp_path / "folder.gif").mkdir()
    for name in ("taken/film.gif", "folder.gif"):
        with pytest.raises(StorageError, match="could not be written"):
            film_of(problem, TRUTH, tmp_path / name, episodes=1)


def test_a_camera_films_one_episode_after_another(gym_problem, tmp_path):
    problem = gym_problem("boirl-tests/Dot-v0")
    film = film_of(problem, [0.5], tmp_path / "film.gif", episodes=2, camera=True)
    # A picture of each state, the last one included; Pillow merges those that show the same.
    assert STEPS + 1 < len(frames(film)) <= 2 * (STEPS + 1)
    assert frames(film)[0].shape == (40, 60, 3)


def test_a_camera_that_fails_is_reported_in_one_line(gym_problem, tmp_path):
    problem = gym_problem("boirl-tests/Blind-v0")
    with pytest.raises(InvalidInputError, match=r"could not draw itself \(OSError: no screen any"):
        film_of(problem, [0.5], tmp_path / "film.gif", camera=True)
    assert list(tmp_path.iterdir()) == []


def test_a_function_that_takes_a_render_mode_is_asked_for_pictures(gym_problem, tmp_path):
    problem = gym_problem(lambda **options: Dot(**options))
    film = film_of(problem, [0.5], tmp_path / "film.gif", episodes=1, camera=True)
    assert frames(film)[0].shape == (40, 60, 3)


def test_a_camera_needs_an_environment_that_takes_a_render_mode(gym_problem, tmp_path):
    with pytest.raises(InvalidInputError, match=r"made by a function.*leave the camera out"):
        film_of(gym_problem(lambda: Dot()), [0.5], tmp_path / "film.gif", camera=True)


def test_a_maze_without_graphics_is_reported(problem, tmp_path, monkeypatch):
    def fail(*given):
        raise RuntimeError("no context")

    monkeypatch.setattr(pytest.importorskip("mujoco"), "Renderer", fail)
    with pytest.raises(InvalidInputError, match=r"apt-get install libegl1.*leave the camera out"):
        film_of(problem, TRUTH, tmp_path / "film.gif", camera=True)


@pytest.mark.filterwarnings("ignore")
def test_a_camera_shows_the_maze(problem, tmp_path):
    try:
        film = film_of(problem, TRUTH, tmp_path / "film.gif", episodes=1, camera=True)
    except InvalidInputError as error:
        pytest.skip(str(error))
    assert 1 < len(frames(film)) <= STEPS + 1
