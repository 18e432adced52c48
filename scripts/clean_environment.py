"""A virtual environment that has nothing but what is installed into it, for checks of releases."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

DEMO = ("run", "gridworld", "--evaluations", "6", "--initial", "hard", "--seed", "0", "--out")

OF_EXTRAS = (
    "altair",
    "arviz",
    "distributed",
    "gymnasium_robotics",
    "minari",
    "optuna_dashboard",
    "pandas",
    "polars",
    "psycopg",
    "pyarrow",
    "sb3_contrib",
    "sphinx",
)
"""A module of each extra."""


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

    def refused_report(self, where: Path) -> None:
        """What a user meets who lacks an extra: one line with the command that installs it."""
        command = [str(self._bin / "boirl"), "report", "demo", "--no-open"]
        done = subprocess.run(
            command, cwd=where, env=own_environment(), capture_output=True, text=True, check=False
        )
        told = done.stderr.strip().splitlines()
        if done.returncode != 2 or len(told) != 1 or "pip install 'boirl[report]'" not in told[0]:
            raise SystemExit(f"boirl report without altair ended with {done.returncode}: {told}")

    def report(self, where: Path) -> None:
        """The report of the demo, and whether what the extras install can be imported."""
        self.boirl("report", "demo", "--no-open", "--out", "report.html", cwd=where)
        if not (where / "report.html").exists():
            raise SystemExit("boirl report wrote no report.html")
        self.python("-c", f"import {', '.join(OF_EXTRAS)}", cwd=where)

    def versions(self) -> str:
        """What is installed, one line per package."""
        freeze = [str(self._bin / "python"), "-m", "pip", "freeze"]
        return subprocess.run(freeze, capture_output=True, text=True, check=True).stdout


def run(command: Sequence[str], cwd: Path | None = None) -> None:
    """Run a command that knows nothing of this checkout; stop where it fails."""
    print("+", " ".join(command), flush=True)
    done = subprocess.run(command, cwd=cwd or ROOT, env=own_environment(), check=False)
    if done.returncode:
        raise SystemExit(f"failed with exit code {done.returncode}: {' '.join(command)}")


def own_environment() -> dict[str, str]:
    """The variables of this process without those that lead to this checkout."""
    hidden = ("PYTHONPATH", "PYTHONHOME")
    return {key: value for key, value in os.environ.items() if key not in hidden}
