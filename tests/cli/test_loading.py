"""What the arguments of several commands stand for."""

import numpy as np
import pytest

import boirl
from boirl.cli.loading import LearningBar, draw, load, parse_initial, parse_theta
from boirl.errors import InvalidInputError


def test_a_theta_is_numbers_with_commas():
    assert parse_theta("1.25,5,-1e-3") == [1.25, 5.0, -0.001]
    for wrong in ("a,b", "1;2", "", "1,,2"):
        with pytest.raises(InvalidInputError, match="expected numbers with commas between"):
            parse_theta(wrong)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, "sobol"),
        ([], "sobol"),
        (["hard"], "hard"),
        (["sobol"], "sobol"),
        (["1,2"], [[1.0, 2.0]]),
        (["1,2", "3,4"], [[1.0, 2.0], [3.0, 4.0]]),
    ],
)
def test_where_to_start_is_a_design_or_thetas(given, expected):
    assert parse_initial(given) == expected


def test_a_design_beside_a_theta_is_refused():
    with pytest.raises(InvalidInputError, match="theta is 'hard'"):
        parse_initial(["hard", "1,2"])


def test_options_that_were_not_given_are_left_out():
    problem = load("gridworld", None, bellman=None, data=None, box=None)
    assert dict(problem.recipe) == {"name": "gridworld"}
    assert load("gridworld", None, bellman="logsumexp").solver.bellman == "logsumexp"


def test_the_folder_of_data_is_kept_as_an_absolute_path(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        "boirl.problem.load_problem", lambda name, report, **options: asked.append(options)
    )
    monkeypatch.chdir(tmp_path)
    load("borlange-real", None, data=tmp_path.relative_to(tmp_path) / "roads")
    assert asked == [{"data": str(tmp_path / "roads")}]


def test_demonstrations_of_a_file_take_the_place_of_the_problems_own(tmp_path):
    other = boirl.load_problem("gridworld", seed=1000, n_demonstrations=3)
    other.demonstrations.save(tmp_path / "mine.npz")
    problem = load("gridworld", tmp_path / "mine.npz")
    np.testing.assert_array_equal(problem.demonstrations.states, other.demonstrations.states)


def test_the_bar_shows_with_the_first_report():
    bar = LearningBar("learning")
    (task,) = bar.tasks
    assert not task.visible
    with bar as report:
        report(0.5, "half of it")
    assert task.visible
    assert task.completed == 0.5
    assert task.fields["message"] == "half of it"


def test_pictures_are_drawn_and_named(monkeypatch, capsys, tmp_path):
    asked = []

    def save_pictures(*given):
        asked.append(given)
        return [tmp_path / "one.png", tmp_path / "two.png"]

    monkeypatch.setattr("boirl.drawing.views.save_pictures", save_pictures)
    draw("a result", tmp_path, exact=True)
    assert asked == [("a result", tmp_path, True)]
    assert capsys.readouterr().out == f"pictures: {tmp_path}/one.png {tmp_path}/two.png\n"
