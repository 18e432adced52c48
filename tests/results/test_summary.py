"""Results as facts for JSON and as tables."""

import json

import numpy as np
import pytest

from boirl.baselines import BaselineRun


def test_facts_are_those_of_the_result_and_fit_json(found):
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["best"] == {
        "evaluation": found.best_index,
        "theta": found.best.tolist(),
        "nll": found.best_nll,
    }
    assert [one["nll"] for one in facts["evaluations"]] == found.nll.tolist()
    assert [one["name"] for one in facts["known"]] == list(found.names)
    assert [one["name"] for one in facts["health"]] == [one.name for one in found.health()]
    assert len(facts["groups"]) == len(found.groups())
    assert facts["settings"]["kernel"] == "rho-matern"


def test_a_failed_evaluation_has_no_nll(found, made_up):
    facts = BaselineRun(found.problem, made_up([30.0, np.nan]).evaluations, "random").to_dict()
    assert [one["nll"] for one in facts["evaluations"]] == [30.0, None]


def test_a_table_has_one_row_per_evaluation(found):
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert list(frame.columns) == [*found.names, "nll", "nll_se", "seconds", "failure"]
    np.testing.assert_array_equal(frame[list(found.names)].to_numpy(), found.thetas)
    assert frame["nll"].idxmin() == found.best_index
    assert frame.index.name == "evaluation"
