"""Behaviour as a table of the states visited most."""

import numpy as np
import pytest

from boirl.policies import TabularPolicy
from boirl.report.table_scene import SHOWN_STATES, TableScene, action_flow, demonstrated_flow


def test_flows_are_shares_of_all_steps(random_problem):
    problem = random_problem(3)
    flow = action_flow(problem, problem.policy(problem.box.low))
    assert flow.shape == (4, 3)
    assert flow.sum() == pytest.approx(1.0)
    assert demonstrated_flow(problem).sum() == pytest.approx(1.0)


def test_the_flow_is_that_of_many_roll_outs(random_problem):
    problem = random_problem(3)
    policy = problem.policy(problem.box.high)
    starts = np.repeat(problem.demonstrations.starts, 2000)
    walked = problem.roll_out(policy, starts, problem.steps, np.random.default_rng(0))
    other = demonstrated_flow(problem.with_demonstrations(walked))
    assert np.abs(action_flow(problem, policy) - other).max() < 0.01


def test_rows_are_the_most_visited_states_with_their_likeliest_actions(street):
    scene = TableScene(street)
    rows = scene.frame(street.policy(street.box.high), street.box.high)["rows"]
    visits = [row[1] for row in rows]
    assert visits == sorted(visits, reverse=True)
    assert len(rows) <= SHOWN_STATES
    state, _, choices = rows[0]
    assert state.startswith("state ")
    assert choices[0][1] >= choices[-1][1]
    assert scene.still() == {"table": True}


def test_demonstrations_have_the_actions_that_were_taken(street):
    rows = TableScene(street).demonstrated()["rows"]
    taken = {state: choices for state, _, choices in rows}
    assert taken["state 6"] == [["action 0", 1]]
    assert dict(taken["state 5"]) == {"action 1": 1}


def test_chances_are_those_of_the_policy(street):
    uniform = TabularPolicy.uniform(street.mdp)
    assert TableScene(street).chances(uniform, 2) == pytest.approx([0.5, 0.5])
