"""The experiment on questions."""

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments.questions import Interview, run, summarise


def test_the_demonstrator_answers_from_where_it_is_asked():
    interview = Interview("gridworld", 1000, 4)
    answer = interview.answer(5, 0)
    assert len(answer) == 4
    np.testing.assert_array_equal(answer.starts, 5)
    np.testing.assert_array_equal(answer.states, interview.answer(5, 0).states)


def test_rows_become_a_line():
    rows = [
        {
            "chosen": 8.0,
            "random": [2.0, 2.0],
            "truth_group_remains": True,
            "truth_not_rejected": 1,
            "effective": 90,
        },
        {
            "chosen": 2.0,
            "random": [1.0, 4.0],
            "truth_group_remains": True,
            "truth_not_rejected": 0,
            "effective": 80,
        },
    ]
    line = summarise("gridworld", rows)
    assert line["ratio"] == pytest.approx(2.0)
    assert line["chosen"] == pytest.approx(4.0)
    assert line["truth_not_rejected"] == 0.5
    assert line["effective_least"] == 80


def test_unknown_problems_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="expected some of gridworld"):
        run(tmp_path, problems=["sea"])
