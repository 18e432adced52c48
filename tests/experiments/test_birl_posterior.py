"""A small version of the experiment on the posterior of Bayesian IRL."""

import json

import numpy as np
import pytest

from boirl.cache import CACHE_VARIABLE
from boirl.errors import InvalidInputError
from boirl.experiments import EXPERIMENTS, birl_posterior, run_experiment

STEPS = {"differential-evolution": 256, "policy-walk": 512}
CELLS = (5, 5, 1)


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


def small(out, **options):
    return birl_posterior.run(out, seeds=(1000,), steps=STEPS, cells=CELLS, **options)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a small version, and its lines."""
    out = tmp_path_factory.mktemp("birl-posterior")
    return out, small(out)


def test_every_sampler_has_a_line_that_can_be_printed(finished):
    out, lines = finished
    assert [line["method"] for line in lines] == list(STEPS)
    assert json.loads((out / "summary.json").read_text()) == lines
    for line in lines:
        assert line["trials"] == 1
        for show in EXPERIMENTS["birl-posterior"].columns.values():
            assert show(line)
    assert (out / "posterior.png").stat().st_size > 10_000


def test_samples_are_the_posterior(finished):
    line, walk = finished[1]
    assert (line["close"], line["mixed"]) == (1.0, 1.0)
    assert line["total_variation_worst"] < birl_posterior.CLOSE
    assert line["largest_r_hat_worst"] < birl_posterior.MIXED
    assert line["r_hat_together"] < birl_posterior.MIXED
    # Every step of every chain is solved, but on its grid the walk comes back again and again.
    assert 2000 < line["policies_mean"] <= 2560
    assert walk["policies_mean"] < 512


def test_total_variation_falls_when_steps_double(finished):
    out, lines = finished
    curve = lines[0]["total_variation_curve"]
    assert list(curve) == ["64", "128", "256"]
    assert curve["256"] < curve["64"]
    for row in json.loads((out / "trials.json").read_text()):
        policies = [point["policies"] for point in row["curve"]]
        assert policies == sorted(policies)
        assert row["curve"][-1]["steps"] == row["steps"]


def test_each_point_of_a_curve_is_a_run_of_so_many_steps(finished, gridworld):
    out, _ = finished
    row = json.loads((out / "trials.json").read_text())[0]
    run = birl_posterior.get("birl", sampler=row["sampler"]).run(gridworld, 128, row["seed"])
    exact = birl_posterior.exact_posterior(gridworld, CELLS)
    point = birl_posterior.measure(run, exact)
    assert {**row["curve"][1], "seconds": 0.0} == {**point, "seconds": 0.0}


def test_finished_trials_are_not_run_again(finished, monkeypatch):
    out, lines = finished

    def refuse(*arguments):
        raise AssertionError("run again")

    monkeypatch.setattr(birl_posterior, "run_trial", refuse)
    assert small(out) == lines


def test_chains_that_ended_elsewhere_show_in_r_hat_of_all_trials():
    point = dict.fromkeys(birl_posterior.MEASURES, 1.0) | {"steps": 100}
    rows = [{"sampler": "policy-walk", "steps": 100, "curve": [point]}] * 2
    chains = np.random.default_rng(0).standard_normal((2, 100, 3))
    assert birl_posterior.summarise(rows, chains)["r_hat_together"] < 1.05
    chains[1, :, 2] += 3.0
    assert birl_posterior.summarise(rows, chains)["r_hat_together"] > 1.3


@pytest.mark.parametrize(("steps", "expected"), [(64, [64]), (200, [64, 128, 200]), (10, [10])])
def test_marks_double_up_to_the_last_step(steps, expected):
    assert birl_posterior.marks(steps) == expected


def test_unknown_samplers_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="there is no method gibbs"):
        run_experiment("birl-posterior", tmp_path, {"methods": ["gibbs"]})
