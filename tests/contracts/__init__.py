"""Contracts: what every class of a kind must do.

A new class is held to its contract by a subclass with a fixture or two; see the module of each
contract.
"""

import pytest

pytest.register_assert_rewrite(
    "tests.contracts.baseline_contract",
    "tests.contracts.problem_contract",
    "tests.contracts.projection_contract",
    "tests.contracts.reward_contract",
    "tests.contracts.simulator_contract",
    "tests.contracts.solver_contract",
)
