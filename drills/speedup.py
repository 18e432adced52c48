"""How much faster is a search on several workers, and is it as good?

Evaluations that sleep for two seconds, on 1, 2, 4 and 8 worker processes. The quality of proposals
that are made while others run is measured apart, without sleeping: with 8 evaluations pending all
the time, each told in the order in which it was asked. Best NLL and coverage (the share of the
rewards on a grid that explain the demonstrations, by a likelihood-ratio test, that the search takes
for such) against those of one at a time, over seeds that nothing was tuned on. Run with
`python -m drills.speedup --out docs/results`; what is in the file already is not measured again.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import boirl
from boirl.evaluation import Evaluation
from boirl.types import FloatArray
from drills import rig

WANTED = {"2": 1.9, "4": 3.7, "8": 7.0}
"""How many times faster, by workers."""

QUALITIES = {"best_nll": 1.0, "coverage": -1.0}
"""What is compared, and whether more of it is worse (1) or better (-1)."""

FIRST_SEED = 100
PENDING = (1, 8)


def timed(evaluations: int, seconds: float, workers: int, acquisition: str) -> dict[str, Any]:
    """The time that a search on so many workers takes, and how much of it proposals take."""
    study = boirl.Study(_asleep(seconds), seed=0, acquisition=acquisition)
    asking = 0.0
    ask = study.questions.ask_within

    def timed_ask(total: float) -> Any:
        nonlocal asking
        began = time.perf_counter()
        try:
            return ask(total)
        finally:
            asking += time.perf_counter() - began

    study.questions.ask_within = timed_ask  # type: ignore[method-assign, assignment]
    study.result = lambda: None  # type: ignore[method-assign, assignment, return-value]
    began, busy = time.perf_counter(), time.process_time()
    study.run(evaluations, workers=workers)
    return {
        "seconds": time.perf_counter() - began,
        "asking_seconds": asking,
        "cpu_seconds_of_the_driver": time.process_time() - busy,
    }


def _asleep(seconds: float) -> Any:
    """Gridworld, whose evaluations sleep and compute next to nothing."""
    problem = boirl.load_problem("gridworld")
    known = problem.evaluate(problem.truth)
    centre = np.asarray(problem.truth)

    def evaluate(theta: Any, seed: int | None = None, report: Any = None) -> Evaluation:
        time.sleep(seconds)
        away = np.asarray(theta) - centre
        return Evaluation(
            tuple(theta),
            known.nll + float(np.sum(away**2)),
            log_likelihoods=known.log_likelihoods,
            gradient=2.0 * away,
            policies=known.policies,
            seed=seed,
        )

    return rig.replaced(problem, evaluate)


def with_pending(seed: int, evaluations: int, pending: int) -> dict[str, float]:
    """The quality of a search in which so many evaluations are always under way."""
    problem = boirl.load_problem("gridworld2d")
    study = boirl.Study(problem, seed=seed)
    waiting: deque[Any] = deque()
    while len(study.trials) < evaluations:
        while len(waiting) < pending and len(waiting) + len(study.trials) < evaluations:
            waiting.append(study.ask())
        question = waiting.popleft()
        study.tell(question, problem.evaluate(question.theta))
    found = study.result()
    return {"seed": seed, "best_nll": found.best_nll, "coverage": coverage(found)}


def coverage(found: Any) -> float:
    """Share of the thetas on a grid that a likelihood-ratio test does not reject which the
    surrogate takes for such."""
    thetas, exact = _landscape()
    limit = float(np.nanmin(exact)) + found.likelihood_ratio_tolerance()
    believed = found.predict_nll(thetas)[0] <= limit
    accepted = exact <= limit
    return float((believed & accepted).sum() / max(1, accepted.sum()))


@cache
def _landscape(n: int = 60) -> tuple[FloatArray, FloatArray]:
    """Thetas on a grid, `n * n x 2`, and their exact NLLs."""
    problem = boirl.load_problem("gridworld2d")
    steps = (np.arange(n) + 0.5) / n
    unit = np.stack(np.meshgrid(*[steps] * problem.box.dimension), axis=-1)
    thetas = problem.box.from_unit(unit.reshape(-1, problem.box.dimension))
    return thetas, problem.nll_batch(thetas)


def compare(rows: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Best NLL and coverage by pending evaluations, and how they differ, seed by seed."""
    found: dict[str, Any] = {}
    for name, worse in QUALITIES.items():
        alone, many = (np.array([row[name] for row in rows[str(n)]]) for n in PENDING)
        n = min(len(alone), len(many))
        if not n:
            continue
        lost = worse * (many[:n] - alone[:n])
        found[name] = {
            "one_at_a_time": {"mean": float(alone.mean()), "sd": float(alone.std())},
            "eight_pending": {"mean": float(many.mean()), "sd": float(many.std())},
            "lost": {"mean": float(lost.mean()), "standard_error": float(lost.std() / n**0.5)},
            "within_seed_spread": bool(lost.mean() <= max(alone.std(), many.std())),
        }
    return found


def main() -> None:
    parser = rig.arguments(__doc__)
    parser.add_argument("--evaluations", type=int, default=64)
    parser.add_argument("--sleep", type=float, default=2.0)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", choices=("times", "quality"))
    given = parser.parse_args()
    if given.tiny:
        given.evaluations, given.sleep, given.seeds = 6, 0.2, 1
    file = given.out / "drill_speedup.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    found: dict[str, Any] = {
        "evaluations": given.evaluations,
        "sleep": given.sleep,
        "wanted_seeds": given.seeds,
        "times": kept.get("times", {"random": {}, "resolve": {}}),
        "rows": kept.get("rows", {str(pending): [] for pending in PENDING}),
    }

    def keep() -> None:
        rig.write(given.out, "drill_speedup", {**found, **summary(found)}, quiet=True)

    if given.only != "quality":
        # Random proposals take no time: what is left is the search itself.
        for acquisition, times in found["times"].items():
            for n in (1, 2) if given.tiny else (1, 2, 4, 8):
                if str(n) not in times:
                    times[str(n)] = timed(given.evaluations, given.sleep, n, acquisition)
                    keep()
    if given.only != "times":
        measure_quality(found["rows"], given.evaluations, given.seeds, keep)
    print(json.dumps(summary(found), indent=2))


def measure_quality(
    rows: dict[str, list[dict[str, float]]], evaluations: int, seeds: int, keep: Callable[[], None]
) -> None:
    """Search with each of so many seeds, one at a time and with others pending."""
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        for pending in PENDING:
            if seed not in [row["seed"] for row in rows[str(pending)]]:
                rows[str(pending)].append(with_pending(seed, evaluations, pending))
                keep()


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """What was found so far, and which bars are met: none that was not measured."""
    faster = {
        acquisition: {
            n: times["1"]["seconds"] / one["seconds"] for n, one in times.items() if n != "1"
        }
        for acquisition, times in found["times"].items()
        if "1" in times
    }
    quality = compare(found["rows"])
    passed = {
        acquisition: all(faster.get(acquisition, {}).get(n, 0.0) >= WANTED[n] for n in WANTED)
        for acquisition in found["times"]
    }
    is_whole = all(len(rows) >= found["wanted_seeds"] for rows in found["rows"].values())
    for name in QUALITIES:
        passed[name] = is_whole and name in quality and quality[name]["within_seed_spread"]
    return {
        "faster": faster,
        "wanted": WANTED,
        "seeds": min(len(rows) for rows in found["rows"].values()),
        "quality": quality,
        "passed": passed,
    }


if __name__ == "__main__":
    main()
