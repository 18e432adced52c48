"""Judging the best reward so far."""

from dataclasses import replace

import numpy as np

from boirl.experiments.race import Race, expert_rule


def test_rules_are_met_by_the_best_nll_alone(gridworld):
    seen = []

    def low(incumbent):
        seen.append(incumbent.number)
        return incumbent.nll < 24.0

    race = Race(gridworld, {"expert": expert_rule(gridworld), "low": low})
    poor = gridworld.evaluate([-2.0, 5.0, 0.0])
    truth = gridworld.evaluate(np.array(gridworld.truth))
    assert not race.judge(poor, 0)
    assert not race.judge(replace(truth, nll=poor.nll + 1.0), 1)
    assert race.judge(truth, 2)
    assert seen == [0, 2]
    assert race.reached["expert"]["evaluations"] == 3
    assert race.reached["low"]["policies"] == 3


def test_a_rule_stays_met(gridworld):
    race = Race(gridworld, {"first": lambda one: one.number == 0, "never": lambda one: False})
    truth = gridworld.evaluate(np.array(gridworld.truth))
    assert not race.judge(truth, 0)
    assert not race.judge(replace(truth, nll=truth.nll - 1.0), 1)
    assert race.reached["first"]["evaluations"] == 1
    assert race.reached["never"] is None
