"""Scores of demonstrations: sums of log-probabilities, whatever the kind of problem."""

import numpy as np
import pytest

import boirl
from boirl.errors import DemonstrationError, InvalidInputError
from boirl.problem.scoring import uniform_log_likelihoods
from tests.domains.roads.conftest import LOGIT_TRUTH, town_with_trips
from tests.problem import learned


@pytest.fixture(scope="module")
def problem(request):
    return request.getfixturevalue("random_problem")(11, "logsumexp", count=20)


@pytest.fixture(scope="module")
def others(request):
    """Trajectories of different lengths that nothing was fitted to."""
    build = request.getfixturevalue("random_problem")
    return boirl.Demonstrations.concatenate(
        [build(11, count=3, horizon=4).demonstrations, build(11, count=2).demonstrations]
    )


@pytest.fixture(scope="module")
def town():
    return boirl.recursive_logit_problem(*town_with_trips(1))


def test_a_score_is_the_sum_of_log_probabilities(problem, others):
    theta = [0.5, -1.0]
    table = problem.policy(theta).log_probabilities
    by_hand = [
        sum(table[s, a] for s, a in zip(one.states, one.actions, strict=True)) for one in others
    ]
    scores = problem.score(others, theta)
    assert scores.shape == (5,)
    np.testing.assert_allclose(scores, by_hand, rtol=1e-12)


def test_steps_sum_to_trajectories(problem, others):
    by_step = problem.score(others, [0.5, -1.0], per_step=True)
    assert by_step.shape == (3 * 4 + 2 * 6,)
    sums = [by_step[:4].sum(), by_step[4:8].sum(), by_step[12:18].sum()]
    np.testing.assert_allclose(problem.score(others, [0.5, -1.0])[[0, 1, 3]], sums, rtol=1e-12)


def test_without_a_theta_it_is_the_estimate_which_is_computed_once(problem, others, monkeypatch):
    estimate = boirl.maximum_likelihood(problem)
    np.testing.assert_array_equal(problem.score(others), problem.score(others, estimate.theta))
    own = problem.score(problem.demonstrations)
    assert own.sum() == pytest.approx(estimate.log_likelihood, rel=1e-12)
    monkeypatch.setattr("boirl.estimation.maximum_likelihood", lambda problem: None)
    np.testing.assert_array_equal(problem.score(problem.demonstrations), own)


def test_a_finite_horizon_and_steps_after_the_end():
    following = np.array([[1, 0], [2, 0], [2, 2]])
    mdp = boirl.TabularMDP.from_next_states(following, 1.0, terminal=[2])
    problem = boirl.TabularProblem(
        mdp,
        boirl.LinearReward(np.array([[-1.0], [-0.5], [0.0]]), {"cost": (0.0, 2.0)}),
        boirl.Demonstrations.from_trajectories([([0, 1, 2], [0, 0])]),
        boirl.TabularSolver("logsumexp", horizon=4),
    )
    late = boirl.Demonstrations.from_trajectories([([0, 0, 1, 2], [1, 0, 0, 1])])
    policy = problem.policy([1.0])
    by_hand = [policy.log_probabilities[3 * t + s, a] for t, (s, a) in enumerate([(0, 1), (0, 0)])]
    found = problem.score(late, [1.0], per_step=True)
    assert found.shape == (3,)
    np.testing.assert_allclose(found[:2], by_hand, rtol=1e-12)


def test_trips_to_many_destinations(town):
    some = town.demonstrations.subset([4, 2, 9])
    evaluation = town.evaluate(LOGIT_TRUTH)
    np.testing.assert_allclose(
        town.score(some, LOGIT_TRUTH), evaluation.log_likelihoods[[4, 2, 9]], rtol=1e-10
    )


@pytest.mark.parametrize("repeats", [1, 3])
def test_learned_policies_with_a_theta(repeats):
    problem = learned.build(repeats=repeats)
    shown = learned.demonstrations(count=2, seed=5)
    expected = problem.with_demonstrations(shown).evaluate(learned.TRUTH, seed=4)
    found = problem.score(shown, learned.TRUTH, seed=4)
    np.testing.assert_allclose(found, expected.log_likelihoods, rtol=1e-10)


def test_uniform_choice_is_between_possible_actions(problem, town):
    uniform = uniform_log_likelihoods(problem, problem.policy([0.0, 0.0]))
    np.testing.assert_allclose(uniform, np.full(20, -6 * np.log(3)))
    found = uniform_log_likelihoods(town, town.policy(LOGIT_TRUTH))
    turns = town.choice.network.turns
    first = town.demonstrations[0]
    by_hand = 0.0
    for state in first.states:
        destination, link = divmod(int(state), town.network.n_links)
        on = turns[turns[:, 0] == link, 1]
        arrives = town.choice.leads_to[[link], [destination]][0] > 0
        by_hand -= np.log(1 if arrives else int(town.choice.has_route[destination][on].sum()))
    assert found[0] == pytest.approx(by_hand)


def test_the_policy_does_not_change_with_the_demonstrations_that_are_scored(problem, others):
    alone = [problem.score(others.subset([number]), [1.0, 1.0])[0] for number in range(5)]
    np.testing.assert_array_equal(alone, problem.score(others, [1.0, 1.0]))


def test_another_discount(problem):
    other = problem.with_gamma(0.5)
    assert (problem.gamma, other.gamma) == (0.9, 0.5)
    assert other.demonstrations is not None
    assert other.nll([1.0, 1.0]) != problem.nll([1.0, 1.0])
    again = other.with_gamma(0.9)
    assert again.nll([1.0, 1.0]) == problem.nll([1.0, 1.0])
    assert learned.build().with_gamma(0.5).gamma == 0.5


def test_another_discount_does_not_need_demonstrations(random_mdp):
    family = boirl.LinearReward(np.eye(4), dict.fromkeys("abcd", (-1.0, 1.0)))
    bare = boirl.TabularProblem(random_mdp(1), family).with_gamma(0.5)
    assert bare.gamma == 0.5
    assert not bare.has_demonstrations


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda one: one.score([[0, 1]]), "demonstrations are a list; expected boirl.Demo"),
        (lambda one: one.score(one.demonstrations, [9, 0]), "first = 9; expected"),
        (lambda one: one.with_gamma(1.5), r"gamma is 1.5; expected a number in \(0, 1\]"),
    ],
)
def test_wrong_input_is_named(problem, ask, message):
    with pytest.raises(InvalidInputError, match=message):
        ask(problem)


def test_demonstrations_of_another_world_are_refused(problem):
    strange = boirl.Demonstrations.from_arrays([[0, 7]], [[0, 0]])
    with pytest.raises(DemonstrationError, match="expected a number below 4"):
        problem.score(strange, [0.0, 0.0])


def test_what_cannot_be_asked_is_refused(town):
    maze = learned.build()
    with pytest.raises(InvalidInputError, match=r"learned, so .* pass theta="):
        maze.score(maze.demonstrations)
    with pytest.raises(InvalidInputError, match=r"optimal return .* expected a boirl.TabularProb"):
        maze.suboptimality(learned.TRUTH)
    with pytest.raises(InvalidInputError, match="optimal return in problem 'trips'"):
        town.suboptimality(LOGIT_TRUTH)
    with pytest.raises(InvalidInputError, match="gamma of problem 'trips' is 1 and cannot be"):
        town.with_gamma(0.9)
    with pytest.raises(InvalidInputError, match="not finitely many"):
        uniform_log_likelihoods(maze, learned.magnet(learned.TRUTH))
