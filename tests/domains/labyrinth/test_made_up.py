"""Made-up mice want what they are said to want."""

import numpy as np

import boirl
from boirl.domains.labyrinth.made_up import TRUTH, make_up_recordings
from boirl.domains.labyrinth.problem import labyrinth_problem


def test_what_they_want_is_found_again():
    recordings = make_up_recordings(n_stretches=60, n_steps=100, seed=1000)
    estimate = boirl.maximum_likelihood(labyrinth_problem(recordings))
    z = (estimate.theta - TRUTH) / estimate.standard_errors
    assert (np.abs(z) < 3.5).all()


def test_every_third_stretch_goes_on():
    recordings = make_up_recordings(n_stretches=9)
    assert recordings.nodes.shape == (9, 61)
    follows = recordings.nodes[1:, 0] == recordings.nodes[:-1, -1]
    assert follows[::3].all()
    same = make_up_recordings(n_stretches=9)
    np.testing.assert_array_equal(recordings.nodes, same.nodes)
