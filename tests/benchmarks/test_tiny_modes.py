"""Every benchmark has a tiny mode, which runs to its end and writes its file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("name", sorted(path.stem for path in BENCHMARKS.glob("*.py")))
def test_a_tiny_run_writes_its_file(name: str, tmp_path: Path) -> None:
    if name == "maze_speed":
        pytest.importorskip("stable_baselines3")
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--tiny", "--out", str(tmp_path)]
    environment = {**os.environ, "BOIRL_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / f"{name}.json").read_text())
