"""Problems on roads in files: a result opens with its network, and its maps are drawn."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import boirl
from boirl.domains.roads.problem import BOXES, RoadProblem
from boirl.domains.roads.recursive_logit import RecursiveLogitProblem
from boirl.domains.roads.route_choice import RoutePolicy
from boirl.domains.roads.saved import RECURSIVE_LOGIT, ROADS
from boirl.drawing import save_pictures
from boirl.errors import CodeNeededError
from boirl.problem.saved import load_saved_problem, save_problem

from .conftest import LOGIT_TRUTH, town_with_trips

KINDS = ("road_problem", "recursive_logit")


def one_destination(ends=True):
    network, trips = town_with_trips(3, ends=ends)
    chosen = [links for links in trips.to(0) if len(links) > 1]
    return boirl.road_problem(network, 0, chosen, BOXES["narrow"], "logsumexp")


def many_destinations(ends=True):
    return boirl.recursive_logit_problem(*town_with_trips(3, ends=ends))


@pytest.fixture(scope="module", params=KINDS)
def problem(request):
    return one_destination() if request.param == "road_problem" else many_destinations()


@pytest.fixture(scope="module")
def found(problem):
    return boirl.explore(problem, evaluations=6, seed=1000, kernel="rbf")


@pytest.fixture
def _nothing_is_solved(monkeypatch):
    def refuse(*given):
        raise AssertionError("this solves")

    monkeypatch.setattr(RoutePolicy, "solve", refuse)
    monkeypatch.setattr(boirl.TabularSolver, "solve_batch", refuse)


def test_kinds_are_those_of_their_classes():
    assert (ROADS.type, RECURSIVE_LOGIT.type) == (RoadProblem, RecursiveLogitProblem)
    assert save_problem(one_destination()).kind == "roads"
    assert save_problem(many_destinations()).kind == "recursive-logit"


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("build", [one_destination, many_destinations])
def test_a_problem_comes_back_with_its_network(build, ends):
    problem = build(ends)
    again: Any = load_saved_problem(save_problem(problem))
    assert type(again) is type(problem)
    assert again.fingerprint() == problem.fingerprint()
    assert again.box.names == problem.box.names
    for name in ("times", "turns", "angles", "layout"):
        np.testing.assert_array_equal(
            getattr(again.network, name), getattr(problem.network, name), err_msg=name
        )
    assert (again.network.ends is None) == (not ends)
    assert set(again.network.destinations) == {0, 7, 9}
    for place in (0, 7, 9):
        np.testing.assert_array_equal(again.network.feeders(place), problem.network.feeders(place))
    theta = np.clip(LOGIT_TRUTH[: problem.box.dimension], problem.box.low, problem.box.high)
    assert again.evaluate(theta).nll == problem.evaluate(theta).nll


def test_fixed_weights_and_a_truth_come_back():
    problem = many_destinations()
    fixed = replace(
        problem, reward=problem.reward.fix(**{"u-turn": -4.0}), truth=tuple(LOGIT_TRUTH[:3])
    )
    again = load_saved_problem(save_problem(fixed))
    assert again.box.names == ("time", "left", "constant")
    assert again.truth == fixed.truth
    assert again.evaluate(LOGIT_TRUTH[:3]).nll == problem.evaluate(LOGIT_TRUTH).nll


UTILITIES = {
    "time": (-5.0, 0.0),
    "length*right": (-3.0, 1.0),
    "constant": (-4.0, 0.0),
    "u-turn": -4,
}
THETA = (-2.0, -0.5, -1.0)


def own_utilities(at_destination="absorb"):
    network, trips = town_with_trips(3)
    names = np.array([f"person {number % 5}" for number in range(len(trips))])
    panel = replace(trips, travellers=names, weights=1.0 + np.arange(len(trips)))
    return boirl.recursive_logit_problem(
        network, panel, utilities=UTILITIES, at_destination=at_destination
    )


@pytest.mark.parametrize("at_destination", ["absorb", "pass"])
def test_utilities_weights_and_travellers_come_back(at_destination):
    problem = own_utilities(at_destination)
    again: Any = load_saved_problem(save_problem(problem))
    assert again.fingerprint() == problem.fingerprint()
    assert again.choice.at_destination == at_destination
    assert again.box.names == ("time", "length*right", "constant")
    assert again.network.attribute_names == problem.network.attribute_names
    np.testing.assert_array_equal(
        again.demonstrations.travellers, problem.demonstrations.travellers
    )
    np.testing.assert_array_equal(again.demonstrations.weights, problem.demonstrations.weights)
    assert again.evaluate(THETA).nll == problem.evaluate(THETA).nll


def test_a_result_with_utilities_weights_and_travellers_opens(tmp_path):
    found = boirl.explore(own_utilities(), evaluations=4, seed=1000, kernel="rbf")
    found.save(tmp_path / "rewards.npz")
    loaded: Any = boirl.load_result(tmp_path / "rewards.npz")
    assert str(loaded) == str(found)
    assert loaded.problem.fingerprint() == found.problem.fingerprint()
    save_pictures(loaded, tmp_path)
    assert (tmp_path / "visits.png").exists()


def test_one_destination_with_utilities_comes_back():
    network, trips = town_with_trips(3)
    chosen = [links for links in trips.to(0) if len(links) > 1]
    problem = boirl.road_problem(network, 0, chosen, bellman="logsumexp", utilities=UTILITIES)
    again: Any = load_saved_problem(save_problem(problem))
    assert again.fingerprint() == problem.fingerprint()
    np.testing.assert_array_equal(
        again.network.link_attributes["length"], network.link_attributes["length"]
    )


def test_other_families_come_back_where_they_need_no_code():
    problem = many_destinations()
    choice = problem.choice
    table = np.zeros((choice.n_states, choice.n_actions, 1))
    states, actions = np.nonzero(choice.next_states(*np.indices(table.shape[:2])) >= 0)
    table[states, actions, 0] = choice.turns_of(states, actions) >= 0
    family = boirl.LinearReward(table, {"constant": (-4.0, -1.5)})
    own = replace(problem, reward=family)
    again: Any = load_saved_problem(save_problem(own))
    assert again.evaluate([-2.0]).nll == own.evaluate([-2.0]).nll
    assert again.fingerprint() == own.fingerprint()
    coded = boirl.CallableReward(
        lambda theta, steps: (
            theta * torch.tensor(choice.turns_of(steps.states, steps.actions) >= 0)
        ),
        {"constant": (-4.0, -1.5)},
        "state_action",
    )
    with pytest.raises(CodeNeededError, match="computed by code"):
        save_problem(replace(problem, reward=coded))


def test_files_that_do_not_say_were_written_when_trips_passed():
    saved = save_problem(boirl.recursive_logit_problem(*town_with_trips(3), at_destination="pass"))
    facts = {name: fact for name, fact in saved.facts.items() if name != "at_destination"}
    again: Any = load_saved_problem(saved._replace(facts=facts))
    assert again.choice.at_destination == "pass"


@pytest.mark.usefixtures("_nothing_is_solved")
def test_a_result_opens_without_code_and_draws_its_maps(found, tmp_path):
    found.save(tmp_path / "rewards.npz")
    loaded: Any = boirl.load_result(tmp_path / "rewards.npz")
    assert type(loaded.problem) is type(found.problem)
    assert loaded.problem.name == found.problem.name
    assert str(loaded) == str(found)
    paths = save_pictures(loaded, tmp_path)
    assert {"trips.png", "visits.png"} <= {path.name for path in paths}
    assert all(path.stat().st_size > 10_000 for path in paths)
    for index in found.indices_within(0.1):
        np.testing.assert_array_equal(
            loaded.problem.expected_visits(loaded.policy(index)),
            found.problem.expected_visits(found.policy(index)),
        )


def test_a_baseline_opens_without_code(problem, tmp_path):
    run = boirl.baselines.get("random").run(problem, evaluations=4, seed=1000)
    run.save(tmp_path / "run.npz")
    loaded: Any = boirl.load_result(tmp_path / "run.npz")
    assert str(loaded) == str(run)
    np.testing.assert_array_equal(
        loaded.problem.expected_visits(loaded.policy(loaded.best_index)),
        problem.expected_visits(run.policy(run.best_index)),
    )


def test_a_town_by_name_is_saved_with_its_network(town_problem, tmp_path):
    again: Any = load_saved_problem(save_problem(town_problem))
    assert again.truth == town_problem.truth
    assert again.destination == town_problem.destination
    np.testing.assert_array_equal(again.demonstrated_visits(), town_problem.demonstrated_visits())
