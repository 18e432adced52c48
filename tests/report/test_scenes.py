"""Which scene a problem has, and that others can bring their own."""

import pytest

import boirl
from boirl.report.grid_scene import GridScene
from boirl.report.scenes import SCENES, Scene, SceneEntry, scene_of
from boirl.report.table_scene import TableScene


def test_grids_are_drawn_and_other_tables_listed(street, random_problem):
    assert type(scene_of(street)) is GridScene
    assert type(scene_of(random_problem(0))) is TableScene


def test_a_town_has_its_map():
    problem = boirl.load_problem("road-network")
    assert type(scene_of(problem)).__name__ == "RoadScene"


def test_what_nobody_can_draw_has_no_scene():
    assert scene_of(object()) is None


class Blank(Scene):
    caption = "nothing"

    def __init__(self, problem):
        self.problem = problem

    def still(self):
        return {}

    def frame(self, policy, theta):
        return {}

    def demonstrated(self):
        return {}


def applies(problem):
    return problem == "mine"


@pytest.fixture
def own_scene(monkeypatch):
    monkeypatch.setattr(SCENES, "_known", dict(SCENES._known))
    return SCENES.register("own", SceneEntry(f"{__name__}:applies", f"{__name__}:Blank"))


def test_a_scene_from_outside_comes_first(own_scene, street):
    scene = scene_of("mine")
    assert isinstance(scene, Blank)
    assert scene.state_name(3) == "state 3"
    assert scene.action_name(3, 1) == "action 1"
    assert scene.chances(None, 3) is None
    assert isinstance(scene_of(street), GridScene)
