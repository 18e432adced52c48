"""Every drill has a tiny mode, which runs to its end and writes its file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUICK = ("overhead",)
"""Those that the default run executes; the others start many processes."""

NAMES = ("cluster", "overhead", "postgres", "speedup", "table")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.long) for name in NAMES],
)
def test_a_tiny_run_writes_its_file(name: str, tmp_path: Path) -> None:
    if name == "cluster":
        pytest.importorskip("distributed")
    command = [sys.executable, "-m", f"drills.{name}", "--tiny", "--out", str(tmp_path)]
    environment = {**os.environ, "BOIRL_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / f"drill_{name}.json").read_text())
