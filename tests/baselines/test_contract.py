"""All baselines of boirl keep the contract; a new one joins by a line in CASES."""

import pytest

from boirl import baselines
from tests.contracts.baseline_contract import BaselineContract

CASES = {
    "random": ("random", {}),
    "tpe": ("tpe", {}),
    "subspaces": ("subspaces", {"dimension": 2, "round_size": 4}),
    "maxent": ("maxent", {}),
    "deep-maxent": ("deep-maxent", {}),
    "gp-irl": ("gp-irl", {"steps": 8}),
    "cr-irl": ("cr-irl", {"scale_policies": 4}),
    "deep-maxent on theta": ("deep-maxent", {"reward": "theta"}),
    "birl": ("birl", {}),
    "birl by policy walk": ("birl", {"sampler": "policy-walk"}),
    "gcl": ("gcl", {}),
    "gcl with a network": ("gcl", {"reward": "network"}),
    "airl": ("airl", {}),
    "gail": ("gail", {}),
    "airl with a network": ("airl", {"reward": "network"}),
}
"""Name and settings of baselines where dynamics are known."""

LEARNED = ("random", "gcl", "airl with a network", "gail")
"""Some of those that apply where policies are learned."""


def test_every_baseline_is_held_to_the_contract():
    assert {name for name, _ in CASES.values()} == set(baselines.BASELINES)


class TestKnownDynamics(BaselineContract):
    @pytest.fixture(params=CASES)
    def baseline(self, request):
        name, settings = CASES[request.param]
        return baselines.get(name, **settings)


class TestLearnedPolicies(BaselineContract):
    @pytest.fixture(params=LEARNED)
    def baseline(self, request):
        name, settings = CASES[request.param]
        return baselines.get(name, **settings)

    @pytest.fixture
    def problem(self):
        pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")
        from tests.baselines.small_maze import small_maze

        return small_maze()
