"""What a release says of itself agrees: versions, extras, citation, scripts."""

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import boirl

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return ROOT / "scripts"


def test_the_citation_names_this_version():
    assert f"\nversion: {boirl.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_every_dependency_has_a_lower_bound_that_can_be_tested(scripts):
    chosen = runpy.run_path(str(scripts / "check_versions.py"))["requirements"]
    oldest, newest = chosen("oldest"), chosen("newest")
    assert len(oldest) == len(newest) == len(PROJECT["dependencies"])
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", one) for one in oldest)
    assert all(re.fullmatch(r"[\w-]+", one) for one in newest)
    for which in ("oldest", "newest"):
        held = chosen(which, torch="2.13.0")
        assert held[0] == "torch==2.13.0"
        assert held[1:] == chosen(which)[1:]


def test_named_tests_exist(scripts):
    for path in runpy.run_path(str(scripts / "check_versions.py"))["TESTS"]:
        assert (ROOT / path).exists()


@pytest.mark.parametrize("script", ["check_release.py", "check_versions.py"])
def test_scripts_say_how_they_are_called(scripts, script):
    done = subprocess.run(
        [sys.executable, scripts / script, "--help"], capture_output=True, text=True, check=True
    )
    assert "--torch-index" in done.stdout


def test_the_versions_of_python_that_are_claimed_are_at_least_the_required_one():
    claimed = [
        line.rpartition(" :: ")[2]
        for line in PROJECT["classifiers"]
        if re.search(r":: 3\.\d+$", line)
    ]
    assert claimed, "those that were tried are listed"
    required = PROJECT["requires-python"].removeprefix(">=")
    assert min(claimed, key=lambda one: int(one.partition(".")[2])) == required


def test_starting_files_are_packaged():
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    patterns = packaged["package-data"]["boirl"]
    source = ROOT / "src" / "boirl"
    matched = {path for pattern in patterns for path in source.glob(pattern) if path.is_file()}
    files = {
        path
        for path in (source / "starters").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files <= matched
