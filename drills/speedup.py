"""How much faster is a search on several workers, and is it as good?

Evaluations that sleep for two seconds, on 1, 2, 4 and 8 worker processes. The quality of proposals
that are made while others run is measured apart, without sleeping: with `w` evaluations pending all
the time, each told in the order in which it was asked. Best NLL and coverage (share of the verified
set of rewards that lies near an evaluation) against those of one at a time, over seeds. Run with
`python -m drills.speedup --out docs/results`.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np

import boirl
from drills import rig

WANTED = {2: 1.9, 4: 3.7, 8: 7.0}
"""How many times faster, by workers."""


def timed(evaluations: int, seconds: float, workers: int, acquisition: str) -> dict[str, Any]:
    """The time that a search on so many workers takes, and how much of it proposals take."""
    problem = rig.sleeping(boirl.load_problem("gridworld"), seconds)
    study = boirl.Study(problem, seed=0, acquisition=acquisition)
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
    began = time.perf_counter()
    study.result = lambda: None  # type: ignore[method-assign, assignment, return-value]
    study.run(evaluations, workers=workers)
    return {"seconds": time.perf_counter() - began, "asking_seconds": asking}


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
    return {"best_nll": found.best_nll, "coverage": coverage(problem, found)}


def coverage(problem: Any, found: Any, n: int = 60) -> float:
    """Share of the thetas on a grid that a likelihood-ratio test does not reject which the
    surrogate takes for such."""
    steps = (np.arange(n) + 0.5) / n
    unit = np.stack(np.meshgrid(*[steps] * problem.box.dimension), axis=-1)
    thetas = problem.box.from_unit(unit.reshape(-1, problem.box.dimension))
    exact = problem.nll_batch(thetas)
    limit = float(np.nanmin(exact)) + found.likelihood_ratio_tolerance()
    believed = found.predict_nll(thetas)[0] <= limit
    accepted = exact <= limit
    return float((believed & accepted).sum() / max(1, accepted.sum()))


def main() -> None:
    parser = rig.arguments(__doc__)
    parser.add_argument("--evaluations", type=int, default=64)
    parser.add_argument("--sleep", type=float, default=2.0)
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    if given.tiny:
        given.evaluations, given.sleep, given.seeds = 6, 0.2, 1
    workers = (1, 2) if given.tiny else (1, 2, 4, 8)
    # Random proposals take no time: what is left is the search itself.
    times = {
        acquisition: {n: timed(given.evaluations, given.sleep, n, acquisition) for n in workers}
        for acquisition in ("random", "resolve")
    }
    faster = {
        acquisition: {n: some[1]["seconds"] / one["seconds"] for n, one in some.items() if n > 1}
        for acquisition, some in times.items()
    }
    quality = {
        pending: [with_pending(seed, given.evaluations, pending) for seed in range(given.seeds)]
        for pending in (1, 8)
    }
    summary = {
        pending: {
            name: {
                "mean": float(np.mean([one[name] for one in rows])),
                "sd": float(np.std([one[name] for one in rows])),
            }
            for name in ("best_nll", "coverage")
        }
        for pending, rows in quality.items()
    }
    found = {
        "evaluations": given.evaluations,
        "sleep": given.sleep,
        "times": times,
        "faster": faster,
        "wanted": WANTED,
        "seeds": given.seeds,
        "quality_by_pending": summary,
        "rows": quality,
        "passed": {
            acquisition: all(some[n] >= WANTED[n] for n in some)
            for acquisition, some in faster.items()
        },
    }
    rig.write(given.out, "drill_speedup", found)


if __name__ == "__main__":
    main()
