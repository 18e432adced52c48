"""The experiment on acting."""

import numpy as np

from boirl.experiments.worst_case import junction, problem_of, summarise


def test_demonstrations_stop_before_the_junction_or_go_on():
    short, long = problem_of("ambiguous", 1000), problem_of("unambiguous", 1000)
    assert np.isin(short.demonstrations.states, [0, 1, 2, 3, 9, 10]).all()
    prize = {"left": 6, "right": 8}["left" if long.truth[0] > long.truth[1] else "right"]
    assert (long.demonstrations.states == prize).any()


def test_prizes_end_it():
    mdp, prizes = junction()
    for place in prizes.values():
        assert (mdp.next_states[place] == mdp.n_states - 1).all()
    np.testing.assert_array_equal(mdp.next_states[4], [4, 3, 5, 7])
    assert mdp.next_states[0, 2] == prizes["safe"]


def test_rows_become_a_line():
    row = {"truth_regret": 0.0, "single_truth_regret": 0.0}
    rows = [
        {"worst_regret": 1.0, "single_worst_regret": 4.0, **row},
        {"worst_regret": 0.0, "single_worst_regret": 0.0, **row},
    ]
    line = summarise("ambiguous", rows)
    assert line["ratio_worst"] == 1.0
    assert line["worst_regret"] == 0.5
    assert line["cost_worst"] == 0.0
