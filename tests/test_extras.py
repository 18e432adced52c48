"""What is not installed is one line with the command that installs it."""

import importlib
import sys
import tomllib
from pathlib import Path

import pytest

import boirl
from boirl.errors import MissingExtraError
from boirl.extras import EXTRAS, missing_reported, needed


def test_a_module_that_is_there_is_imported():
    assert needed("json", "this") is sys.modules["json"]


def test_a_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MissingExtraError) as raised:
        needed("arviz", "to_arviz")
    assert str(raised.value) == (
        "to_arviz needs arviz, which is not installed; install it with: pip install 'boirl[arviz]'"
    )
    assert isinstance(raised.value, ImportError)


def test_what_no_extra_brings_is_not_blamed_on_one():
    with pytest.raises(ModuleNotFoundError, match="no_such_package"), missing_reported("this"):
        importlib.import_module("no_such_package")


def test_every_extra_exists_and_brings_the_package():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for package, extra in EXTRAS.items():
        listed = [one.replace("-", "_") for one in extras[extra]]
        assert any(one.startswith(package) for one in listed), (package, extra)


def test_a_public_name_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "boirl.environments.gym_simulator", raising=False)
    with pytest.raises(MissingExtraError, match=r"^boirl.GymSimulator needs gymnasium, .*\[rl\]'$"):
        _ = boirl.GymSimulator
