"""What the arguments of several commands stand for."""

import json

import numpy as np
import pytest

import boirl
from boirl.baselines import BaselineRun
from boirl.cli.loading import LearningBar, draw, load, open_result, open_rewards
from boirl.errors import CodeNeededError, InvalidInputError
from boirl.problem import load_source


def test_what_a_file_prints_is_no_part_of_the_answer(command, tmp_path):
    (tmp_path / "own_loud.py").write_text(
        "import boirl\nprint('loading')\nproblem = boirl.load_problem('gridworld2d')\n"
    )
    code, out, errors = command("evaluate", tmp_path / "own_loud.py", "1,2", "--json")
    assert code == 0
    assert json.loads(out)["theta"] == [1.0, 2.0]
    assert errors == "loading\n"


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
    assert draw("a result", tmp_path, exact=True) == [tmp_path / "one.png", tmp_path / "two.png"]
    assert asked == [("a result", tmp_path, True)]
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"pictures: {tmp_path}/one.png {tmp_path}/two.png\n")


OWN = """
import numpy as np
import torch
import boirl

mdp = boirl.TabularMDP.from_next_states(np.array([[0, 1], [0, 1]]), gamma=0.9)
walks = boirl.Demonstrations.from_arrays([[0, 1]], [[1, 1]])

def pay(theta, transitions):
    return theta[:, :1] * torch.as_tensor(transitions.states == 1)

problem = boirl.TabularProblem(mdp, boirl.CallableReward(pay, {"a": (-1, 1)}, "state"), walks)
"""


def test_a_result_that_needs_code_opens_with_its_problem(tmp_path, command):
    source = tmp_path / "own_code.py"
    source.write_text(OWN)
    results = tmp_path / "results"
    given = ("--method", "random", "--evaluations", 2, "--quiet", "--out", results)
    code, _, errors = command("run", source, *given)
    assert code == 0, errors
    with pytest.raises(CodeNeededError, match=r"--problem problem\.py:name"):
        open_result(results / "random.npz")
    assert len(open_result(results / "random.npz", str(source))) == 2
    code, out, errors = command("show", results / "random.npz", "--problem", source)
    assert code == 0, errors
    assert "best NLL" in out


@pytest.fixture(scope="module")
def needs_code(tmp_path_factory):
    """A search whose reward is a Python function, and the file that holds it."""
    folder = tmp_path_factory.mktemp("code")
    source = folder / "own_search.py"
    source.write_text(OWN)
    found = boirl.explore(load_source(str(source)), 3, kernel="rbf", acquisition="random")
    found.save(folder / "rewards.npz")
    return folder / "rewards.npz", source


@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("ask", "-n", "1", "--policies", "0"),
        ("act", "--policies", "0"),
        ("what-if", "--start", "1", "--policies", "0"),
    ],
)
def test_commands_on_a_result_take_its_problem(needs_code, command, words):
    result, source = needs_code
    name, *options = words
    code, _, errors = command(name, result, *options)
    assert (code, errors.count("\n")) == (2, 1)
    assert "--problem problem.py:name" in errors
    code, out, errors = command(name, result, *options, "--problem", source)
    assert code == 0, errors
    assert out


def test_what_needs_a_posterior_refuses_another_method(tmp_path):
    problem = boirl.load_problem("gridworld2d")
    BaselineRun(problem, (problem.evaluate(problem.truth),), "random").save(tmp_path / "r.npz")
    with pytest.raises(InvalidInputError, match=r"method random.*boirl run without --method"):
        open_rewards(tmp_path / "r.npz")


def test_a_result_stands_for_its_problem(tmp_path):
    problem = boirl.load_problem("gridworld2d")
    BaselineRun(problem, (problem.evaluate(problem.truth),), "random").save(tmp_path / "r.npz")
    assert load(str(tmp_path / "r.npz"), None).fingerprint() == problem.fingerprint()
    with pytest.raises(InvalidInputError, match="--bellman belongs to problems by name"):
        load(str(tmp_path / "r.npz"), None, bellman="max")


def test_a_result_that_needs_code_stands_for_no_problem(needs_code):
    with pytest.raises(CodeNeededError, match=r"from .*own_search\.py.*in its place, as problem"):
        load(str(needs_code[0]), None)


def test_an_unknown_problem_says_what_there_is():
    with pytest.raises(InvalidInputError, match=r"gridworld.*your own: problem\.py.*boirl init"):
        load("nothing", None)
