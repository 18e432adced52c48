"""Everything that decides which thetas a search proposes."""

from dataclasses import fields

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.projections import Canonical, Identity, LogRho, Rho
from boirl.search.settings import SearchOptions, SearchSettings
from tests.problem.learned import build, demonstrations


def test_options_are_exactly_the_fields_of_the_settings():
    """So that a type checker knows the options of `explore`, `Study` and `RewardSampler`."""
    expected = {field.name: field.type for field in fields(SearchSettings)}
    found = {name: kind.__forward_arg__ for name, kind in SearchOptions.__annotations__.items()}
    assert found == expected
    assert list(found) == list(expected)
    assert SearchOptions.__total__ is False


def test_settings_by_name():
    settings = SearchSettings.from_options({"kernel": "rbf", "seed": 7})
    assert (settings.kernel, settings.seed) == ("rbf", 7)
    assert SearchSettings.from_options({}) == SearchSettings()
    with pytest.raises(InvalidInputError, match="no setting colour, size; expected some of"):
        SearchSettings.from_options({"size": 3, "colour": "red"})


def test_numbers_of_any_kind_become_whole_numbers():
    settings = SearchSettings(seed=np.int64(3), n_rollouts=5.0, drop=["a", "b"])
    assert (settings.seed, settings.n_rollouts, settings.drop) == (3, 5, ("a", "b"))
    assert type(settings.seed) is type(settings.n_rollouts) is int


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "cubic"}, "there is no kernel 'cubic'"),
        ({"acquisition": "ucb"}, "there is no acquisition 'ucb'"),
        ({"projection": "pca"}, "there is no projection 'pca'; expected one of log-rho, rho, can"),
        ({"rollouts": "many"}, "rollouts is 'many'; expected 'auto', 'uniform' or 'solved'"),
        ({"scale": "square"}, "scale is 'square'; expected 'auto', 'linear' or 'log'"),
        ({"kernel": "rho-rbf", "smoothness": 2.5}, "kernel 'rho-rbf' has no smoothness"),
        ({"seed": -1}, "seed is -1; expected a whole number from 0 on"),
        ({"n_demonstrations": 0}, "n_demonstrations is 0"),
        ({"n_rollouts": 2.5}, "n_rollouts is 2.5"),
        ({"n_rollouts": float("nan")}, "n_rollouts is nan"),
        ({"seed": "7"}, "seed is '7'"),
        ({"seed": 1e308}, r"seed is 1e\+308"),
        ({"kernel": {}}, "kernel is {}; expected a name"),
        ({"drop": 3}, "drop is 3; expected names"),
        ({"drop": [1]}, r"drop is \[1\]; expected names"),
        ({"smoothness": "x"}, "smoothness is 'x'"),
        ({"linear": 1.5}, "linear is 1.5"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        SearchSettings(**options)


@pytest.mark.parametrize(
    ("name", "kind"), [("log-rho", LogRho), ("rho", Rho), ("canonical", Canonical)]
)
def test_the_projection_has_as_many_demonstrations_and_roll_outs_as_asked_for(
    random_problem, name, kind
):
    settings = SearchSettings(projection=name, n_demonstrations=3, n_rollouts=4)
    projection = settings.build_surrogate(random_problem(1000)).projection
    assert type(projection) is kind
    assert projection.dimension == 3
    assert [len(one) for one in projection.rollouts] == [4, 4, 4]


def test_kernels_on_theta_have_no_projection(random_problem):
    surrogate = SearchSettings(kernel="matern", smoothness=2.5).build_surrogate(
        random_problem(1000)
    )
    assert type(surrogate.projection) is Identity
    assert surrogate.kernel.smoothness == 2.5


def test_the_seed_decides_about_demonstrations_and_roll_outs(random_problem):
    problem = random_problem(1000, count=20)

    def fingerprint(seed):
        settings = SearchSettings(seed=seed, n_demonstrations=4)
        return settings.build_surrogate(problem).projection.fingerprint()

    assert fingerprint(7) == fingerprint(7) != fingerprint(8)


def test_roll_outs_may_come_from_given_policies(random_problem):
    problem = random_problem(1000)
    policies = [problem.policy((1.0, 1.0)), problem.policy((-1.0, 1.0))]
    projection = SearchSettings(n_rollouts=3).build_surrogate(problem, policies).projection
    assert {len(one) for one in projection.rollouts} == {2 * 3}


def test_demonstrations_in_the_projection_are_fewer_where_policies_are_learned(gridworld):
    many = build().with_demonstrations(demonstrations(count=15))
    assert SearchSettings().build_surrogate(many).projection.dimension == 10
    assert SearchSettings(n_demonstrations=12).build_surrogate(many).projection.dimension == 12
    assert SearchSettings().build_surrogate(gridworld).projection.dimension == 40


def test_dropped_parameters_are_zero_in_the_projection_alone(random_problem):
    problem = random_problem(1000)
    fixed = random_problem(1000, reward=problem.reward.fix(second=1.5))
    projection = SearchSettings(drop=("second",)).build_surrogate(fixed).projection
    assert [one.fixed for one in projection.reward.parameters] == [None, 0.0]
    assert [one.fixed for one in fixed.reward.parameters] == [None, 1.5]


@pytest.mark.parametrize("fixed", [{}, {"second": 1.5}])
def test_only_fixed_parameters_can_be_dropped(random_problem, fixed):
    problem = random_problem(1000)
    problem = random_problem(1000, reward=problem.reward.fix(**fixed))
    known = "second" if fixed else "there are none"
    with pytest.raises(InvalidInputError, match=rf"drop names first; .*\({known}\)"):
        SearchSettings(drop=("first",)).build_surrogate(problem)
