"""What a study is of, and what it was made with."""

import numpy as np
import pytest

import boirl
from boirl.errors import InvalidInputError
from boirl.search.identity import describe_problem, difference, versions
from boirl.search.study import FACTS, VERSIONS, Study

OPTIONS = {"kernel": "rbf", "acquisition": "random"}


def test_versions_and_what_the_problem_is_are_kept(random_problem, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    problem = random_problem(1000)
    study = Study(problem, storage=storage, **OPTIONS)
    assert study.database.attribute(VERSIONS) == versions()
    assert versions()["boirl"] == boirl.__version__
    kept = study.database.attribute(FACTS)
    assert kept == describe_problem(problem)
    assert kept["parameters"] == {"first": [-2.0, 2.0], "second": [-2.0, 2.0]}


def test_another_problem_is_refused_with_what_differs(random_problem, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    Study(random_problem(1000), storage=storage, **OPTIONS)
    with pytest.raises(InvalidInputError, match="other problem: trajectories was 5, now 3"):
        Study(random_problem(1000, count=3), storage=storage, **OPTIONS)
    # Other dynamics, and nothing to be seen from afar.
    with pytest.raises(InvalidInputError, match="other problem; ask for the same"):
        Study(random_problem(1001), storage=storage, **OPTIONS)


def test_what_is_too_long_to_print_is_left_out():
    assert difference({"thetas": [1]}, {"thetas": [2]}) == ""
    assert difference({"design": [[1.0]]}, {"design": [[2.0]]}) == ""
    assert difference("abc", "abd") == ""
    assert difference({"seed": 1}, {"seed": 1}) == ""
    assert difference({"seed": 1, "kernel": "rbf"}, {"seed": 2, "kernel": "rbf"}) == (
        ": seed was 1, now 2"
    )
    assert np.isscalar(versions()["numpy"])


def test_other_initial_thetas_are_refused_with_what_differs(random_problem, tmp_path):
    given = {"storage": f"sqlite:///{tmp_path}/search.db", **OPTIONS}
    Study(random_problem(1000), n_initial=3, **given)
    with pytest.raises(InvalidInputError, match=r"initial thetas: design was .*3.*, now .*4"):
        Study(random_problem(1000), n_initial=4, **given)
    with pytest.raises(InvalidInputError, match=r"initial thetas; ask for the same"):
        Study(random_problem(1000), initial=np.zeros((2, 2)), **given)
