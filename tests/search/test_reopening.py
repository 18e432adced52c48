"""Studies opened with what they were made with."""

import numpy as np
import pytest

import boirl
from boirl.constraints import bounds
from boirl.errors import InvalidInputError
from boirl.search.reopening import reopen_study


@pytest.mark.parametrize("initial", ["sobol", [(1.0, 2.0), (-1.0, 3.0)]])
def test_a_study_is_opened_by_its_name_alone(tmp_path, initial):
    problem = boirl.load_problem("gridworld2d", n_demonstrations=4)
    storage = f"sqlite:///{tmp_path}/search.db"
    made = boirl.Study(
        problem,
        storage=storage,
        initial=initial,
        seed=1000,
        kernel="rbf",
        acquisition="random",
        prior=boirl.NormalPrior([1.0, 5.0], [1.0, 2.0]),
        constraints=[bounds(steepness=(0.0, None))],
    )
    made.run(3)
    again = reopen_study(problem, storage)
    assert again.settings == made.settings
    np.testing.assert_array_equal(again.result().thetas, made.result().thetas)
    with pytest.raises(InvalidInputError, match="there is no search 'other'"):
        reopen_study(problem, storage, "other")
