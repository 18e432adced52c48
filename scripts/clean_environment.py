"""A virtual environment that has nothing but what is installed into it, for checks of releases."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

DEMO = ("run", "gridworld", "--evaluations", "6", "--initial", "hard", "--seed", "0", "--out")


class CleanEnvironment:
    """A new virtual environment in a folder.

    Args:
        folder: Where it is made.
        python: The interpreter that makes it.
    """

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        self.folder = folder
        run([python, "-m", "venv", str(folder)])
        self._bin = folder / "bin"

    def install(self, *arguments: str) -> None:
        """Call pip; `--quiet`, without a word on newer versions of itself."""
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([str(self._bin / "python"), *pip, *arguments])

    def python(self, *arguments: str, cwd: Path) -> None:
        run([str(self._bin / "python"), *arguments], cwd)

    def boirl(self, *arguments: str, cwd: Path) -> None:
        run([str(self._bin / "boirl"), *arguments], cwd)

    def demo(self, where: Path) -> None:
        """What a new user does first: the demo, and a problem of one's own from a starting file."""
        where.mkdir(parents=True, exist_ok=True)
        self.boirl(*DEMO, "demo", cwd=where)
        self.boirl("show", "demo/rewards.npz", cwd=where)
        for picture in ("landscape", "latent", "convergence"):
            if not (where / "demo" / f"{picture}.png").exists():
                raise SystemExit(f"the demo drew no {picture}.png")
        self.boirl("init", "csv", "--out", "street", cwd=where)
        self.boirl("run", "street/problem.py", "--evaluations", "4", "--json", cwd=where)

    def versions(self) -> str:
        """What is installed, one line per package."""
        freeze = [str(self._bin / "python"), "-m", "pip", "freeze"]
        return subprocess.run(freeze, capture_output=True, text=True, check=True).stdout


def run(command: Sequence[str], cwd: Path | None = None) -> None:
    """Run a command that knows nothing of this checkout; stop where it fails."""
    print("+", " ".join(command), flush=True)
    own = {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")
    }
    done = subprocess.run(command, cwd=cwd or ROOT, env=own, check=False)
    if done.returncode:
        raise SystemExit(f"failed with exit code {done.returncode}: {' '.join(command)}")
