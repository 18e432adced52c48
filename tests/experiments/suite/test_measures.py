"""How far answers are from the exact one."""

import numpy as np
import pytest

from boirl.cache import CACHE_VARIABLE
from boirl.experiments.suite import measures
from boirl.experiments.suite.catalogue import suite_problem
from boirl.experiments.suite.methods import METHODS, Answer
from boirl.metrics.reference import exact_reference
from boirl.results import Finding, Health


@pytest.fixture(scope="module")
def problem():
    return suite_problem("mdp-few", 1002)


@pytest.fixture(scope="module")
def reference(problem, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield exact_reference(problem, least_effective=1000.0)


def exact_answer(reference, shift=0.0):
    drawn = reference.samples[np.random.default_rng(0).integers(len(reference.samples), size=1000)]
    return Answer(reference.best_nll, 7, 1, 0.5, drawn + shift, None, ("careful",))


def test_the_exact_answer_has_nothing_to_reproach(problem, reference):
    row = measures.measure(problem, reference, exact_answer(reference), 0)
    assert row["tolerances"] == 0.0
    assert abs(row["excess"]) < 0.03
    assert row["excluded"] == []
    assert (row["used"], row["failures"], row["warnings"]) == (7, 1, ["careful"])
    assert row["coverage_box"] is row["health"] is None


def test_an_answer_that_is_off_is_seen(problem, reference):
    shift = 4.0 * reference.samples.std(axis=0)
    row = measures.measure(problem, reference, exact_answer(reference, shift), 0)
    assert row["excess"] > 0.5
    assert row["excluded"] == list(problem.box.names)


def test_intervals_of_a_search_are_compared_with_exact_nlls(problem, reference):
    answer = METHODS["search"].run(problem, 8, 1000)
    row = measures.measure(problem, reference, answer, 0)
    assert 0.0 <= row["coverage_box"] <= 1.0
    assert 0.0 <= row["coverage_posterior"] <= 1.0
    assert row["tolerances"] >= 0.0


def test_what_needs_attention_is_asked_for_where_there_is_something():
    class Silent:
        pass

    class Frank:
        def health(self):
            good = Finding("predictions", False, "all of them were right")
            return Health([good, Finding("region unsearched", True, "half of the posterior")])

    assert measures.health_lines(Silent()) is None
    assert measures.health_lines(Frank()) == ["region unsearched: half of the posterior"]
