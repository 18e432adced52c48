"""Problems by name."""

from pathlib import Path

import numpy as np
import pytest

from boirl.domains.gridworld import GRIDWORLD2D
from boirl.errors import InvalidInputError, MissingExtraError
from boirl.problem.catalogue import PROBLEMS, ProblemEntry, load_problem


@pytest.fixture
def registered(random_problem):
    """A problem that takes options, for as long as the test."""
    calls = []

    def build(seed=1000, data=None, report=None):
        calls.append({"seed": seed, "data": data, "report": report})
        report(1.0, "built")
        return random_problem(seed)

    PROBLEMS.register("of-a-test", ProblemEntry(build, "for a test"))
    yield calls
    del PROBLEMS._known["of-a-test"]


def test_problems_of_boirl_are_there():
    assert set(PROBLEMS) >= {
        "gridworld",
        "gridworld2d",
        "terrain",
        "road-network",
        "borlange-virtual",
        "borlange-real",
        "borlange-recursive-logit",
        "point-mass-maze",
        "fetch-reach",
    }
    for entry in PROBLEMS.values():
        assert entry.summary
        assert "\n" not in entry.summary


def test_a_problem_knows_how_it_was_built():
    problem = load_problem("gridworld2d", seed=1003)
    assert problem.name == "gridworld2d"
    assert problem.recipe == {"name": "gridworld2d", "seed": 1003}
    assert PROBLEMS["gridworld2d"] is GRIDWORLD2D


def test_problems_by_name_follow_from_their_seed():
    first, again, other = (load_problem("gridworld2d", seed=seed) for seed in (3, 3, 4))
    assert first.fingerprint() == again.fingerprint() != other.fingerprint()


def test_options_are_kept_as_plain_numbers_and_text(registered):
    problem = load_problem("of-a-test", seed=np.int64(1004), data=Path("folder/file"))
    assert problem.recipe == {"name": "of-a-test", "seed": 1004, "data": "folder/file"}
    assert type(problem.recipe["seed"]) is int


def test_progress_is_reported_to_the_caller_and_is_no_option(registered):
    shares = []
    problem = load_problem("of-a-test", lambda share, message: shares.append(share))
    assert shares == [1.0]
    assert problem.recipe == {"name": "of-a-test"}
    with pytest.raises(InvalidInputError, match="takes no option size; expected some of seed, dat"):
        load_problem("of-a-test", size=3)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("atlantis", {}, "there is no problem 'atlantis'; expected one of"),
        ("gridworld", {"size": 3}, "takes no option size; expected some of bellman, seed"),
    ],
)
def test_unknown_problems_and_options_are_named(name, options, message):
    with pytest.raises(InvalidInputError, match=message):
        load_problem(name, **options)


def test_a_function_may_be_named_by_its_module():
    entry = ProblemEntry("boirl.domains.gridworld.problem:build_gridworld2d", "by name")
    assert callable(entry.build)


def test_a_missing_library_is_named_with_the_command_to_install_it():
    entry = ProblemEntry("no_such_library.problems:build", "needs more")
    with pytest.raises(MissingExtraError, match=r"needs no_such_library.*pip install"):
        _ = entry.build
