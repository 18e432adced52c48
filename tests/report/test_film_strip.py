"""Pictures of an environment that draws itself."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from boirl.errors import InvalidInputError
from boirl.policies.solver import Run
from boirl.report.answer import answer_of
from boirl.report.content import content_of
from boirl.report.film_strip import PICTURES, WIDTH, film_strip, has_camera
from boirl.report.frames import film_strips_of
from boirl.report.page import render
from boirl.report.scenes import scene_of

from ..drawing.conftest import gym_problem, maze_problem, result_of  # noqa: F401

gymnasium = pytest.importorskip("gymnasium", reason="these need the extra boirl[rl]")

THETA = np.array([0.5])


class Lamp(gymnasium.Env):  # type: ignore[name-defined]
    """A lamp that draws itself, brighter with each step."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012
    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (1,), np.float64)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)

    def __init__(self, render_mode=None, broken=False):
        self.render_mode, self.broken, self.steps = render_mode, broken, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1), {}

    def step(self, action):
        self.steps += 1
        return np.clip(np.full(1, 0.1 * self.steps), -9.0, 9.0), 0.0, False, False, {}

    def render(self):
        if self.broken:
            raise OSError("no screen")
        return np.full((300, 400, 3), 20 * self.steps, np.uint8)


class Dark(Lamp):
    """One that does not draw itself."""

    metadata = {"render_modes": []}  # noqa: RUF012


gymnasium.register("boirl-tests/Lamp-v0", entry_point=Lamp, max_episode_steps=8)
gymnasium.register("boirl-tests/Dark-v0", entry_point=Dark, max_episode_steps=8)
gymnasium.register(
    "boirl-tests/Broken-v0", entry_point=Lamp, max_episode_steps=8, kwargs={"broken": True}
)


def pictures_of(strip):
    head = "data:image/jpeg;base64,"
    assert all(one.startswith(head) for one in strip)
    return [Image.open(io.BytesIO(base64.b64decode(one[len(head) :]))) for one in strip]


def test_pictures_are_small_and_go_from_the_first_step_to_the_last(gym_problem):  # noqa: F811
    problem = gym_problem("boirl-tests/Lamp-v0")
    policy = problem.solver.solve(problem.task(THETA), Run(0))
    pictures = pictures_of(film_strip(problem, policy, THETA))
    assert len(pictures) == PICTURES
    assert {one.size for one in pictures} == {(WIDTH, WIDTH * 3 // 4)}
    brightness = [np.asarray(one).mean() for one in pictures]
    assert brightness == sorted(brightness)
    assert (round(brightness[0]), round(brightness[-1])) == (0, 160)


def test_environments_that_do_not_draw_themselves_have_no_pictures(
    gym_problem,  # noqa: F811
    maze_problem,  # noqa: F811
):
    assert has_camera(gym_problem("boirl-tests/Lamp-v0"))
    for problem in (gym_problem("boirl-tests/Dark-v0"), maze_problem(3)):
        assert not has_camera(problem)
        scene = scene_of(problem)
        policy = problem.solver.solve(problem.task(problem.box.low), Run(0))
        assert scene.pictures(policy, problem.box.low) == []


def test_a_page_shows_the_pictures_of_each_behaviour(gym_problem, result_of):  # noqa: F811
    found = result_of(gym_problem("boirl-tests/Lamp-v0"), [[0.2], [0.8]])
    answer = answer_of(found)
    numbers = [int(card.indices[0]) for card in answer.cards]
    assert list(answer.strips.by_number) == numbers
    page = render([content_of(answer)])
    assert page.count('<img src="data:image/jpeg;base64,') == PICTURES * len(numbers)


def test_a_camera_that_fails_is_asked_once_and_told(gym_problem, result_of):  # noqa: F811
    found = result_of(gym_problem("boirl-tests/Broken-v0"), [[0.2], [0.8]])
    answer = answer_of(found)
    assert answer.strips.by_number == {}
    page = render([content_of(answer)])
    assert page.count("There are no pictures of the environment") == 1
    assert "no screen" in page


def test_cards_without_a_policy_have_no_pictures(gym_problem, result_of):  # noqa: F811
    found = result_of(gym_problem("boirl-tests/Lamp-v0"), [[0.2]])
    assert film_strips_of(found, None, ()).by_number == {}
    with pytest.raises(InvalidInputError, match="could not draw itself"):
        film_strip(gym_problem("boirl-tests/Broken-v0"), found.policy(0), THETA)
