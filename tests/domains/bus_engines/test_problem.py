"""Rust's model of bus engines: its properties, and numbers computed independently."""

import shutil

import numpy as np
import pytest

import boirl
from boirl.domains.bus_engines.made_up import TRUTH
from boirl.domains.bus_engines.problem import MYOPIC, bus_engine_problem
from boirl.errors import InvalidInputError
from tests.contracts.problem_contract import ProblemContract


class TestContract(ProblemContract):
    @pytest.fixture(scope="class")
    @classmethod
    def problem(cls, records):
        return bus_engine_problem(records)


def test_months_are_those_of_the_records(problem, records):
    months, replaced = problem.observed_months()
    assert months.sum() == len(records.bins)
    assert replaced.sum() == records.replaced.sum()
    assert (replaced <= months).all()


def test_an_old_engine_is_replaced_sooner_than_a_new_one(problem):
    probabilities = problem.replacement_probabilities(TRUTH)
    assert (np.diff(probabilities) > 0.0).all()


def test_a_myopic_manager_compares_the_costs_of_this_month(records):
    problem = bus_engine_problem(records, MYOPIC, 200.0)
    maintenance, replacement = 70.0, 8.0
    difference = 0.001 * maintenance * np.arange(90) - replacement
    np.testing.assert_allclose(
        problem.replacement_probabilities([maintenance, replacement]),
        1.0 / (1.0 + np.exp(-difference)),
        rtol=2e-3,
    )


def test_the_problem_is_found_by_name_and_in_the_cache(folder, tmp_path, monkeypatch):
    problem = boirl.load_problem("bus-engines", data=folder)
    assert problem.gamma == 0.9999
    assert len(problem.demonstrations) == 1
    assert boirl.load_problem("bus-engines-myopic", data=folder).gamma == 0.0001
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InvalidInputError, match="boirl data bus-engines --from"):
        boirl.load_problem("bus-engines")
    shutil.copytree(folder, tmp_path / "cache" / "bus-engines", ignore=lambda *_: ["cache"])
    assert boirl.load_problem("bus-engines").fingerprint() == problem.fingerprint()


@pytest.mark.parametrize(
    ("name", "published", "log_likelihood", "theta", "maximum", "errors"),
    [
        (
            "bus-engines",
            (2.293, 10.075),
            -163.7563158498,
            (2.25554, 10.14955),
            -163.7097330455,
            (0.545, 1.376),
        ),
        (
            "bus-engines-myopic",
            (71.51, 7.636),
            -165.2462083965,
            (72.28797, 7.71635),
            -165.2169754643,
            (11.107, 0.596),
        ),
    ],
)
def test_numbers_computed_independently(
    recorded, name, published, log_likelihood, theta, maximum, errors
):
    """By a dense Newton iteration with a residual of 1e-12, from the same file."""
    problem = boirl.load_problem(name, data=recorded)
    assert -37 * problem.nll(published) == pytest.approx(log_likelihood, abs=1e-6)
    estimate = boirl.maximum_likelihood(problem)
    assert estimate.log_likelihood == pytest.approx(maximum, abs=1e-7)
    np.testing.assert_allclose(estimate.theta, theta, rtol=1e-4)
    np.testing.assert_allclose(estimate.standard_errors, errors, atol=6e-4)


def test_the_command_brings_the_records_to_the_cache(recorded, command, tmp_path, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path / "cache"))
    code, out, _ = command("data", "bus-engines", "--from", recorded)
    assert (code, out) == (0, f"bus-engines is in {tmp_path / 'cache' / 'bus-engines'}\n")
    code, out, _ = command("evaluate", "bus-engines", "2.293,10.075")
    assert code == 0
    assert out.startswith("NLL   4.425846")


def test_another_version_of_the_records_is_not_kept(folder, command, tmp_path, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path / "cache"))
    code, _, errors = command("data", "bus-engines", "--from", folder)
    assert code == 2
    assert "buses.csv" in errors
    assert "expected 2550f771cd2c" in errors
    assert not list((tmp_path / "cache").rglob("*.csv"))
