"""Every drill has a tiny mode, which runs to its end and writes its file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DRILLS = Path(__file__).parents[2] / "drills"
QUICK = ("overhead",)
"""Those that the default run executes; the others start many processes."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.long)
        for name in sorted(path.stem for path in DRILLS.glob("*.py") if path.stem != "rig")
    ],
)
def test_a_tiny_run_writes_its_file(name: str, tmp_path: Path) -> None:
    if name == "cluster":
        pytest.importorskip("distributed")
    command = [sys.executable, str(DRILLS / f"{name}.py"), "--tiny", "--out", str(tmp_path)]
    environment = {**os.environ, "BOIRL_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / f"drill_{name}.json").read_text())
