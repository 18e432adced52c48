"""`boirl init`: every starting file runs as it is written."""

import json
import runpy
import warnings
from pathlib import Path

import pytest

import boirl
from boirl.cli.init import Starter

STARTERS = Path(boirl.__file__).parent / "starters"
PAGE = Path(__file__).parents[2] / "docs" / "own_problem.md"


def code_lines(path):
    """Lines that are neither empty nor a comment, without the description and the last lines."""
    code = path.read_text().split('"""', 2)[2].split('if __name__ == "__main__":')[0]
    return [line for line in code.splitlines() if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("kind", ["tabular", "csv", "roads"])
def test_what_is_written_runs_at_once(command, tmp_path, kind):
    """With random search, which takes no time; the problem is what is tested."""
    code, out, errors = command("init", kind, "--out", tmp_path / kind)
    assert code == 0, errors
    assert f"next: boirl run {tmp_path / kind}/problem.py" in out
    options = ("--method", "random", "--evaluations", 4, "--json", "--quiet")
    where = ("--out", tmp_path / "results")
    code, out, errors = command("run", tmp_path / kind / "problem.py", *options, *where)
    assert (code, errors) == (0, "")
    facts = json.loads(out)
    assert len(facts["evaluations"]) == 4
    results = tmp_path / "results" / "random.npz"
    assert str(results) in facts["files"]
    code, out, _ = command("show", results, "--json")
    assert json.loads(out)["best"] == facts["best"]
    best = [f"{value:.6f}" for value in facts["best"]["theta"]]
    for problem in (results, tmp_path / kind / "problem.py"):
        code, out, errors = command("evaluate", problem, "--theta", *best, "--json")
        assert code == 0, errors
        assert json.loads(out)["nll"] == pytest.approx(facts["best"]["nll"], abs=1e-3)


def test_recordings_come_from_minari(command, tmp_path, monkeypatch):
    pytest.importorskip("minari")
    pytest.importorskip("h5py")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    code, out, _ = command("init", "gymnasium", "--out", tmp_path / "valley")
    assert code == 0
    assert f"next: python {tmp_path}/valley/record.py" in out
    source = tmp_path / "valley" / "problem.py"
    code, _, errors = command("evaluate", source, "-0.7", "1")
    assert code == 2
    assert "minari download valley/hikes-v0" in errors
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(tmp_path / "valley" / "record.py"))
        problem = runpy.run_path(str(source))["problem"]
    assert len(problem.demonstrations) == 20
    assert problem.box.names == ("place", "effort")
    assert abs(problem.demonstrations[0].next_states[-1, 0] + 0.7) < 0.15


def test_nothing_is_overwritten(command, tmp_path):
    (tmp_path / "problem.py").write_text("mine")
    code, _, errors = command("init", "tabular", "--out", tmp_path)
    assert code == 2
    assert "there is a file" in errors
    assert (tmp_path / "problem.py").read_text() == "mine"


def test_each_folder_is_a_kind():
    assert {one.value for one in Starter} == {one.name for one in STARTERS.iterdir()}


@pytest.mark.parametrize("kind", list(Starter))
def test_a_problem_takes_twenty_lines_and_a_section_of_the_page(kind):
    path = STARTERS / kind.value / "problem.py"
    assert len(code_lines(path)) <= 20
    shown = PAGE.read_text().split(f"<!-- starters/{kind.value}/problem.py -->\n```python\n")[1]
    assert [line for line in shown.split("```")[0].splitlines() if line] == code_lines(path)
