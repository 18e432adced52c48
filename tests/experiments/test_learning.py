"""Comparisons where policies are learned: their summaries, and one small run."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

from boirl.environments import point_mass_maze as maze
from boirl.errors import InvalidInputError
from boirl.experiments import EXPERIMENTS, fetch_search, maze_noise, maze_search, run_experiment
from boirl.experiments.trials import hard_start
from boirl.gym_problem import GymProblem
from boirl.policies.actions import CensoredGaussian, UniformMixture
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Solver
from boirl.types import silent

pytest.importorskip("numba", reason="the maze needs the extra boirl[rl]")


def lines(name, rows):
    columns = EXPERIMENTS[name].columns
    return [{head: show(row) for head, show in columns.items()} for row in rows]


def maze_row(hit, nll, distance, esor, seconds=10.0):
    return {
        "method": "rho-rbf",
        "evaluations_to_expert": hit,
        "nll": nll,
        "distance": distance,
        "best_esor": esor,
        "expert_esor": -2.0,
        "seconds": seconds,
    }


def test_searches_in_the_maze_are_summed_up_over_those_that_reach_the_expert():
    rows = [
        maze_row(4, [900.0, 30.0, 20.0], [1.0, 0.5, 0.1], -2.0, seconds=10.0),
        maze_row(10, [700.0, 40.0, 60.0], [1.0, 0.3, 0.3], -2.5, seconds=20.0),
        maze_row(None, [800.0, 90.0, 95.0], [1.0, 0.8, 0.8], -6.0, seconds=60.0),
    ]
    found = maze_search.summarise(rows)
    assert found == {
        "method": "rho-rbf",
        "trials": 3,
        "reached": pytest.approx(2 / 3),
        "after_mean": 7.0,
        "after_sd": 3.0,
        "best_nll": 50.0,
        "distance": pytest.approx(0.4),
        "esor_share": pytest.approx(1.75),
        "seconds": 30.0,
    }
    (line,) = lines("maze-search", [found])
    assert (line["reached"], line["after"], line["best NLL"]) == ("67%", "7.0 ± 3.0", "50.0")


def test_a_method_that_never_reaches_the_expert_has_no_mean():
    found = maze_search.summarise([maze_row(None, [9.0], [1.0], -6.0)])
    assert (found["reached"], found["after_mean"], found["after_sd"]) == (0.0, None, None)
    assert lines("maze-search", [found])[0]["after"] == "-"


def fetch_row(success, success_of_mode, nll, seconds=10.0):
    return {
        "method": "rbf",
        "success": success,
        "success_of_mode": success_of_mode,
        "nll": nll,
        "seconds": seconds,
    }


def test_searches_with_the_arm_are_summed_up_early_and_at_the_end():
    grows = [0.1 * min(number, 9) for number in range(15)]
    late = [0.0] * 11 + [0.5] * 4
    found = fetch_search.summarise(
        [fetch_row(grows, grows, [3.0] * 14 + [1.0]), fetch_row(late, [1.0] * 15, [5.0] * 15)]
    )
    assert found == {
        "method": "rbf",
        "trials": 2,
        # After ten evaluations beyond the start.
        "success_by_10_worst": 0.0,
        "success_by_10_mean": pytest.approx(0.45),
        "success_worst": 0.5,
        "success_mean": pytest.approx(0.7),
        "success_of_mode_mean": pytest.approx(0.95),
        "best_nll": 3.0,
        "seconds": 10.0,
    }
    (line,) = lines("fetch-search", [found])
    assert (line["success by 10"], line["worst"], line["at the end"]) == ("45%", "0%", "70%")


def test_a_short_search_with_the_arm_is_judged_by_its_last_evaluation():
    found = fetch_search.summarise([fetch_row([0.1, 0.3], [0.2, 0.4], [3.0, 2.0])])
    assert found["success_by_10_mean"] == found["success_mean"] == 0.3


def test_failed_evaluations_are_not_the_best_nll():
    failed = [math.nan, 3.0, 2.0]
    assert maze_search.summarise([maze_row(1, failed, [0.1] * 3, -2.0)])["best_nll"] == 2.0
    assert fetch_search.summarise([fetch_row([0.1] * 3, [0.1] * 3, failed)])["best_nll"] == 2.0


@dataclass(frozen=True)
class Pull(Solver):
    """Pulls the ball towards the target; some targets cannot be learned."""

    fails_above: float = 2.0

    def solve(self, task, run, report=silent):
        if task.theta[0] > self.fails_above:
            raise ZeroDivisionError("not this one")
        return NetworkPolicy(
            weights=(-6.0 * np.eye(2),),
            biases=(6.0 * np.asarray(task.theta),),
            activation="tanh",
            actions=UniformMixture(CensoredGaussian((-1.0,) * 2, (1.0,) * 2)),
            log_sd=np.full(2, -1.0),
        )


def build(solver=None):
    simulator = maze.PointMassMaze()
    drawn = simulator.roll_out(None, 10, 20, np.random.default_rng(0))
    options = {"gamma": maze.GAMMA, "horizon": 20, "workers": 0}
    return GymProblem(simulator, maze.TargetReward(), drawn, solver or Pull(), **options)


def noise_rows(spread, repeats, seed=0):
    """Evaluations of a bowl around the first target, noisy by so much."""
    rng = np.random.default_rng(seed)
    others = rng.uniform(-1.0, 1.0, (maze_noise.OTHERS, 2)).tolist()
    thetas = [list(target) for target in maze_noise.TARGETS for _ in range(repeats)] + others
    return [
        {
            "theta": theta,
            "nll": 100.0 + 80.0 * math.dist(theta, maze_noise.TARGETS[0]) + spread * rng.normal(),
            "nll_se": spread,
        }
        for theta in thetas
    ]


def test_the_noise_that_was_measured_is_beside_that_of_the_posterior():
    rows = noise_rows(spread=4.0, repeats=12)
    found = maze_noise.summarise(build(), rows)
    assert [tuple(row["target"]) for row in found] == list(maze_noise.TARGETS)
    for row in found:
        own = [one["nll"] for one in rows if one["theta"] == row["target"]]
        assert row["evaluations"] == len(own) == 12
        assert row["nll"] == pytest.approx(np.mean(own))
        assert row["above_truth"] == pytest.approx(row["nll"] - found[0]["nll"])
        assert row["measured_spread"] == pytest.approx(np.std(own, ddof=1))
        assert row["measured_error_of_the_mean"] == pytest.approx(np.std(own, ddof=1) / 12**0.5)
        assert row["ratio"] == pytest.approx(
            row["posterior_sd_of_an_evaluation"] / row["measured_spread"]
        )
        # The evaluations themselves are noisier than what they tell of together.
        assert row["posterior_sd_of_the_nll"] < row["posterior_sd_of_an_evaluation"]
        assert 0.4 < row["ratio"] < 2.5
    assert lines("maze-noise", found)[0]["target"] == "0.3, 0.5"


def test_the_spread_of_either_half_is_foretold_by_the_other():
    rows = noise_rows(spread=4.0, repeats=24)
    found = maze_noise.summarise(build(), rows)
    for row in found:
        own = [one["nll"] for one in rows if one["theta"] == row["target"]]
        for one, unseen in zip(row["held_out"], (own[12:], own[:12]), strict=True):
            assert one["measured_spread"] == pytest.approx(np.std(unseen, ddof=1))
            assert one["ratio"] == pytest.approx(one["predicted_sd"] / one["measured_spread"])
            assert 0.4 < one["ratio"] < 2.5
        assert row["unrepeated"]["measured_spread"] == pytest.approx(np.std(own[1:], ddof=1))
    first, second = found[0]["held_out"]
    shown = lines("maze-noise", found)[0]["held-out ratio"]
    assert shown == f"{first['ratio']:.2f}, {second['ratio']:.2f}"


def test_what_is_foretold_does_not_know_what_is_held_out():
    rows = noise_rows(spread=4.0, repeats=6)
    changed = [dict(row) for row in rows]
    for number in range(6 * len(maze_noise.TARGETS)):
        if number % 6 >= 3:
            changed[number]["nll"] += 30.0 * (-1.0) ** number
            changed[number]["nll_se"] = 30.0
    before, after = (maze_noise.summarise(build(), some) for some in (rows, changed))
    for old, new in zip(before, after, strict=True):
        assert new["unrepeated"]["predicted_sd"] == old["unrepeated"]["predicted_sd"]
        first, second = zip(old["held_out"], new["held_out"], strict=True)
        assert first[1]["predicted_sd"] == first[0]["predicted_sd"]
        assert first[1]["measured_spread"] > 3.0 * first[0]["measured_spread"]
        assert second[1]["predicted_sd"] > 2.0 * second[0]["predicted_sd"]
        assert second[1]["measured_spread"] == second[0]["measured_spread"]


def test_a_single_evaluation_of_each_target_has_no_spread():
    found = maze_noise.summarise(build(), noise_rows(spread=4.0, repeats=1))
    assert [row["measured_spread"] for row in found] == [None] * len(maze_noise.TARGETS)
    (line, *_) = lines("maze-noise", found)
    assert (line["ratio"], line["ratio without repeats"]) == ("-", "-")
    assert (line["held-out spread"], line["held-out ratio"]) == ("-, -", "-, -")


def test_failed_evaluations_do_not_count_in_the_noise():
    rows = noise_rows(spread=4.0, repeats=6)
    rows[0]["nll"], rows[-1]["nll"] = math.nan, math.nan
    found = maze_noise.summarise(build(), rows)
    assert [row["evaluations"] for row in found] == [5] + [6] * (len(maze_noise.TARGETS) - 1)


def test_a_hard_start_explains_badly():
    problem = build()
    start = hard_start(problem, 0, 25.0, at_once=1)
    assert problem.nll(start) > 25.0
    np.testing.assert_array_equal(hard_start(problem, 0, 25.0, at_once=1), start)


def test_a_hard_start_passes_by_what_cannot_be_learned():
    start = hard_start(build(Pull(fails_above=-0.6)), 0, 0.0, at_once=1)
    assert start[0] <= -0.6


def test_a_small_search_in_the_maze(tmp_path, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(maze_search, "HARD_NLL", -1e9)
    # In this process, which imports what training takes once.
    monkeypatch.setattr("boirl.workers.can_fork", lambda: False)
    options = {"steps": 2_000, "evaluations": 3, "methods": ["rho-rbf"], "seeds": [0]}
    told = []
    (line,) = run_experiment("maze-search", tmp_path, options, lambda *done: told.append(done))
    assert line["method"] == "rho-rbf"
    assert told == [(1, 1)]
    (row,) = json.loads((tmp_path / "trials.json").read_text())
    assert len(row["nll"]) == len(row["thetas"]) == len(row["distance"]) == 3
    assert np.isfinite(row["nll"]).all()
    truth = np.array([maze.TRUTH["x"], maze.TRUTH["y"]])
    best = row["thetas"][int(np.argmin(row["nll"]))]
    assert row["distance"][-1] == pytest.approx(np.linalg.norm(best - truth))
    (summary,) = json.loads((tmp_path / "summary.json").read_text())
    assert summary["best_nll"] == min(row["nll"])
    # What is finished is not run again.
    monkeypatch.setattr("boirl.experiments.trials.explore", None)
    assert run_experiment("maze-search", tmp_path, options) == [line]


@pytest.mark.parametrize("name", ["maze-search", "fetch-search"])
def test_a_method_that_does_not_exist_is_refused_before_anything_is_learned(name, tmp_path):
    with pytest.raises(InvalidInputError, match="there is no method nosuch; expected some of rho"):
        run_experiment(name, tmp_path, {"methods": ["nosuch"]})


@pytest.mark.parametrize("name", ["maze-noise", "fetch-solvers"])
def test_these_experiments_have_no_methods(name, tmp_path):
    with pytest.raises(InvalidInputError, match=f"'{name}' takes no methods"):
        run_experiment(name, tmp_path, {"methods": ["rbf"]})
