"""The application: help, version, and how errors and warnings reach the user."""

import warnings

import numpy as np
import pytest

import boirl
from boirl.cli.app import app
from boirl.errors import BoirlError, BoirlWarning

COMMANDS = ["run", "show", "evaluate", "demonstrate", "film", "map", "experiment"]
COMMANDS += ["problems", "methods", "data", "estimate", "compare", "init", "report"]
COMMANDS += ["federate", "reproduce", "ask", "answer", "act", "what-if", "mixture"]


def test_the_version_is_that_of_the_package(boirl_process, tmp_path):
    done = boirl_process("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"boirl {boirl.__version__}\n", "")


def test_help_lists_every_command(command):
    code, out, _ = command("--help")
    assert code == 0
    listed = [line.split()[1] for line in out.splitlines() if line.startswith("│ ")]
    assert set(COMMANDS) <= set(listed)
    assert len(app.registered_commands) == len(COMMANDS)


def test_the_command_alone_prints_help(command):
    code, out, errors = command()
    assert (code, errors) == (0, "")
    assert "Usage: " in out
    assert "Exit codes: 0 done" in out


def test_progress_is_left_out_on_request(command):
    code, out, errors = command("evaluate", "gridworld2d", "1,2", "--quiet")
    assert (code, errors) == (0, "")
    assert "NLL" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(command, name):
    code, out, _ = command(name, "--help")
    assert code == 0
    assert "Usage: " in out


def test_an_expected_error_is_one_line_and_exit_code_2(command, monkeypatch):
    def fail(*given, **options):
        raise BoirlError("the [bold]reason[/bold]")

    monkeypatch.setattr("boirl.problem.load_problem", fail)
    code, out, errors = command("evaluate", "gridworld", "1,2,3")
    assert (code, out, errors) == (2, "", "error: the [bold]reason[/bold]\n")


def test_an_interrupt_is_exit_code_130(command, monkeypatch):
    def interrupt(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("boirl.problem.load_problem", interrupt)
    code, out, errors = command("evaluate", "gridworld", "1,2,3")
    assert (code, out) == (130, "")
    assert "Traceback" not in errors


@pytest.mark.filterwarnings("default")
def test_only_warnings_of_boirl_reach_the_user(command, monkeypatch):
    load = boirl.load_problem

    def warn(*given, **options):
        warnings.warn("somebody else's business", DeprecationWarning, stacklevel=1)
        warnings.warn("check the numbering", BoirlWarning, stacklevel=1)
        return load(*given, **options)

    monkeypatch.setattr("boirl.problem.load_problem", warn)
    code, out, errors = command("evaluate", "gridworld", "1.25,5,0")
    assert code == 0
    assert "NLL" in out
    assert errors == "warning: check the numbering\n"


@pytest.mark.filterwarnings("default")
def test_demonstrations_that_cannot_happen_are_a_warning(command, tmp_path):
    states, actions = np.array([[0, 20, 1]]), np.array([[0, 0]])
    np.savez(tmp_path / "mine.npz", states=states, actions=actions)
    code, _, errors = command(
        "evaluate", "gridworld", "1,2,3", "--demonstrations", tmp_path / "mine.npz"
    )
    assert code == 0
    assert errors.startswith("warning: 2 demonstrated steps cannot happen")
    assert len(errors.strip().splitlines()) == 1
