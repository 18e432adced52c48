"""The experiment on scoring again."""

import pytest

from boirl.errors import InvalidInputError
from boirl.experiments.rescoring import run, run_trial


def test_scoring_again_gives_the_same_nll():
    row = run_trial("gridworld", 1000, 4)
    assert row["largest_difference"] < 1e-9
    assert row["scoring_seconds"] > 0.0


def test_unknown_problems_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="expected some of gridworld"):
        run(tmp_path, problems=["sea"])
