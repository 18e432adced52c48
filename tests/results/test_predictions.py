"""The record of predictions."""

import numpy as np
import pytest

from boirl.results.predictions import PredictionRecord, check_predictions, prediction_record


def test_later_evaluations_are_predicted_by_earlier_ones(found):
    record = prediction_record(found)
    np.testing.assert_array_equal(record.numbers, np.arange(12, 25))
    np.testing.assert_array_equal(record.nll, found.nll[12:])
    mean, sd = found.truncate(12).predict_nll(found.thetas[12:18], observed=True)
    np.testing.assert_allclose(record.mean[:6], mean)
    np.testing.assert_allclose(record.sd[:6], sd)


def test_failed_evaluations_are_not_predicted(found, made_up):
    failed = made_up(np.where(np.arange(25) == 20, np.nan, found.nll))
    assert 20 not in prediction_record(failed).numbers


def test_coverage_counts_what_is_within_two_standard_deviations():
    record = PredictionRecord(
        np.arange(4), np.array([0.0, 1.9, -1.9, 3.0]), np.zeros(4), np.ones(4)
    )
    assert record.coverage == 0.75
    empty = PredictionRecord(np.arange(0), np.empty(0), np.empty(0), np.empty(0))
    assert np.isnan(empty.coverage)


def test_a_short_search_has_no_record(found):
    assert len(prediction_record(found.truncate(4)).numbers) == 0
    assert check_predictions(found.truncate(4)) is None


def test_good_predictions_need_no_attention(found):
    finding = check_predictions(found)
    assert not finding.needs_attention
    assert finding.data["off"].size == 0
    record = prediction_record(found)
    tolerance = found.likelihood_ratio_tolerance()
    near = np.minimum(record.nll, record.mean) <= found.best_nll + tolerance
    errors = np.abs(record.nll - record.mean)[near]
    assert near.any()
    assert np.median(errors) < tolerance
    assert "later evaluations were in their 95 % intervals" in finding.message


@pytest.fixture
def surprised(found, made_up):
    """The last evaluation comes out far better than a well-known neighbourhood lets expect."""
    thetas, nll = found.thetas.copy(), found.nll.copy()
    poor = int(nll[:12].argmax())
    thetas[-1] = np.clip(thetas[poor] + 1e-6, found.problem.box.low, found.problem.box.high)
    nll[-1] = nll.min() - 1.0
    return made_up(nll, thetas)


def test_predictions_that_are_off_where_it_matters_are_seen(surprised):
    finding = check_predictions(surprised)
    assert finding.needs_attention
    assert finding.name == "predictions off"
    np.testing.assert_array_equal(finding.data["off"], [24])
    assert "number 24" in finding.message


def test_an_error_among_poor_rewards_does_not_matter(found, made_up):
    nll = found.nll.copy()
    worst = 12 + int(nll[12:].argmax())
    nll[worst] += 100.0
    finding = check_predictions(made_up(nll))
    assert not finding.needs_attention
    assert np.abs(finding.data["standardised"]).max() > finding.data["limit"]
