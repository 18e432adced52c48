"""`boirl run --method`; `test_run` has what it writes and how it resumes."""

import json

import pytest

from boirl.cli.baseline import parse_settings
from boirl.errors import InvalidInputError


def test_settings_are_names_and_values():
    assert parse_settings(["rate=0.5", "reward=network", "layers=(3, 4)"]) == {
        "rate": 0.5,
        "reward": "network",
        "layers": (3, 4),
    }
    assert parse_settings(None) == {}
    with pytest.raises(InvalidInputError, match="expected name=value"):
        parse_settings(["rate"])


def test_a_baseline_prints_json_alone(command):
    code, out, errors = command(
        "run", "gridworld2d", "--method", "random", "--evaluations", 3, "--json", "--quiet"
    )
    assert (code, errors) == (0, "")
    facts = json.loads(out)
    assert facts["method"] == "random"
    assert len(facts["evaluations"]) == 3
