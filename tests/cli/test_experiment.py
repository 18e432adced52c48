"""`boirl experiment`: a table on the screen, and files."""

import json

import pytest

METHODS = ["rho-rbf", "random"]


def test_the_experiment_writes_its_numbers(command, tmp_path):
    out = tmp_path / "results"
    chosen = [part for method in METHODS for part in ("--method", method)]
    options = ("--trials", "1", "--evaluations", "4", "--out", out, *chosen)
    code, table, errors = command("experiment", "gridworld-efficiency", *options)
    assert code == 0, errors
    rows = json.loads((out / "trials.json").read_text())
    assert [row["method"] for row in rows] == METHODS
    summary = json.loads((out / "summary.json").read_text())
    assert [line["method"] for line in summary] == METHODS
    lines = [line.split() for line in table.splitlines()]
    assert [line[0] for line in lines[1:3]] == METHODS
    assert f"written: {out}\n" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table-9",), "there is no experiment 'table-9'"),
        (("gridworld-efficiency", "--problem", "maze"), "takes no problems"),
        (("suite", "--seeds", "9-7"), "--seeds is '9-7'; expected numbers or ranges"),
        (("suite", "--seeds", "many"), "--seeds is 'many'; expected numbers or ranges"),
        (("suite", "--seeds", "3", "--trials", "2"), "give one of them"),
    ],
)
def test_wrong_input_is_one_clear_line_and_exit_code_2(command, tmp_path, arguments, message):
    code, out, errors = command("experiment", *arguments, "--out", tmp_path / "results")
    assert (code, out) == (2, "")
    assert message in errors
    assert len(errors.strip().splitlines()) == 1


def test_a_place_that_cannot_be_written_is_reported_before_the_trials(command, tmp_path):
    (tmp_path / "taken").write_text("a file")
    out = ("--out", tmp_path / "taken")
    code, _, errors = command("experiment", "gridworld-efficiency", "--evaluations", "3", *out)
    assert code == 2
    assert "taken' could not be written" in errors


def test_an_unknown_method_is_reported_before_any_trial(command, tmp_path):
    options = ("--method", "luck", "--out", tmp_path)
    code, out, errors = command("experiment", "gridworld-efficiency", *options)
    assert (code, out) == (2, "")
    assert errors.splitlines()[-1].startswith("error: there is no method luck; expected some of")
    assert list(tmp_path.iterdir()) == []


def test_seeds_are_numbers_and_ranges(command, tmp_path):
    options = ("--method", "random", "--evaluations", "2", "--out", tmp_path)
    code, _, errors = command("experiment", "gridworld-efficiency", "--seeds", "7,9-10", *options)
    assert code == 0, errors
    rows = json.loads((tmp_path / "trials.json").read_text())
    assert [row["seed"] for row in rows] == [7, 9, 10]
