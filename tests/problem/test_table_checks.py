"""What is checked when a tabular problem is made."""

import numpy as np
import pytest

import boirl
from boirl.environments import TabularMDP
from boirl.errors import BoirlWarning, InvalidInputError


def test_absorbing_states_are_warned_of_under_logsumexp():
    table = [[1, 0], [1, 1]]
    reward = boirl.LinearReward(np.ones((2, 1)), {"weight": (-1, 0)})

    def problem(bellman, **options):
        mdp = TabularMDP.from_next_states(table, 0.9, **options)
        return boirl.TabularProblem(mdp, reward, solver=boirl.TabularSolver(bellman))

    with pytest.warns(BoirlWarning, match=r"no action leaves state 1.* = 6.931 nats"):
        problem("logsumexp")
    # None of these warns, or the test would fail.
    problem("max")
    problem("logsumexp", terminal=[1])
    problem("logsumexp", endless=[1])


def test_without_a_discount_a_free_choice_adds_up_without_end():
    mdp = TabularMDP.from_next_states([[1, 0], [1, 1], [2, 2]], 1.0)
    reward = boirl.LinearReward(np.ones((3, 1)), {"weight": (-1, 0)})
    with pytest.warns(BoirlWarning, match=r"state 1 \(nor 1 others\).* adds up without end"):
        boirl.TabularProblem(mdp, reward, solver=boirl.TabularSolver("logsumexp"))


def test_weights_of_terminal_states_alone_are_warned_of():
    mdp = TabularMDP.from_next_states([[1, 0], [2, 0], [2, 2]], 0.9, terminal=[2])
    goal, bounds = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), {"step": (-1, 0), "goal": (0, 9)}
    with pytest.warns(BoirlWarning, match="parameter 'goal' changes no reward that is paid"):
        boirl.TabularProblem(mdp, boirl.LinearReward(goal, bounds))
    on_arrival = boirl.TabularProblem(mdp, boirl.LinearReward(goal, bounds, of_next=True))
    assert on_arrival.policy([-0.5, 3.0]).values.tolist() == pytest.approx([2.2, 3.0, 0.0])


def test_steps_that_cannot_happen_are_warned_of():
    mdp = TabularMDP.from_next_states([[1], [0]], 0.9)
    reward = boirl.LinearReward(np.ones((2, 1)), {"weight": (-1, 0)})
    shown = boirl.Demonstrations.from_arrays([[0, 1, 1]], [[0, 0]])
    with pytest.warns(BoirlWarning, match="trajectory 0, step 1: action 0 in state 1 led to state"):
        boirl.TabularProblem(mdp, reward, shown)


def test_steps_whose_ends_nobody_recorded_are_not_checked(random_mdp):
    reward = boirl.LinearReward(np.ones((4, 1)), {"weight": (-1, 0)})
    shown = boirl.Demonstrations.from_trajectories([([0], [1]), ([2], [0])])
    assert np.isfinite(boirl.TabularProblem(random_mdp(0), reward, shown).nll([-0.5]))


def test_a_reward_for_other_states_is_refused():
    mdp = TabularMDP.from_next_states([[1], [0]], 0.9)
    with pytest.raises(InvalidInputError, match="are for 3 states, and the environment has 2"):
        boirl.TabularProblem(mdp, boirl.LinearReward(np.ones((3, 1)), {"weight": (-1, 0)}))


def test_a_reward_that_is_the_same_everywhere_is_refused():
    table = np.array([[0, 1], [0, 1]])
    same = boirl.LinearReward(np.ones((2, 1)), {"wage": (-1.0, 1.0)})
    endless = boirl.TabularProblem(TabularMDP.from_next_states(table, 0.9), same)
    with pytest.raises(InvalidInputError, match="the same in all 2 states, whatever theta is"):
        endless.check_reward_varies()
    # Where trajectories end, a constant says whether to hurry.
    ending = TabularMDP.from_next_states(table, 0.9, terminal=[1])
    boirl.TabularProblem(ending, same).check_reward_varies()
    other = boirl.LinearReward(np.array([[1.0], [1.1]]), {"wage": (-1.0, 1.0)})
    boirl.TabularProblem(TabularMDP.from_next_states(table, 0.9), other).check_reward_varies()
