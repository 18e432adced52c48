"""Rust's bus engines agree with numbers computed independently of this project."""

import sys
from pathlib import Path

import numpy as np
import pytest

import boirl

SHARED = Path(__file__).parents[3] / "shared"
RECORDS = SHARED / "data" / "rust_bus" / "buses.csv"
if not RECORDS.exists():
    pytest.skip("the bus records are not at ../shared/data/rust_bus", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from solver_speed import bus_problem  # noqa: E402


@pytest.fixture(scope="module")
def problem():
    return bus_problem(RECORDS)


@pytest.mark.filterwarnings("ignore:.*demonstrated steps cannot happen:boirl.errors.BoirlWarning")
def test_the_log_likelihood_at_the_published_estimate(problem):
    evaluation = problem.evaluate((2.293, 10.075))
    assert evaluation.log_likelihoods.sum() == pytest.approx(-163.7563158498, abs=1e-6)
    assert sum(problem.demonstrations.lengths) == 4329
    assert evaluation.facts["sweeps"] < 30


def test_all_methods_agree(problem):
    rewards = problem.mdp.expected_rewards(problem.reward, np.array([[2.293, 10.075]]))[0]
    values = [
        boirl.TabularSolver("logsumexp", method=method).solve(problem.mdp, rewards).values
        for method in ("auto", "newton")
    ]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-12)
