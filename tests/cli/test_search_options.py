"""Every setting of a search is an option of `boirl run`."""

import inspect
from dataclasses import fields

import pytest

from boirl.cli.run import SEARCH_OPTIONS, run
from boirl.search import SearchSettings, Study

NOT_OPTIONS = {
    "self",
    "problem",
    "prior",
    "constraints",
    "lease_seconds",
    "rollout_policies",
    "options",
    "name",
}
"""What only Python can give, and the name of a study, which is `--study`."""


def test_every_setting_is_an_option_with_the_same_default():
    taken = inspect.signature(run).parameters
    for setting in fields(SearchSettings):
        default = taken[setting.name].default
        assert (default or None) == (setting.default or None), setting.name
    for name in set(inspect.signature(Study.__init__).parameters) - NOT_OPTIONS:
        assert name in taken


def test_settings_reach_the_study(command, monkeypatch):
    class StopError(Exception):
        pass

    given: dict = {}

    def stop(problem, **options):
        given.update(options)
        raise StopError

    monkeypatch.setattr("boirl.search.study.Study", stop)
    monkeypatch.setattr("boirl.search.Study", stop, raising=False)
    options = ("--n-rollouts", 3, "--scale", "log", "--smoothness", 2.5, "--no-linear")
    with pytest.raises(StopError):
        command("run", "gridworld2d", *options, "--drop", "a", "--initial", "0", "1")
    assert given["n_rollouts"] == 3
    assert given["scale"] == "log"
    assert given["smoothness"] == 2.5
    assert given["linear"] is False
    assert given["drop"] == ("a",)
    assert given["initial"] == [[0.0, 1.0]]


def test_they_belong_to_the_search_alone():
    settings = {one.name for one in fields(SearchSettings)} - {"seed"}
    assert settings <= set(SEARCH_OPTIONS)
