"""The real road network agrees with numbers computed independently of this project."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boirl

SHARED = Path(__file__).parents[3] / "shared"
if not (SHARED / "borlange").exists():
    pytest.skip("the Borlange data are not at ../shared/borlange", allow_module_level=True)


@pytest.fixture(scope="module")
def golden():
    with np.load(SHARED / "golden" / "borlange_virtual.npz") as file:
        return dict(file)


@pytest.fixture(scope="module", params=["max", "logsumexp"])
def problem(request, golden):
    problem = boirl.load_problem(
        "borlange-virtual", data=str(SHARED / "borlange"), bellman=request.param
    )
    demonstrations = boirl.Demonstrations.from_arrays(golden["demo_states"], golden["demo_actions"])
    return problem.with_demonstrations(demonstrations)


def test_states_features_and_next_states_are_equal(problem, golden):
    assert problem.mdp.n_states == 20199
    np.testing.assert_array_equal(problem.mdp.next_states, golden["next_state"])
    states = boirl.rewards.Transitions(np.arange(20199))
    np.testing.assert_array_equal(problem.reward.features(states), golden["features"])


def test_nll_and_esor_agree(problem, golden):
    operator = problem.solver.bellman
    nll = [problem.evaluate(theta).nll for theta in golden["thetas"]]
    np.testing.assert_allclose(nll, golden[f"nll_{operator}"], atol=1e-6)
    np.testing.assert_allclose(
        problem.esor(golden["thetas"]), golden[f"esor_{operator}"], atol=1e-6
    )


@pytest.mark.parametrize(("weight", "name"), [(-20.0, "log_rho"), (0.0, "log_rho_uturn_dropped")])
def test_log_rho_agrees(problem, golden, weight, name):
    projected = replace(problem, reward=problem.reward.fix(**{"u-turn": weight}))
    demonstrations = boirl.Demonstrations.from_arrays(
        golden["rho_demo_states"], golden["rho_demo_actions"]
    )
    rollouts = [
        boirl.Demonstrations.from_arrays(states, actions)
        for states, actions in zip(
            golden["rollout_states"].swapaxes(0, 1),
            golden["rollout_actions"].swapaxes(0, 1),
            strict=True,
        )
    ]
    latent = boirl.projections.LogRho(projected, demonstrations, rollouts)
    np.testing.assert_allclose(latent.transform(golden["thetas"]), golden[name], atol=1e-6)


def test_the_trips_of_people_are_read():
    problem = boirl.load_problem("borlange-real", data=str(SHARED / "borlange"))
    assert len(problem.demonstrations) == 54
    assert np.isfinite(problem.evaluate((-2, -1, -1)).nll)


def test_virtual_demonstrations_follow_from_the_seed():
    options: dict[str, Any] = {"data": str(SHARED / "borlange"), "box": "narrow"}
    one, same, other = (
        boirl.load_problem("borlange-virtual", seed=seed, **options) for seed in (0, 0, 1)
    )
    assert len(one.demonstrations) == 635
    np.testing.assert_array_equal(one.demonstrations.states, same.demonstrations.states)
    assert not np.array_equal(one.demonstrations.starts, other.demonstrations.starts)
    np.testing.assert_array_equal(one.box.high, 0.0)
