"""The planes that paths are drawn in."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from boirl.drawing import PLANES, Plane, planes
from boirl.drawing.planes import plane_of
from boirl.errors import InvalidInputError
from boirl.registry import Registry


def test_an_unknown_environment_shows_its_first_two_observations():
    plane = plane_of("nowhere")
    states = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(plane.project(states), states[:, :2])
    assert plane.labels == ("observation 0", "observation 1")
    assert plane.aspect == "auto"


def test_a_single_observation_is_drawn_over_time():
    projected = plane_of("nowhere").project(np.array([[3.0], [5.0], [4.0]]))
    np.testing.assert_array_equal(projected, [[0.0, 3.0], [1.0, 5.0], [2.0, 4.0]])


def test_a_plane_draws_nothing_of_its_own_by_default():
    axes = Figure().subplots()
    plane = Plane(("x", "y"), lambda states: states)
    plane.backdrop(axes)
    plane.mark(axes, np.zeros(2), "red")
    assert (len(axes.lines), len(axes.patches), len(axes.collections)) == (0, 0, 0)


def example_plane():
    return Plane(("east", "north"), lambda states: states[:, ::-1])


def test_a_domain_registers_the_plane_of_its_environment(monkeypatch):
    known: Registry[str] = Registry("plane", "boirl.planes")
    known.register("harbour", f"{__name__}:example_plane")
    monkeypatch.setattr(planes, "PLANES", known)
    assert plane_of("harbour").labels == ("east", "north")
    with pytest.raises(InvalidInputError, match="a plane 'harbour' already"):
        known.register("harbour", "elsewhere:plane")


@pytest.mark.parametrize(
    ("package", "simulator"),
    [("boirl.domains.maze", "point-mass-maze"), ("boirl.domains.fetch", "FetchReach-v4")],
)
def test_the_environments_of_the_paper_have_planes(package, simulator):
    __import__(package)
    assert simulator in PLANES
    assert plane_of(simulator).labels != plane_of("nowhere").labels
