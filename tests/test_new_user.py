"""A new user walks through README and documentation, mistakes included.

Each mistake ends with exit code 2 and one line that says what to do.
"""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
import typer.main

from boirl.cache import CACHE_VARIABLE
from boirl.cli import app
from boirl.cli.thetas import join_thetas

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def documented_commands():
    """Every line of a page that calls `boirl`, without its comment."""
    for page in PAGES:
        for line in re.findall(r"^ {4}(boirl .*)$", page.read_text(), re.MULTILINE):
            for part in line.split("#")[0].split("&&"):
                yield page.name, part.strip()


@pytest.mark.parametrize(("page", "line"), list(documented_commands()))
def test_documented_commands_are_understood(page, line):
    """They are parsed, not run: names of commands and options, and types of values."""
    _, name, *arguments = shlex.split(line)
    group = typer.main.get_command(app)
    command = group.commands[name]  # type: ignore[attr-defined]
    command.make_context(name, join_thetas(arguments))


def test_there_are_documented_commands():
    assert len(list(documented_commands())) > 20


@pytest.fixture
def street(command, tmp_path):
    """What `boirl init csv` writes, and a way to change a file of it."""
    folder = tmp_path / "street"
    code, _, errors = command("init", "csv", "--out", folder)
    assert code == 0, errors

    def change(name, old, new):
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))
        return folder / "problem.py"

    return change


def refused(command, *arguments):
    """The one line that a command which is refused prints."""
    code, out, errors = command(*arguments)
    assert (code, out) == (2, ""), errors
    assert errors.startswith("error: ")
    assert len(errors.splitlines()) == 1
    return errors


CHANGES = {
    "wrong column": (
        ("walks.csv", "episode,step,state,action", "episode,step,house,action"),
        r"walks\.csv has the columns episode, step, house, action; expected one called 'state'",
    ),
    "wrong column of features": (
        ("houses.csv", "shade", "shadow"),
        r"houses\.csv has the columns state, shadow.*expected one called 'shade': rename it",
    ),
    "misspelt name": (
        ("walks.csv", "house 4", "hause 4"),
        r"trajectory 0, step 2: the state is 'hause 4'.*did you mean 'house 4'\?",
    ),
    "an action with two ends": (
        ("moves.csv", "house 3,left,house 2\n", "house 3,left,house 2\nhouse 3,left,house 4\n"),
        r"'house 3' by action 'left' to 2 states, and has no column 'probability'",
    ),
    "a gap": (
        ("walks.csv", "0,3,house 5,right\n", ""),
        r"walks\.csv, line 4: episode 0 goes from step 2 to step 4.*gaps='split'",
    ),
    "a step without an end": (
        ("moves.csv", "house 3,left,house 2\n", ""),
        r"moves\.csv has no row for state 'house 3' and action 'left'",
    ),
    "bounds the wrong way round": (
        ("problem.py", '"shade": (0, 3)', '"shade": (3, 0)'),
        r"parameter 'shade' has bounds \[3\.0, 0\.0\].*the lower one first",
    ),
    "a typing error": (
        ("problem.py", "gamma=0.9)", "gamma=O.9)"),
        r"problem\.py, line \d+: (SyntaxError|NameError)",
    ),
    "a discount above one": (
        ("problem.py", "gamma=0.9", "gamma=1.9"),
        r"gamma is 1\.9; expected a number in \(0, 1\]",
    ),
}


@pytest.mark.parametrize("mistake", list(CHANGES))
def test_mistakes_in_files_are_one_line_that_says_what_to_do(command, street, mistake):
    change, message = CHANGES[mistake]
    told = refused(command, "run", street(*change), "--evaluations", 3)
    assert re.search(message, told), told


def test_an_empty_table_of_demonstrations(command, street, tmp_path):
    source = street("walks.csv", "", "")
    (tmp_path / "street" / "walks.csv").write_text("episode,step,state,action\n")
    assert "walks.csv" in refused(command, "run", source)


def test_a_reward_that_is_the_same_everywhere_is_to_blame_itself(command, street, tmp_path):
    source = street("houses.csv", "", "")
    rows = [f"house {number},1,1,1" for number in range(7)]
    (tmp_path / "street" / "houses.csv").write_text("\n".join(["state,shade,noise,bakery", *rows]))
    told = refused(command, "run", source, "--evaluations", 3)
    assert "is the same in all 7 states, whatever theta is" in told
    assert "give states features that differ" in told
    assert "roll-out" not in told


def test_demonstrations_may_come_with_the_command(command, street, tmp_path):
    source = street("problem.py", "reward, walks, name", "reward, name")
    assert "'street' has no demonstrations yet" in refused(command, "run", source)
    walks = tmp_path / "street" / "walks.csv"
    given = ("evaluate", source, "1", "-1", "3", "--demonstrations", walks, "--quiet")
    code, out, errors = command(*given)
    assert (code, errors) == (0, "")
    assert "NLL" in out


def test_tables_with_semicolons_are_read(command, street, tmp_path):
    source = street("walks.csv", ",", ";")
    code, out, errors = command("evaluate", source, "1", "-1", "3", "--quiet")
    assert (code, errors) == (0, "")
    assert "NLL" in out


def test_few_walks_are_enough_to_compare_models(command, street):
    source = street("walks.csv", "", "")
    code, out, errors = command("compare", source, "--gamma", "0.8", "--gamma", "0.9", "--quiet")
    assert code == 0, errors
    assert "2 demonstrations" in out
    assert out.count("problem.py, gamma") >= 2


def test_too_few_demonstrations_are_told(command, street, tmp_path):
    source = street("walks.csv", "", "")
    table = "episode,step,state,action\n0,0,house 4,right\n"
    (tmp_path / "street" / "walks.csv").write_text(table)
    code, out, errors = command("run", source, "--evaluations", 3, "--kernel", "rbf", "--quiet")
    assert code == 0, errors
    assert "! demonstrations say little: 1 demonstration reject" in out
    assert "record more demonstrations" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "bus-engines"), r"boirl data bus-engines --from"),
        (("run", "street"), r"there is no problem 'street'.*your own: problem\.py.*boirl init"),
        (("run", "street.py"), r"there is no file 'street\.py'.*boirl init"),
        (("show", "rewards.npz"), r"there is no file 'rewards\.npz'"),
        (("run", "gridworld", "--kernel", "rbff"), r"there is no kernel 'rbff'; expected one of"),
        (("run", "gridworld", "--evaluations", "0"), "evaluations is 0; expected at least 1"),
        (("evaluate", "gridworld", "-1", "5"), "expected 3 numbers"),
        (("evaluate", "gridworld", "-100", "5", "0"), r"expected a number in \["),
        (("evaluate", "gridworld"), "there is no theta; give its numbers"),
        (("run", "gridworld", "--demonstrations", "walks.txt"), r"ends in \.txt; expected a table"),
        (("run", "gridworld", "--demonstrations", "gone.csv"), "there is no file 'gone.csv'"),
        (("compare", "gridworld2d", "gridworld2d"), "is given twice"),
        (("show", "street.py"), r"is code; expected a result: boirl run street\.py --out FOLDER"),
        (("run", "gridworld2d", "--storage", "my.db"), "such as 'sqlite:///my.db'"),
    ],
)
def test_mistakes_on_the_command_line(command, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    told = refused(command, *arguments)
    assert re.search(message, told), told


def test_an_environment_needs_an_extra(command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "boirl.environments.gym_simulator", raising=False)
    (tmp_path / "own_hill.py").write_text("import boirl\nhill = boirl.GymSimulator('Hill-v0')\n")
    told = refused(command, "run", tmp_path / "own_hill.py")
    assert "needs gymnasium, which is not installed" in told
    assert "pip install 'boirl[rl]'" in told


def test_a_form_of_files_needs_an_extra(command, tmp_path, monkeypatch):
    (tmp_path / "steps.parquet").write_bytes(b"PAR1")
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    told = refused(command, "run", "gridworld", "--demonstrations", tmp_path / "steps.parquet")
    assert "needs pyarrow, which is not installed" in told
    assert "pip install 'boirl[tables]'" in told


def test_steps_in_place_of_states_and_actions_are_told(command, tmp_path):
    (tmp_path / "own_steps.py").write_text(
        "import boirl\nwalks = boirl.Demonstrations.from_trajectories([[(0, 1), (1, 1)]])\n"
    )
    assert "call Demonstrations.from_steps" in refused(command, "run", tmp_path / "own_steps.py")


def test_demonstrations_of_a_file_are_checked_against_the_problem(command, tmp_path):
    np.savez(tmp_path / "mine.npz", states=np.array([[0, 99]]), actions=np.array([[0, 0]]))
    told = refused(command, "run", "gridworld", "--demonstrations", tmp_path / "mine.npz")
    assert "trajectory 0, step 1: states is 99; expected a number below 37" in told
