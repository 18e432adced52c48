"""Objectworld: the rule, two worlds in one problem, and what a learned reward misses."""

import json

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments import objectworld, run_experiment
from boirl.experiments.objectworld import RULE_HEIGHT, Worlds, objectworld_problem

OPTIONS = {"seeds": [1000], "paths": [8], "side": 6, "evaluations": 6, "problems": ["distances"]}


@pytest.fixture(scope="module")
def worlds():
    return Worlds.draw(6, np.random.default_rng(1000))


def test_no_step_leads_from_one_world_to_the_other(worlds):
    steps = worlds.mdp.transition.toarray().reshape(72, 5, 72)
    assert steps[:36, :, 36:].sum() == 0.0
    assert steps[36:, :, :36].sum() == 0.0
    problem = objectworld_problem(worlds, 20, "distances", np.random.default_rng(0))
    assert problem.demonstrations.states.max() < 36


def test_the_rule_pays_somewhere_and_costs_somewhere(worlds):
    assert {-RULE_HEIGHT, RULE_HEIGHT} <= set(worlds.rewards()[:36, 0].tolist())


def test_the_true_reward_misses_nothing_and_its_opposite_much(worlds):
    assert worlds.value_difference(worlds.rewards()) == pytest.approx((0.0, 0.0), abs=1e-9)
    assert worlds.value_difference(0.5 * worlds.rewards() + 3.0) == pytest.approx((0.0, 0.0))
    assert min(worlds.value_difference(-worlds.rewards())) > 1.0


@pytest.mark.parametrize("kind", ["distances", "thresholds"])
def test_features_say_what_the_rule_needs(worlds, kind):
    features = worlds.features(kind)
    by_features: dict[bytes, set[float]] = {}
    for row, (reward,) in zip(features, worlds.rewards(), strict=True):
        by_features.setdefault(row.tobytes(), set()).add(reward)
    assert all(len(rewards) == 1 for rewards in by_features.values())


def test_methods_are_compared_and_trials_kept(tmp_path, monkeypatch):
    lines = run_experiment("objectworld", tmp_path, OPTIONS)
    assert [line["method"] for line in lines] == ["gp-irl", "maxent", "deep-maxent"]
    rows = json.loads((tmp_path / "summary.json").read_text())
    assert all(row["missed"] > -1e-9 and row["transfer"] > -1e-9 for row in rows)
    monkeypatch.setattr(objectworld.baselines, "get", None)
    assert run_experiment("objectworld", tmp_path, OPTIONS) == lines


def test_wrong_names_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="no method birl; expected some of gp-irl"):
        run_experiment("objectworld", tmp_path, {**OPTIONS, "methods": ["birl"]})
    with pytest.raises(InvalidInputError, match="no features colours; expected some of distances"):
        run_experiment("objectworld", tmp_path, {**OPTIONS, "problems": ["colours"]})
