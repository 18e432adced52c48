"""Trips through generated towns."""

from typing import Any

import numpy as np
import pytest

from boirl.experiments.suite.catalogue import suite_problem


@pytest.mark.parametrize("seed", range(1000, 1004))
def test_trips_end_at_their_destinations_and_part_of_the_box_diverges(seed):
    problem: Any = suite_problem("town", seed)
    last = np.cumsum(problem.demonstrations.lengths) - 1
    assert (problem.demonstrations.next_states[last] == problem.choice.end).all()
    assert 2 <= len(problem.choice.destinations) <= 5
    assert problem.box.names[:3] == ("time", "left", "constant")
    unit = np.random.default_rng(0).random((200, problem.box.dimension))
    failed = np.isnan(problem.nll_batch(problem.box.from_unit(unit))).mean()
    assert 0.0 < failed < 0.9
