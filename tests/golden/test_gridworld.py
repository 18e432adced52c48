"""Numbers computed independently of this project; see ../shared/golden/README.md."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boirl.demonstrations import Demonstrations
from boirl.policies import TabularSolver
from boirl.problem.catalogue import load_problem
from boirl.projections import LogRho

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
CLOSE: dict[str, Any] = {"rtol": 0.0, "atol": 1e-8}

pytestmark = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason=f"there are no golden numbers: {GOLDEN}"
)


@pytest.fixture(
    scope="module", params=[("gridworld3d", "gridworld"), ("gridworld2d", "gridworld2d")]
)
def golden(request):
    """The golden arrays and the problem they are about, with their demonstrations."""
    file, name = request.param
    with np.load(GOLDEN / f"{file}.npz") as arrays:
        numbers = dict(arrays)
    demonstrations = Demonstrations.from_arrays(numbers["demo_states"], numbers["demo_actions"])
    return numbers, load_problem(name).with_demonstrations(demonstrations)


@pytest.fixture(scope="module", params=["max", "logsumexp"])
def solved(request, golden):
    """Golden NLL and ESOR under one operator, and the problem with that operator."""
    numbers, problem = golden
    problem = replace(problem, solver=TabularSolver(request.param))
    return numbers[f"nll_{request.param}"], numbers[f"esor_{request.param}"], problem


def test_nll_of_one_theta_at_a_time(golden, solved):
    nll, _, problem = solved
    found = [problem.evaluate(theta).nll for theta in golden[0]["thetas"]]
    np.testing.assert_allclose(found, nll, **CLOSE)


def test_nll_of_a_batch(golden, solved):
    nll, _, problem = solved
    np.testing.assert_allclose(problem.nll_batch(golden[0]["thetas"]), nll, **CLOSE)


def test_esor(golden, solved):
    _, esor, problem = solved
    np.testing.assert_allclose(problem.esor(golden[0]["thetas"]), esor, **CLOSE)


def test_log_rho(golden):
    numbers, problem = golden
    demonstrations = Demonstrations.from_arrays(
        numbers["rho_demo_states"], numbers["rho_demo_actions"]
    )
    rollouts = [
        Demonstrations.from_arrays(
            numbers["rollout_states"][:, k], numbers["rollout_actions"][:, k]
        )
        for k in range(len(demonstrations))
    ]
    found = LogRho(problem, demonstrations, rollouts).transform(numbers["thetas"])
    np.testing.assert_allclose(found.numpy(), numbers["log_rho"], **CLOSE)
