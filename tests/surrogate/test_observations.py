"""What a surrogate sees of evaluations."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import boirl
from boirl.evaluation import Evaluation
from boirl.surrogate import Observations
from boirl.types import Box


def evaluation(nll, nll_se=0.0, theta=(0.5, -1.0), failure=None):
    return Evaluation(theta, nll, nll_se, failure=failure)


def test_numbers_are_those_of_the_evaluations():
    seen = Observations.of([evaluation(3.0, 0.5, (0.0, 1.0)), evaluation(-4.0, 0.0, (2.0, 3.0))])
    assert seen.thetas.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert seen.nll.tolist() == [3.0, -4.0]
    assert seen.nll_se.tolist() == [0.5, 0.0]
    assert len(seen) == 2


def test_a_failed_evaluation_has_no_nll_and_is_kept_apart():
    failed = evaluation(0.0, 7.0, (9.0, 9.0), failure="lost")
    seen = Observations.of([evaluation(3.0, 0.5), failed, evaluation(5.0, 0.25)])
    assert seen.failed.tolist() == [[9.0, 9.0]]
    assert seen.nll.tolist() == [3.0, 5.0]
    assert seen.nll_se.tolist() == [0.5, 0.25]
    assert seen.numbers.tolist() == [0, 2]


def test_gradients_are_there_where_evaluations_have_them():
    known = Evaluation((0.5, -1.0), 3.0, gradient=np.array([1.0, 2.0]))
    seen = Observations.of([known, evaluation(4.0)])
    np.testing.assert_array_equal(seen.gradients, [[1.0, 2.0], [np.nan, np.nan]])


@pytest.mark.parametrize("count", [0, 1, 3])
def test_where_nothing_succeeded_there_is_nothing_to_see(count):
    seen = Observations.of([evaluation(0.0, failure="lost")] * count)
    assert len(seen) == 0
    assert seen.thetas.shape == (0, 2 if count else 0)
    assert seen.nll.shape == seen.nll_se.shape == (0,)


def test_others_join_without_a_standard_error():
    seen = Observations.of([evaluation(3.0, 0.5)])
    more = seen.joined_by(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([4.0, 5.0]))
    assert more.thetas.tolist() == [[0.5, -1.0], [1.0, 1.0], [2.0, 2.0]]
    assert more.nll.tolist() == [3.0, 4.0, 5.0]
    assert more.nll_se.tolist() == [0.5, 0.0, 0.0]
    assert len(seen) == 1


def test_a_search_and_its_answer_see_the_same(random_problem, monkeypatch):
    """Failed evaluations included."""
    problem = random_problem(1000)
    study = boirl.Study(problem, n_initial=4)
    for number in range(4):
        question = study.ask()
        failure = "lost" if number == 1 else None
        nll = problem.evaluate(question.theta).nll
        study.tell(question, Evaluation(question.theta, nll, failure=failure))
    seen = []
    fit = type(study.sampler.surrogate).fit

    def spy(self, thetas, nll, *rest, **options):
        seen.append((thetas, nll))
        return fit(self, thetas, nll, *rest, **options)

    monkeypatch.setattr(type(study.sampler.surrogate), "fit", spy)
    study.ask()
    proposing = seen[0]
    seen.clear()
    _ = study.result().fitted
    for ours, theirs in zip(seen[0], proposing, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(proposing[1]) == 3


@pytest.fixture(scope="module")
def many():
    """2,000 evaluations in a square; every fifth failed."""
    rng = np.random.default_rng(0)
    return Observations.of(
        [
            evaluation(nll, theta=tuple(theta), failure=None if number % 5 else "lost")
            for number, (*theta, nll) in enumerate(rng.random((2000, 3)).tolist())
        ]
    )


SQUARE = Box(("a", "b"), np.zeros(2), np.ones(2))


def test_few_evaluations_are_all_kept(many):
    again = many.thinned(SQUARE, most=2000)
    np.testing.assert_array_equal(again.thetas, many.thetas)
    np.testing.assert_array_equal(again.failed, many.failed)


def test_the_best_of_many_and_some_from_everywhere_are_kept(many):
    thinned = many.thinned(SQUARE, most=100)
    assert len(thinned) == 100
    assert len(thinned.failed) == 100
    assert set(np.sort(many.nll)[:50]) <= set(thinned.nll)
    nearest = cdist(many.thetas, thinned.thetas).min(axis=1)
    assert nearest.max() < 0.2, "what is left out is close to what is kept"
    assert len(np.unique(thinned.thetas, axis=0)) == 100


def test_what_is_kept_knows_its_number(many):
    thinned = many.thinned(SQUARE, most=100)
    order = {number: place for place, number in enumerate(many.numbers.tolist())}
    places = [order[number] for number in thinned.numbers.tolist()]
    np.testing.assert_array_equal(many.nll[places], thinned.nll)
