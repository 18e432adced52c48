"""Where to look next: a proposal in the box, and states that tell rewards apart."""

import numpy as np
import pytest

from boirl.report.group_cards import groups_of
from boirl.report.outlook import disagreements, next_reward, rivals
from boirl.report.scenes import scene_of
from boirl.results import RewardGroup


def test_the_next_reward_is_in_the_box_and_predicted(answer):
    proposed, box = answer.next_reward, answer.result.problem.box
    assert (proposed.theta >= box.low).all()
    assert (proposed.theta <= box.high).all()
    mean, sd = answer.result.predict_nll(proposed.theta)
    assert (proposed.mean, proposed.sd) == pytest.approx((mean, sd))


def test_random_searches_propose_nothing(found):
    from dataclasses import replace

    assert next_reward(replace(found, settings={**found.settings, "acquisition": "random"})) is None


def test_rivals_are_not_rejected_and_act_differently(found, street):
    pair = rivals(found, groups_of(found))
    assert pair is not None
    one, other = pair
    limit = found.best_nll + found.likelihood_ratio_tolerance()
    assert found.nll[one] <= limit
    assert found.nll[other] <= limit
    apart = disagreements(found, one, other, scene_of(street))
    distances = [row.distance for row in apart]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 0.0


def test_within_one_group_the_farthest_member_is_the_rival(found):
    members = found.indices_within(found.likelihood_ratio_tolerance(), absolute=True)[:4]
    group = RewardGroup(
        found.best, found.best_nll, members, found.thetas[members], 1.0, float("nan")
    )
    pair = rivals(found, [group])
    assert pair is not None
    one, other = pair
    assert one == found.best_index
    distances = found.distances(members)[0]
    assert other == members[int(np.argmax(distances))]
    alone = RewardGroup(
        found.best, found.best_nll, members[:1], found.thetas[members[:1]], 0.0, 0.0
    )
    assert rivals(found, [alone]) is None


def test_the_same_reward_differs_nowhere(found):
    assert disagreements(found, 0, 0, None) == []
