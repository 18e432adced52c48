"""Table 1: trials by both protocols, and lines from them."""

from boirl.reproduction import table1
from boirl.reproduction.plan import Plan
from boirl.reproduction.store import Store
from tests.reproduction.conftest import add_trial


def test_every_method_meets_both_protocols_on_the_same_trials():
    plan = Plan(seeds=(0, 1), environments=("gridworld",), methods=("rho-rbf", "random"))
    cells = [cell for cell in table1.cells(plan) if cell.kind == "trial"]
    trials: dict[str, set[tuple]] = {}
    for cell in cells:
        key = dict(cell.key)
        trials.setdefault(key.pop("method"), set()).add(tuple(key.values()))
    assert trials["rho-rbf"] == trials["random"]
    chosen = {cell.key["demonstrations"] for cell in cells if cell.key["protocol"] == "paper"}
    assert chosen == {3}
    exact = {cell.key["demonstrations"] for cell in cells if cell.key["protocol"] == "exact"}
    assert exact == {0, 1}


def test_the_full_table_has_as_many_trials_as_announced():
    cells = table1.cells(Plan(environments=("gridworld",), methods=("random",)))
    counts = [cell.key["protocol"] for cell in cells if cell.kind == "trial"]
    assert (counts.count("paper"), counts.count("exact")) == (10, 50)


def test_one_protocol_alone():
    plan = Plan(environments=("gridworld",), methods=("random",), protocols=("exact",))
    cells = table1.cells(plan)
    assert {cell.key["protocol"] for cell in cells if cell.kind == "trial"} == {"exact"}


def test_trials_of_a_search_and_a_baseline(tmp_path, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path / "cache"))
    store = Store(tmp_path / "results")
    plan = Plan(quick=True, environments=("gridworld",))
    for method in ("random", "maxent"):
        cell = table1.trial_cell(plan, "gridworld", "paper", method, 3, 1000)
        first = cell.run()
        store.add(cell, first, 0.0)
        again = cell.run()["trials"][0]
        assert {**again, "seconds": 0} == {**first["trials"][0], "seconds": 0}
    for row in store.table("trials"):
        assert row["budget"] == 4
        assert row["exact"] is None or 0 <= row["exact"] < 4
        assert row["refused"] is None
    assert "| `maxent` |" in table1.describe(store)


def test_a_method_that_does_not_apply_says_so(tmp_path, monkeypatch):
    from boirl.errors import InvalidInputError

    def refuse(self, problem):
        raise InvalidInputError("known dynamics are needed")

    monkeypatch.setattr("boirl.baselines.maxent.MaxEnt.check", refuse)
    monkeypatch.setattr(table1, "exact_rule", lambda problem, tolerance: lambda one: False)
    monkeypatch.setattr(table1, "is_attainable", lambda problem: True)
    store = Store(tmp_path)
    cell = table1.trial_cell(Plan(quick=True), "gridworld", "exact", "maxent", 3, 0)
    store.add(cell, cell.run(), 0.0)
    assert "| `maxent` | - | not run | does not apply | - | - |" in table1.describe(store)


def test_the_line_of_a_method(results):
    text = table1.describe(results)
    line = next(line for line in text.splitlines() if line.startswith("| `rho-rbf` |"))
    assert "70%, 16 ± 15.6" in line
    assert "100% (51% to 100%), 2.5 ± 1.1; 4" in line
    assert "4 : 0 (0.12)" in line
    assert "| `airl` | 70%, 70.4 ± 23.1 | not run | not run | - | - |" in text


def test_gaps_name_the_commands_that_fill_them(nothing):
    empty = table1.describe(nothing)
    assert "- `boirl reproduce table1 --environment maze --protocol paper`" in empty
    assert "- `boirl reproduce table1 --environment 'borlange wide' --protocol exact`" in empty
    for seed in range(10):
        add_trial(nothing, "maze", "exact", "random", seed, 3)
    add_trial(nothing, "maze", "exact", "rbf", 0, 3)
    text = table1.describe(nothing)
    gap = next(line for line in text.splitlines() if "maze --protocol exact" in line)
    assert "--method rbf --method matern --method" in gap  # One trial of ten, and none.
    assert "--method random" not in gap
