"""The tree tells the story: layers, mirrored tests, sizes, and a CONTRIBUTING.md that is true."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "boirl"
STARTERS = SOURCE / "starters"
"""Files that `boirl init` writes, which `tests/cli/test_init.py` runs."""
MODULES = sorted(
    path
    for path in SOURCE.rglob("*.py")
    if path.name != "__init__.py" and STARTERS not in path.parents
)
LONGEST, LONGEST_MEDIAN = 350, 150


def test_a_module_imports_only_from_layers_below_it() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_module_has_a_mirrored_test() -> None:
    expected = {
        path: ROOT / "tests" / path.relative_to(SOURCE).parent / f"test_{path.name}"
        for path in MODULES
    }
    missing = [str(test.relative_to(ROOT)) for test in expected.values() if not test.exists()]
    assert not missing


def test_a_module_is_read_in_one_sitting() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in MODULES}
    assert {str(path): size for path, size in lines.items() if size > LONGEST} == {}
    assert statistics.median(lines.values()) <= LONGEST_MEDIAN


def test_contributing_lists_every_folder_and_module() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text().split("## Adding one of a kind")[0]
    listed = set(re.findall(r"`(\w+)/?`", table))
    existing = {
        path.stem
        for path in SOURCE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert existing - {"__init__"} <= listed
