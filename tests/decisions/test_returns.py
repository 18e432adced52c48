"""What policies earn under many rewards."""

import numpy as np
import pytest

from boirl.decisions.ensemble import solved_ensemble
from boirl.decisions.returns import DrawnPolicy, SampledReturns, TabularReturns, deterministic
from boirl.errors import InvalidInputError
from boirl.policies import TabularPolicy, expected_return

LONG = 400


def test_returns_are_those_of_following_the_policy(junction, two):
    returns = TabularReturns(two, junction.mdp.start)
    policy = TabularPolicy.uniform(junction.mdp)
    for number in range(2):
        exact = expected_return(
            junction.mdp,
            policy.log_probabilities[None],
            two.rewards[number],
            junction.mdp.start,
            LONG,
        )
        assert returns.of(policy)[number] == pytest.approx(exact[0])


def test_nothing_earns_more_than_the_best_and_a_best_response_earns_it(junction, two):
    returns = TabularReturns(two, junction.mdp.start)
    for number, weights in enumerate(np.eye(2)):
        assert returns.of(returns.best_response(weights))[number] == pytest.approx(
            returns.best[number]
        )
    assert (returns.of(TabularPolicy.uniform(junction.mdp)) < returns.best).all()


@pytest.mark.parametrize("bellman", ["boltzmann", "logsumexp"])
def test_the_best_does_not_depend_on_the_operator(random_problem, bellman):
    thetas = np.array([[1.0, -0.5], [-1.0, 1.5]])
    found = []
    for operator in ("max", bellman):
        problem = random_problem(1000, operator)
        found.append(TabularReturns(solved_ensemble(problem, thetas), problem.mdp.start).best)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_a_joined_policy_earns_the_mean(junction, two):
    returns = TabularReturns(two, junction.mdp.start)
    pair = [returns.best_response(weights) for weights in np.eye(2)]
    shares = np.array([0.3, 0.7])
    together = returns.of(returns.join(pair, shares))
    np.testing.assert_allclose(together, shares @ [returns.of(one) for one in pair])


def test_where_nothing_is_solved_kept_policies_are_compared(two):
    returns = SampledReturns(two, np.array([0]), seed=0)
    assert returns.best_response(np.ones(2)) is None
    np.testing.assert_array_equal(returns.of(two.policies[1]), returns.table[1])
    assert (returns.best >= returns.table).all()
    joined = returns.join(list(two.policies), np.array([0.5, 0.5]))
    assert isinstance(joined, DrawnPolicy)
    assert joined.draw(np.random.default_rng(0)) in two.policies
    assert returns.join([two.policies[0]], np.ones(1)) is two.policies[0]


def test_a_deterministic_policy_takes_the_best_action():
    policy = deterministic(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([False, True]))
    np.testing.assert_array_equal(policy.probabilities, [[0.0, 1.0], [0.0, 0.0]])


def test_a_policy_is_drawn_for_each_episode(two):
    """From the junction, one goes left and the other goes right."""
    joined = DrawnPolicy(two.policies, np.array([0.25, 0.75]))
    starts = np.array([4, 4, 0, 4] * 100)
    drawn = joined.roll_out(two.problem, starts, 6, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn.starts, starts)
    left = np.array([6 in one.states for one in drawn])[starts == 4]
    assert 0.15 < left.mean() < 0.4
    with pytest.raises(InvalidInputError, match="one for each episode"):
        joined.sample(starts, np.random.default_rng(0))
