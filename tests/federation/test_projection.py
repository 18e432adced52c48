"""The projection of a federation, held to the contract of projections."""

import numpy as np
import pytest

from boirl.federation import FederatedProblem
from boirl.federation.projection import FederatedLogRho
from boirl.projections import LogRho, sample_rollouts
from tests.contracts.projection_contract import ProjectionContract

PLACES = [(1, 0), (0, 1), (1, 28), (0, 0), (0, 19)]


class TestFederatedLogRho(ProjectionContract):
    @pytest.fixture
    def projection(self, problem):
        sites = FederatedProblem.split(problem, [20, 30]).sites
        return FederatedLogRho.drawn(sites, PLACES, 5, np.random.default_rng(5401))


def test_roll_outs_of_policies_join_as_they_do_here(gridworld):
    chosen = gridworld.demonstrations.subset([20 * site + index for site, index in PLACES])
    rng = np.random.default_rng(5402)
    rollouts = sample_rollouts(gridworld, chosen, 2, rng)
    theta = (1.25, 5.0, 0.0)
    policy = gridworld.policy_of(gridworld.evaluate(theta))
    more = sample_rollouts(gridworld, chosen, 3, np.random.default_rng(5403), [policy])
    together = [
        type(one).concatenate([one, other]) for one, other in zip(rollouts, more, strict=True)
    ]
    pooled = LogRho(gridworld, chosen, together, compares_policies=True)

    sites = FederatedProblem.split(gridworld, [20, 30]).sites
    start = FederatedLogRho.drawn(sites, PLACES, 2, np.random.default_rng(5402))
    grown = start.grown([theta], 3, [np.random.default_rng(5403)])
    thetas = gridworld.box.from_unit(np.random.default_rng(5404).random((4, 3)))
    found = grown.transform(thetas)
    assert found.numpy() == pytest.approx(pooled.transform(thetas).numpy(), abs=1e-9)
    assert grown.compares_policies
    assert grown.fingerprint() != start.fingerprint()
