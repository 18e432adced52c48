"""Replacements by mileage for reports."""

import numpy as np
import pytest

from boirl.domains.bus_engines.scene import HIGHEST, ReplacementScene
from boirl.report.scenes import scene_of


def test_the_curve_is_the_policy_and_the_dots_are_observed(problem):
    scene = scene_of(problem)
    assert isinstance(scene, ReplacementScene)
    policy = problem.policy(problem.box.from_unit(np.full(problem.box.dimension, 0.4)))
    (curve,) = scene.frame(policy, problem.box.low)["paths"]
    shown = np.reshape(curve, (-1, 2))
    expected = np.minimum(policy.probabilities[:, 1], HIGHEST)
    assert shown[:, 1] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    dots = np.array(scene.still()["dots"])
    assert (dots[:, 2] <= dots[:, 1]).all()
    assert scene.demonstrated() == {}


def test_states_and_actions_have_words(problem):
    scene = ReplacementScene(problem)
    assert scene.state_name(2).endswith("thousand miles")
    assert [scene.action_name(2, action) for action in (0, 1)] == ["keep", "replace"]
    policy = problem.policy(problem.box.low)
    assert scene.chances(policy, 2).sum() == pytest.approx(1.0)
