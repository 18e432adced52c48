"""The experiment on two demonstrators."""

import numpy as np

from boirl.experiments.mixtures import PER_DEMONSTRATOR, problem_of, summarise


def test_both_demonstrators_show_as_much():
    problem, owners, truths = problem_of(1000)
    assert np.bincount(owners).tolist() == [PER_DEMONSTRATOR] * 2
    scores = np.stack(
        [problem.log_likelihoods(problem.policy(np.clip(one, 0, 10))) for one in truths]
    )
    assert ((scores[0] > scores[1]) == (owners == 0)).mean() > 0.9


def test_rows_become_a_line():
    rows = [
        {"labels_right": share, "distance": [0.1, 0.2], "distance_of_truths": 0.5}
        for share in (1.0, 0.9)
    ]
    line = summarise(rows)
    assert line["labels_right_worst"] == 0.9
    assert line["at_95_percent"] == 0.5
