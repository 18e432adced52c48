"""A small version of the suite: files, resuming, what is left out."""

import json

import pytest

from boirl.cache import CACHE_VARIABLE
from boirl.errors import BoirlWarning, InvalidInputError, SolverError
from boirl.experiments.suite import comparison
from boirl.experiments.suite.comparison import run
from boirl.experiments.suite.methods import METHODS, Method

TINY = {
    "seeds": [1002],
    "evaluations": 6,
    "problems": ["mdp-few"],
    "reference_options": {"least_effective": 50.0, "most_rounds": 1, "particles": 64},
}


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    out = tmp_path_factory.mktemp("suite")
    return out, run(out, methods=["search", "maxent"], **TINY)


def test_every_trial_is_a_row_and_every_method_a_line(done):
    out, lines = done
    rows = json.loads((out / "trials.json").read_text())
    assert [row["method"] for row in rows] == ["search", "maxent"]
    assert [line["method"] for line in lines] == ["search", "maxent"]
    assert rows[0]["asked"] == rows[0]["used"] == 6
    assert rows[0]["error"] is None
    assert rows[0]["operator"] == "max"
    assert json.loads((out / "summary.json").read_text()) == lines
    assert (out / "problems.csv").read_text().count("\n") == 3
    assert (out / "summary.csv").read_text().startswith("method,problems")


def test_finished_trials_are_not_run_again(done, monkeypatch):
    out, lines = done
    monkeypatch.setattr(comparison, "METHODS", dict.fromkeys(METHODS))
    assert run(out, methods=["search", "maxent"], **TINY) == lines


def test_an_error_is_part_of_the_row(tmp_path, monkeypatch):
    def fails(problem, evaluations, seed):
        raise SolverError("no values")

    monkeypatch.setattr(comparison, "METHODS", {**METHODS, "search": Method(fails, 1, 1)})
    (line,) = run(tmp_path, methods=["search"], **TINY)
    assert line["errors"] == 1
    (row,) = json.loads((tmp_path / "trials.json").read_text())
    assert row["error"] == "SolverError: no values"


def test_a_missing_pyvbmc_is_left_out_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(comparison.pyvbmc, "installed", lambda: False)
    with pytest.warns(BoirlWarning, match=r"PyVBMC is not installed, so it is left out"):
        lines = run(tmp_path, methods=["maxent", "pyvbmc"], **TINY)
    assert [line["method"] for line in lines] == ["maxent"]
    with pytest.raises(InvalidInputError, match=r"expected at least one method"):
        run(tmp_path, methods=["pyvbmc"], **TINY)


def test_generators_that_cannot_be_built_are_left_out_with_a_sentence(monkeypatch):
    def unable(seed, name):
        raise InvalidInputError("needs more")

    few = {"mdp-few": comparison.GENERATORS["mdp-few"], "taxi": unable}
    monkeypatch.setattr(comparison, "GENERATORS", few)
    monkeypatch.setitem(comparison.suite_problem.__globals__["GENERATORS"], "taxi", unable)
    comparison._problem.cache_clear()
    with pytest.warns(BoirlWarning, match=r"taxi is left out: needs more"):
        assert comparison._available_problems([1000], None) == ("mdp-few",)
    comparison._problem.cache_clear()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["ucb"]}, "there is no method ucb; expected some of search"),
        ({"problems": ["maze"]}, "there is no suite problem maze"),
        ({"seeds": []}, "there are no seeds"),
    ],
)
def test_wrong_options_are_named_before_anything_is_run(tmp_path, options, message):
    with pytest.raises(InvalidInputError, match=message):
        run(tmp_path, **{"methods": ["maxent"], **TINY, **options})
    assert list(tmp_path.iterdir()) == []


def test_reported_seeds_are_not_those_of_tuning():
    assert min(comparison.SEEDS) >= comparison.TUNING_SEEDS_BELOW == 100
