"""Small versions of the experiments on how much of the set a search knows."""

import json

import pytest

from boirl.cache import CACHE_VARIABLE
from boirl.errors import InvalidInputError
from boirl.experiments import EXPERIMENTS, reward_set

TOWN = {"name": "road-network", "n_links": 120, "seed": 0, "n_demonstrations": 30}


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


def gridworld(out, methods=("rho-rbf", "random"), **options):
    return reward_set.run_gridworld(
        out, methods=methods, seeds=(1000,), evaluations=10, n_reference=256, **options
    )


@pytest.fixture(scope="module")
def on_gridworld(tmp_path_factory):
    """The folder of a small version, and its lines."""
    out = tmp_path_factory.mktemp("gridworld-set")
    return out, gridworld(out)


@pytest.fixture(scope="module")
def on_a_town(tmp_path_factory):
    out = tmp_path_factory.mktemp("borlange-set")
    lines = reward_set.run_borlange(
        out,
        methods=("rho-rbf", "random"),
        seeds=(1000,),
        evaluations=8,
        n_reference=64,
        problem_options=TOWN,
    )
    return out, lines


def trials(out):
    return {row["search"]: row for row in json.loads((out / "trials.json").read_text())}


@pytest.mark.parametrize("run", ["on_gridworld", "on_a_town"])
def test_every_method_has_a_line_that_can_be_printed(run, request):
    out, lines = request.getfixturevalue(run)
    assert [line["method"] for line in lines] == ["rho-rbf", "random"]
    assert json.loads((out / "summary.json").read_text()) == lines
    for line in lines:
        assert line["trials"] == 1
        for name in reward_set.MEASURES:
            assert line[f"{name}_mean"] == line[f"{name}_worst"] >= 0.0
            assert name == "rmse" or line[f"{name}_mean"] <= 1.0
        for show in EXPERIMENTS["gridworld-set"].columns.values():
            assert show(line)


@pytest.mark.parametrize(("run", "steps"), [("on_gridworld", [5, 10]), ("on_a_town", [5, 8])])
def test_curves_have_a_point_every_five_evaluations_and_at_the_end(run, steps, request):
    out, _ = request.getfixturevalue(run)
    for row in trials(out).values():
        assert [point["evaluations"] for point in row["curve"]] == steps


def test_the_last_point_of_a_curve_is_the_final_measure(on_gridworld):
    for row in trials(on_gridworld[0]).values():
        final = {name: row[f"final_{name}"] for name in row["curve"][-1]}
        assert final == row["curve"][-1]


def test_a_search_knows_more_of_the_set_than_random_evaluations_tell(on_gridworld):
    line = {line["method"]: line for line in on_gridworld[1]}
    assert line["rho-rbf"]["f1_10_mean"] > line["random"]["f1_10_mean"]
    assert line["rho-rbf"]["rmse_mean"] < line["random"]["rmse_mean"]
    assert 0.0 <= line["rho-rbf"]["excess_mean"] < line["random"]["excess_mean"]


def test_finished_trials_are_not_run_again(on_gridworld, monkeypatch):
    out, lines = on_gridworld
    monkeypatch.setattr(reward_set, "explore", None)
    done = []
    again = gridworld(out, on_trial=lambda *one: done.append(one))
    assert again == lines
    assert done == [(1, 2), (2, 2)]


def test_the_worst_of_a_measure_is_the_highest_error_and_the_lowest_share(on_gridworld):
    row = trials(on_gridworld[0])["random"]
    better = {**row, "evaluations_to_expert": 7, "final_rmse": 0.0, "final_f1_10": 1.0}
    line = reward_set.summarise([{**row, "evaluations_to_expert": None}, better])
    assert line["rmse_worst"] == row["final_rmse"]
    assert line["f1_10_worst"] == row["final_f1_10"]
    assert line["f1_10_mean"] == pytest.approx(0.5 * (1.0 + row["final_f1_10"]))
    assert (line["reached"], line["after_mean"]) == (0.5, 7.0)


def test_a_set_that_no_theta_is_in_has_no_measure(on_gridworld):
    row = trials(on_gridworld[0])["random"]
    line = reward_set.summarise([{**row, "final_f1_ratio": None}] * 2)
    assert line["f1_ratio_mean"] is line["f1_ratio_worst"] is None
    assert EXPERIMENTS["gridworld-set"].columns["not rejected"](line) == "-"


def test_an_unknown_method_is_named_before_anything_is_run(tmp_path, monkeypatch):
    monkeypatch.setattr(reward_set, "explore", None)
    with pytest.raises(
        InvalidInputError, match="there is no method ucb; expected some of rho-matern"
    ):
        gridworld(tmp_path, methods=("rho-rbf", "ucb"))
    assert list(tmp_path.iterdir()) == []
