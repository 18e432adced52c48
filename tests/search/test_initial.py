import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.search.initial import HARD_CANDIDATES, initial_thetas, steps_down


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("count", [None, 1, 2, 5, 8, 33])
def test_sobol_lies_in_the_box(gridworld, count):
    thetas = initial_thetas(gridworld, "sobol", count, rng())
    assert len(gridworld.box.check(thetas)) == (1 if count is None else count)


@pytest.mark.parametrize(
    ("design", "count", "steps"),
    [("sobol", None, True), ("sobol", 2, False), ("hard", None, False), ([[1, 2, 0]], None, False)],
)
def test_a_step_down_follows_where_nothing_else_was_asked_for(gridworld, design, count, steps):
    assert steps_down(gridworld, design, count) == steps


def test_sobol_is_spread_over_the_whole_box(gridworld):
    unit = gridworld.box.to_unit(initial_thetas(gridworld, "sobol", 16, rng()))
    cells = np.floor(16 * unit).astype(int)
    assert [len(set(column)) for column in cells.T] == [16, 16, 16]


@pytest.mark.parametrize("design", ["sobol", "hard"])
def test_the_same_seed_gives_the_same_thetas(gridworld, design):
    first, again, other = (
        initial_thetas(gridworld, design, 3, np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_hard_starts_from_the_worst_of_the_candidates(gridworld):
    candidates = initial_thetas(gridworld, "sobol", HARD_CANDIDATES, rng())
    hard = initial_thetas(gridworld, "hard", 4, rng())
    nll = gridworld.nll_batch(candidates)
    np.testing.assert_allclose(gridworld.nll_batch(hard), np.sort(nll)[::-1][:4], rtol=1e-12)


def test_hard_starts_from_one_theta(gridworld):
    assert initial_thetas(gridworld, "hard", None, rng()).shape == (1, 3)


def test_hard_avoids_thetas_without_a_policy(gridworld, monkeypatch):
    failing = type(gridworld).nll_batch

    def nll_batch(self, thetas):
        nll = failing(self, thetas)
        return np.where(nll >= np.median(nll), np.nan, nll)

    monkeypatch.setattr(type(gridworld), "nll_batch", nll_batch)
    hard = initial_thetas(gridworld, "hard", 3, rng())
    monkeypatch.undo()
    candidates = gridworld.nll_batch(initial_thetas(gridworld, "sobol", HARD_CANDIDATES, rng()))
    assert (gridworld.nll_batch(hard) < np.median(candidates)).all()


def test_given_thetas_are_taken_as_they_are(gridworld):
    given = [[1.0, 2.0, 0.0], [-1.0, 3.0, 4.0]]
    assert initial_thetas(gridworld, given, None, rng()).tolist() == given


def test_given_thetas_are_checked_against_the_box(gridworld):
    with pytest.raises(
        InvalidInputError, match=r"translation = 4\.5; expected a number in \[-4, 4\]"
    ):
        initial_thetas(gridworld, [[1.0, 2.0, 0.0], [1.0, 2.0, 4.5]], None, rng())


@pytest.mark.parametrize(
    ("design", "count", "message"),
    [
        ("grid", None, "initial design is 'grid'; expected 'sobol' or 'hard', or thetas"),
        ("sobol", 0, "has 0 points"),
        ("hard", -1, "has -1 points"),
    ],
)
def test_unknown_designs_and_empty_ones_are_refused(gridworld, design, count, message):
    with pytest.raises(InvalidInputError, match=message):
        initial_thetas(gridworld, design, count, rng())
