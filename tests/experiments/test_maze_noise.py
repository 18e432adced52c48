"""The noise of learning in the maze: what is measured, and what the posterior says of it."""

import json
import math

import numpy as np
import pytest

from boirl.experiments import EXPERIMENTS, maze_noise
from tests.experiments.pulled_maze import Pull, pulled_maze

pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")


def lines(rows):
    columns = EXPERIMENTS["maze-noise"].columns
    return [{head: show(row) for head, show in columns.items()} for row in rows]


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


@pytest.fixture(scope="module")
def repeated():
    """Rows of 24 evaluations of each target, and their summary."""
    rows = noise_rows(spread=4.0, repeats=24)
    return rows, maze_noise.summarise(pulled_maze(), rows)


def test_the_noise_that_was_measured_is_beside_that_of_the_posterior(repeated):
    rows, found = repeated
    assert [tuple(row["target"]) for row in found] == list(maze_noise.TARGETS)
    for row in found:
        own = [one["nll"] for one in rows if one["theta"] == row["target"]]
        assert row["evaluations"] == len(own) == 24
        assert row["nll"] == pytest.approx(np.mean(own))
        assert row["above_truth"] == pytest.approx(row["nll"] - found[0]["nll"])
        assert row["measured_spread"] == pytest.approx(np.std(own, ddof=1))
        assert row["measured_error_of_the_mean"] == pytest.approx(np.std(own, ddof=1) / 24**0.5)
        assert row["ratio"] == pytest.approx(
            row["posterior_sd_of_an_evaluation"] / row["measured_spread"]
        )
        # The evaluations themselves are noisier than what they tell of together.
        assert row["posterior_sd_of_the_nll"] < row["posterior_sd_of_an_evaluation"]
        assert 0.4 < row["ratio"] < 2.5
    assert lines(found)[0]["target"] == "0.3, 0.5"


def test_the_spread_of_either_half_is_predicted_by_the_other(repeated):
    rows, found = repeated
    for row in found:
        own = [one["nll"] for one in rows if one["theta"] == row["target"]]
        for one, unseen in zip(row["held_out"], (own[12:], own[:12]), strict=True):
            assert one["measured_spread"] == pytest.approx(np.std(unseen, ddof=1))
            assert one["ratio"] == pytest.approx(one["predicted_sd"] / one["measured_spread"])
            assert 0.4 < one["ratio"] < 2.5
        assert row["unrepeated"]["measured_spread"] == pytest.approx(np.std(own[1:], ddof=1))
    first, second = found[0]["held_out"]
    shown = lines(found)[0]["held-out ratio"]
    assert shown == f"{first['ratio']:.2f}, {second['ratio']:.2f}"


def test_what_is_predicted_does_not_know_what_is_held_out():
    rows = noise_rows(spread=4.0, repeats=6)
    changed = [dict(row) for row in rows]
    for number in range(6 * len(maze_noise.TARGETS)):
        if number % 6 >= 3:
            changed[number]["nll"] += 30.0 * (-1.0) ** number
            changed[number]["nll_se"] = 30.0
    before, after = (maze_noise.summarise(pulled_maze(), some) for some in (rows, changed))
    for old, new in zip(before, after, strict=True):
        assert new["unrepeated"]["predicted_sd"] == old["unrepeated"]["predicted_sd"]
        first, second = zip(old["held_out"], new["held_out"], strict=True)
        assert first[1]["predicted_sd"] == first[0]["predicted_sd"]
        assert first[1]["measured_spread"] > 3.0 * first[0]["measured_spread"]
        assert second[1]["predicted_sd"] > 2.0 * second[0]["predicted_sd"]
        assert second[1]["measured_spread"] == second[0]["measured_spread"]


def test_a_single_evaluation_of_each_target_has_no_spread():
    found = maze_noise.summarise(pulled_maze(), noise_rows(spread=4.0, repeats=1))
    assert [row["measured_spread"] for row in found] == [None] * len(maze_noise.TARGETS)
    (line, *_) = lines(found)
    assert (line["ratio"], line["ratio without repeats"]) == ("-", "-")
    assert (line["held-out spread"], line["held-out ratio"]) == ("-, -", "-, -")


def test_failed_evaluations_do_not_count_in_the_noise():
    rows = noise_rows(spread=4.0, repeats=6)
    rows[0]["nll"], rows[-1]["nll"] = math.nan, math.nan
    found = maze_noise.summarise(pulled_maze(), rows)
    assert [row["evaluations"] for row in found] == [5] + [6] * (len(maze_noise.TARGETS) - 1)


def test_a_small_run(tmp_path, monkeypatch):
    asked = []

    def load_problem(name, **options):
        asked.append((name, options))
        return pulled_maze(Pull(jitter=0.1))

    monkeypatch.setattr(maze_noise, "load_problem", load_problem)
    done = []
    found = maze_noise.run(tmp_path, (0, 1), lambda *one: done.append(one), steps=500)
    assert asked == [("point-mass-maze", {"steps": 500, "workers": 0})]
    total = 2 * len(maze_noise.TARGETS) + maze_noise.OTHERS
    assert done == [(number, total) for number in range(1, total + 1)]
    rows = json.loads((tmp_path / "trials.json").read_text())
    assert len(rows) == total
    first = pulled_maze(Pull(jitter=0.1)).evaluate(maze_noise.TARGETS[0], seed=0)
    assert (rows[0]["nll"], rows[0]["seed"]) == (first.nll, 0)
    assert json.loads((tmp_path / "summary.json").read_text()) == found
    assert [row["evaluations"] for row in found] == [2] * len(maze_noise.TARGETS)
    assert all(row["measured_spread"] > 0.0 for row in found)

    # What is finished is not evaluated again.
    def refuse(*arguments):
        raise AssertionError("evaluated again")

    monkeypatch.setattr(maze_noise, "_evaluate", refuse)
    assert maze_noise.run(tmp_path, (0, 1), steps=500) == found
