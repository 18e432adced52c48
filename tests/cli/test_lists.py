"""Lists of what there is. `boirl data` is tested with data sets, in `tests/test_datasets.py`."""

import inspect

import pytest

from boirl.baselines import BASELINES
from boirl.cli.lists import console
from boirl.problem.catalogue import PROBLEMS


@pytest.fixture(autouse=True)
def _wide_screen(monkeypatch):
    monkeypatch.setattr(console, "_width", 300)


def rows(text):
    """The rows of a table below its heading, by their first column."""
    return {line.split()[0]: line for line in text.splitlines()[1:] if line.strip()}


def test_every_problem_is_listed_in_one_line(command):
    code, out, errors = command("problems")
    assert (code, errors) == (0, "")
    listed = rows(out)
    assert list(listed) == sorted(PROBLEMS)
    for name, line in listed.items():
        assert PROBLEMS[name].summary in line


def test_every_method_is_listed_with_its_settings(command):
    code, out, errors = command("methods")
    assert (code, errors) == (0, "")
    listed = rows(out)
    assert list(listed) == list(BASELINES)
    for name, kind in BASELINES.items():
        assert kind.summary in listed[name]
        for setting in inspect.signature(kind).parameters:
            assert setting in listed[name]
