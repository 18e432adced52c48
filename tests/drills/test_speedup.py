"""A bar that was not measured is not met."""

from drills.speedup import WANTED, summary


def found(times=None, rows=None):
    return {
        "times": times or {"random": {}, "resolve": {}},
        "rows": rows or {"1": [], "8": []},
        "wanted_seeds": 2,
    }


def times(slower):
    return {n: {"seconds": slower[n]} for n in slower}


def test_nothing_measured_is_nothing_passed():
    assert not any(summary(found())["passed"].values())


def test_times_are_passed_with_all_numbers_of_workers_alone():
    whole = times({"1": 100.0, "2": 50.0, "4": 25.0, "8": 12.5})
    part = {n: whole[n] for n in ("1", "2")}
    slow = {**whole, "8": {"seconds": 100.0 / WANTED["8"] + 0.1}}
    for measured, passed in ((whole, True), (part, False), (slow, False)):
        assert summary(found({"random": measured, "resolve": {}}))["passed"]["random"] is passed


def test_quality_is_passed_with_all_seeds_alone():
    rows = [{"seed": seed, "best_nll": 1.0 + 0.1 * seed, "coverage": 0.5} for seed in (0, 1)]
    worse = [{**row, "best_nll": row["best_nll"] + 1.0} for row in rows]
    for one, eight, passed in ((rows, rows, True), (rows, worse, False), (rows, rows[:1], False)):
        assert summary(found(rows={"1": one, "8": eight}))["passed"]["best_nll"] is passed
