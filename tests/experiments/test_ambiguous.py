"""Problems whose demonstrations leave something open."""

import numpy as np
import pytest

from boirl.experiments.ambiguous import AMBIGUOUS, PER_START


@pytest.mark.parametrize("name", list(AMBIGUOUS))
def test_demonstrations_start_in_few_places_and_the_truth_is_in_the_box(name):
    if name == "frozen-lake":
        pytest.importorskip("gymnasium", reason="needs the extra boirl[rl]")
    problem = AMBIGUOUS[name](1000)
    assert len(np.unique(problem.demonstrations.starts)) <= 3
    assert len(problem.demonstrations) == 3 * PER_START
    problem.box.check_one(problem.truth)
    assert problem.fingerprint() == AMBIGUOUS[name](1000).fingerprint()
    assert problem.fingerprint() != AMBIGUOUS[name](1001).fingerprint()
