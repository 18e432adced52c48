"""What somebody waits for who looks at boirl: to import it, to read its help, to open a report.

    python benchmarks/first_look.py --out results/bench

Processes take turns, and the fastest of three counts, as others use the machine, too. The report
is of a search of 500 evaluations, most of them initial ones, in headless Chromium (`make browser`);
without Chromium or playwright that part is left out.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROUNDS = 3
EVALUATIONS, PROPOSED = 500, 20
PROBLEM = "gridworld"
STARTED = {
    "python": "pass",
    "torch": "import torch",
    "boirl": "import boirl",
    "torch_and_boirl": "import torch, boirl",
    "torch_and_search": "import torch, boirl; boirl.explore",
    "help": "import sys; from boirl.cli import main; sys.argv[1:] = ['--help']; main()",
}
"""What a fresh interpreter runs, by name."""

READY = "document.body.dataset.ready === 'yes'"


def seconds_of(code: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def startup(rounds: int) -> dict[str, float]:
    """The fewest seconds of each, of so many rounds."""
    took = [{name: seconds_of(code) for name, code in STARTED.items()} for _ in range(rounds)]
    least = {name: min(one[name] for one in took) for name in STARTED}
    return {
        **least,
        "boirl_over_torch": min(one["torch_and_boirl"] for one in took) - least["torch"],
        "help_over_torch_ratio": least["help"] / least["torch"],
    }


def report(evaluations: int, proposed: int, out: Path) -> dict[str, Any]:
    """Size of a report, and how long a browser takes until all of it is drawn."""
    import boirl
    from boirl.report import write_report

    problem = boirl.load_problem(PROBLEM)
    found = boirl.explore(problem, evaluations, n_initial=evaluations - proposed, seed=0)
    path = out / "report.html"
    write_report([found], path)
    sizes = {"problem": PROBLEM, "evaluations": len(found), "bytes": path.stat().st_size}
    opened = browser_seconds(path)
    return {**sizes, "seconds": opened}


def browser_seconds(path: Path) -> float | None:
    """From opening a page to its last chart, at best of three times; None without a browser."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if chromium is None:
        return None
    took = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(3):
            page = browser.new_page()
            page.goto(path.resolve().as_uri())
            page.wait_for_function(READY, timeout=60_000)
            took.append(float(page.evaluate("boirlSeconds")))
            page.close()
        browser.close()
    return min(took)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/bench"), help="folder to write")
    parser.add_argument("--tiny", action="store_true", help="only show that it runs")
    given = parser.parse_args(argv)
    given.out.mkdir(parents=True, exist_ok=True)
    rounds, evaluations, proposed = (1, 6, 2) if given.tiny else (ROUNDS, EVALUATIONS, PROPOSED)
    measured = {"startup": startup(rounds), "report": report(evaluations, proposed, given.out)}
    path = given.out / "first_look.json"
    path.write_text(json.dumps(measured, indent=2) + "\n")
    print(path.read_text())


if __name__ == "__main__":
    main()
