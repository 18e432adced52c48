"""Searches beside the optimum that descents find."""

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments import optima


def test_no_search_is_below_the_optimum(tmp_path):
    (line,) = optima.run(tmp_path, seeds=(1002,), evaluations=8, problems=("mdp-few",))
    assert line["trials"] == 1
    assert line["tolerances_worst"] >= -1e-6
    assert line["within"] == int(line["tolerances_worst"] <= 1.0)


def test_the_line_has_the_mean_and_the_worst():
    rows = [{"problem": "ring", "evaluations": 3, "tolerances": one} for one in (0.5, 1.0, 3.0)]
    line = optima.summarise(rows)
    assert (line["within"], line["trials"], line["tolerances_worst"]) == (2, 3, 3.0)
    assert line["tolerances_mean"] == pytest.approx(np.mean([0.5, 1.0, 3.0]))


def test_unknown_generators_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="ring"):
        optima.run(tmp_path, problems=("ring",))
