"""Every experiment has a tiny mode, which runs to its end and writes its files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from boirl.experiments import EXPERIMENTS, run_experiment

LEARNING = (
    "maze-search",
    "maze-imitation",
    "maze-noise",
    "fetch-search",
    "fetch-solvers",
    "taxi-learning",
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_a_tiny_run_writes_its_files(
    name: str, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in LEARNING:
        pytest.importorskip("gymnasium_robotics", reason="needs the extra boirl[rl]")
    monkeypatch.setenv("BOIRL_CACHE", str(cache))
    lines = run_experiment(name, tmp_path, {}, tiny=True)
    assert lines
    assert set(lines[0]) == set(EXPERIMENTS[name].columns)
    assert len(json.loads((tmp_path / "summary.json").read_text())) == len(lines)
