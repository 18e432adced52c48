"""Test the oldest, or the newest, versions of dependencies that pyproject.toml allows.

    python scripts/check_versions.py oldest
    python scripts/check_versions.py newest --torch-index https://download.pytorch.org/whl/cpu

Installs into a clean environment, runs the demo and the tests that are named (by default those of
the parts that call the dependencies most), and prints the versions. Without `--torch-index` pip
takes a build of torch with CUDA, which is several GB. `--torch VERSION` takes that version in place
of the oldest or newest, where others cannot be had; say so where you quote the outcome.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import tomllib
from pathlib import Path

from clean_environment import ROOT, CleanEnvironment

TESTS = (
    "tests/demonstrations",
    "tests/environments/test_tabular.py",
    "tests/environments/test_transition_table.py",
    "tests/policies/test_bellman.py",
    "tests/search/test_progress.py",
    "tests/search/test_storage.py",
    "tests/surrogate/test_process.py",
    "tests/surrogate/test_kernels.py",
    "tests/results/test_files.py",
    "tests/results/test_summary.py",
    "tests/cli/test_app.py",
    "tests/cli/test_init.py",
    "tests/cli/test_thetas.py",
    "tests/test_files.py",
    "tests/test_new_user.py",
    "tests/test_tables.py",
)
LOWER = re.compile(r"^([\w.-]+)>=([\w.]+)")


def requirements(which: str, torch: str | None = None) -> list[str]:
    """The dependencies of the package, each at its lower bound or without one.

    Args:
        which: "oldest" or "newest".
        torch: A version of torch to take in place of that.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    chosen = []
    for line in project["dependencies"]:
        found = LOWER.match(line)
        if found is None:
            raise SystemExit(f"{line!r} has no lower bound in pyproject.toml; give it one")
        version = torch if found[1] == "torch" and torch else found[2]
        bare = which == "newest" and version == found[2]
        chosen.append(found[1] if bare else f"{found[1]}=={version}")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", choices=("oldest", "newest"))
    parser.add_argument("--python", default=sys.executable, help="interpreter to install into")
    parser.add_argument("--torch-index", help="address that torch is installed from")
    parser.add_argument("--torch", help="version of torch, in place of the oldest or newest")
    parser.add_argument("--folder", type=Path, help="keep the environment here")
    parser.add_argument("--demo-only", action="store_true", help="leave the tests out")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="tests to run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary) / "environment"
        environment = CleanEnvironment(folder, given.python)
        wanted = requirements(given.which, given.torch)
        if given.torch_index:
            torch = next(one for one in wanted if one.startswith("torch"))
            environment.install("--index-url", given.torch_index, torch)
        environment.install("--upgrade", *wanted)
        environment.install("--no-deps", str(ROOT))
        environment.demo(Path(temporary) / "demo")
        if not given.demo_only:
            environment.install("pytest>=8", "pytest-xdist>=3", "hypothesis>=6.100")
            # Warnings of old and new libraries are not ours to fix.
            quick = ["-q", "-p", "no:cacheprovider", "--override-ini", "filterwarnings="]
            environment.python("-m", "pytest", *quick, *given.tests, cwd=ROOT)
        print(environment.versions())
        print(f"ok: {given.which}", flush=True)


if __name__ == "__main__":
    main()
