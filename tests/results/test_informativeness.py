"""Whether the demonstrations say anything."""

import numpy as np
import pytest

from boirl.results.informativeness import check_informative


@pytest.fixture
def predicted(found, monkeypatch):
    """The search with a landscape that rises above the tolerance on a share of the box."""

    def build(share, sd=0.0):
        high = found.best_nll + 2.0 * found.likelihood_ratio_tolerance()
        box = found.problem.box

        def predict(self, thetas):
            first = box.to_unit(thetas)[:, 0]
            return np.where(first < share, high, found.best_nll), np.full(len(thetas), sd)

        monkeypatch.setattr(type(found), "predict_nll", predict)
        return found

    return build


def test_a_search_that_rejects_rewards_needs_no_attention(found):
    finding = check_informative(found)
    assert not finding.needs_attention
    assert finding.data["rejected"] > 0.5


@pytest.mark.parametrize(("share", "attention"), [(0.0, True), (0.03, True), (0.1, False)])
def test_less_than_one_in_twenty_is_little(predicted, share, attention):
    finding = check_informative(predicted(share))
    assert finding.data["rejected"] == pytest.approx(share, abs=0.01)
    assert finding.needs_attention is attention
    assert ("record more demonstrations" in finding.message) is attention


def test_what_was_not_searched_is_not_blamed_on_the_demonstrations(predicted, found):
    unknown = check_informative(predicted(0.0, sd=found.likelihood_ratio_tolerance()))
    assert unknown.data["rejected"] == 0.0
    assert not unknown.needs_attention
