"""What evaluations keep of policies: flows are those of the weights they were computed with."""

import numpy as np

from boirl.domains.roads.kept_policy import KEPT_VALUES, KeptRoutePolicy, kept_arrays

from .conftest import LOGIT_TRUTH


def test_flows_are_kept_for_one_set_of_weights(logit_problem):
    problem = logit_problem
    policy, starts = problem.policy(LOGIT_TRUTH), problem.demonstrations.starts
    weights = np.linspace(0.5, 1.5, len(starts))
    flows = policy.turn_flows(starts, weights)
    states = np.unique(problem.demonstrations.states)
    table = policy.log_probabilities(states)
    arrays = kept_arrays(states, table, starts, flows, policy.values, weights)
    assert policy.values.size <= KEPT_VALUES
    kept = KeptRoutePolicy.restore(problem.choice, policy.utilities, arrays)
    assert kept.turn_flows(starts, weights) is flows
    np.testing.assert_allclose(kept.turn_flows(starts), policy.turn_flows(starts))
    np.testing.assert_allclose(
        kept.turn_flows(starts, weights[::-1]), policy.turn_flows(starts, weights[::-1])
    )
    np.testing.assert_array_equal(kept.log_probabilities(states), table)


def test_weights_count_travellers(logit_problem):
    problem = logit_problem
    policy, starts = problem.policy(LOGIT_TRUTH), problem.demonstrations.starts
    twice = policy.turn_flows(np.append(starts, starts[:5]))
    weights = np.ones(len(starts))
    weights[:5] = 2.0
    np.testing.assert_allclose(policy.turn_flows(starts, weights), twice, rtol=1e-10)
