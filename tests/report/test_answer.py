"""Everything that a report says, and that it is what the result says."""

import numpy as np
import pytest

import boirl
from boirl.baselines import BaselineRun
from boirl.report.answer import answer_of
from boirl.report.content import content_of


def test_evaluations_are_measured_in_tolerances(answer):
    rows, result = answer.evaluation_rows(), answer.result
    assert [row["n"] for row in rows] == list(range(len(result)))
    kept = set(result.indices_within(result.likelihood_ratio_tolerance(), absolute=True).tolist())
    assert {row["n"] for row in rows if row["kept"]} == kept
    assert rows[result.best_index]["excess"] == 0
    assert [rows[3][f"p{i}"] for i in range(3)] == pytest.approx(result.thetas[3], rel=1e-4)


def test_predictions_are_those_of_the_health_check(answer):
    record = answer.health.named("predictions") or answer.health.named("predictions off")
    rows = answer.prediction_rows()
    assert [row["n"] for row in rows] == record.data["numbers"].tolist()
    inside = [row["low"] <= row["found"] <= row["high"] for row in rows]
    assert np.mean(inside) == pytest.approx(record.data["coverage"], abs=1e-9)


def test_the_landscape_is_that_of_the_surrogate(answer):
    sliced, result = answer.landscape, answer.result
    positions = sliced.nearest(result.thetas[:4])
    thetas = np.stack([axis[positions[:, i]] for i, axis in enumerate(sliced.axes)], axis=1)
    assert sliced.at(positions) == pytest.approx(result.predict_nll(thetas)[0])


def test_samples_of_a_baseline_are_its_posterior(street, found):
    drawn = street.box.from_unit(np.random.default_rng(1).random((30, 3)))
    drawn[0] = found.thetas[2]
    run = BaselineRun(street, found.evaluations[:5], "birl", samples=drawn)
    answer = answer_of(run)
    np.testing.assert_array_equal(answer.samples.thetas, drawn)
    assert answer.samples.nearest[0] == 2
    assert set(answer.samples.groups) <= {card.number for card in answer.cards}
    assert [one.name for one in answer.summary] == list(street.box.names)
    text = content_of(answer)["text"]
    assert text["sampled"]
    assert text["parameters"]


def test_a_baseline_has_evaluations_groups_and_no_posterior(street, found):
    run = BaselineRun(street, found.evaluations[:5], "random")
    answer = answer_of(run)
    assert (answer.health, answer.samples, answer.landscape) == (None, None, None)
    assert answer.cards
    assert answer.prediction_rows() == []
    assert "nobody knows" in answer.sentences[1]


def test_what_breaks_a_constraint_is_not_kept():
    problem = boirl.load_problem("gridworld2d")
    initial = [(2.0, 7.3), (0.88, 9.77), (1.0, 9.9), (0.5, 3.0)]
    held = boirl.explore(
        problem, 4, initial=initial, constraints=boirl.constraints.reaches([7], at_most=0.75)
    )
    answer = answer_of(held)
    rows = answer.evaluation_rows()
    assert [row["broken"] for row in rows] == (~held.feasible).tolist()
    assert rows[0]["excess"] < 0
    assert not rows[0]["kept"]
    at = answer.landscape.nearest(held.thetas[[0, held.best_index]])
    ruled_out, best = answer.landscape.at(at)
    assert ruled_out >= held.nll.max()
    assert best == pytest.approx(held.predict_nll(held.best)[0], abs=0.2)
