"""Do questions that are chosen say more than others? Three of them, in problems that are ambiguous.

For each seed a search is run, the best question is asked, the demonstrator answers, the kept
policies are scored again, the search goes on, and so on. Beside it, starts are drawn at random. How
far the posterior shrinks is measured by the exact posterior. On the lake, the question is what to
do in a state; elsewhere, how to go on from a start.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from boirl.decisions.starts import possible_starts
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.experiments.ambiguous import AMBIGUOUS
from boirl.experiments.beliefs import POINTS, ExactBelief, exact_belief
from boirl.experiments.trials import Experiment, OnTrial, Row, quiet, run_trials, write_summary
from boirl.problem import TabularProblem
from boirl.results import RewardSet
from boirl.search import Study
from boirl.tolerance import likelihood_ratio_tolerance

STREAM = 1902
QUESTIONS = 3
RANDOM_ARMS = 3
"""Random sequences of questions that each seed compares with."""

ANSWERS = {"gridworld": (20, 20), "frozen-lake": (50, 1), "town": (20, 40)}
"""Demonstrations that an answer consists of, and steps of each."""

MORE_EVALUATIONS = 5
"""Evaluations after each answer."""


@dataclass(frozen=True)
class Interview:
    """Who is asked about what.

    Attributes:
        name: Of the problem.
        seed: Of everything random.
        trajectories: Demonstrations that an answer consists of.
    """

    name: str
    seed: int
    trajectories: int

    @cached_property
    def problem(self) -> TabularProblem:
        return AMBIGUOUS[self.name](self.seed)

    @property
    def horizon(self) -> int:
        """Steps of a demonstration."""
        return ANSWERS[self.name][1]

    def answer(self, start: Any, *stream: int) -> Demonstrations:
        """What the demonstrator does from a start."""
        rng = np.random.default_rng([STREAM, self.seed, *stream])
        truth = self.problem.policy(self.problem._require_truth())
        starts = np.full(self.trajectories, start)
        return self.problem.roll_out(truth, starts, self.horizon, rng)


def run_trial(name: str, seed: int, evaluations: int, points: int, trajectories: int | None) -> Row:
    """One problem: how far chosen and random questions shrink its posterior."""
    interview = Interview(name, seed, trajectories or ANSWERS[name][0])
    problem = interview.problem
    before = exact_belief(problem, points, seed=seed)

    def given(answers: Demonstrations) -> ExactBelief:
        return exact_belief(_informed(problem, answers), points, before, seed)

    asked, answers, found = _chosen_arm(interview, evaluations)
    after = given(answers)
    random = [given(_random_arm(interview, arm)) for arm in range(RANDOM_ARMS)]
    return {
        "problem": name,
        "seed": seed,
        "evaluations": evaluations,
        "points": points,
        "trajectories": trajectories,
        "dimension": problem.box.dimension,
        "volume": before.volume,
        "chosen": before.volume / after.volume,
        "random": [before.volume / one.volume for one in random],
        "effective": min(one.effective for one in (before, after, *random)),
        "asked": asked,
        **_truth_remains(problem, after, answers, found),
    }


def _informed(problem: TabularProblem, answers: Demonstrations) -> TabularProblem:
    """A problem with answers beside its demonstrations."""
    return problem.with_demonstrations(
        Demonstrations.concatenate([problem.demonstrations, answers])
    )


def _chosen_arm(
    interview: Interview, evaluations: int
) -> tuple[list[Row], Demonstrations, RewardSet]:
    """Questions by information, their answers, and what the search makes of them in the end."""
    seed, horizon = interview.seed, interview.horizon
    study = Study(interview.problem, seed=seed)
    found, asked, answers = study.run(evaluations), [], []
    for number in range(QUESTIONS):
        (question,) = found.questions(
            1, trajectories=interview.trajectories, horizon=horizon, seed=seed
        )
        answers.append(interview.answer(question.start, number))
        study.add_demonstrations(answers[-1])
        found = study.run(evaluations + (number + 1) * MORE_EVALUATIONS)
        asked.append({"start": question.start, "information": question.information})
    return asked, Demonstrations.concatenate(answers), found


def _random_arm(interview: Interview, arm: int) -> Demonstrations:
    """The answers to questions from starts that are drawn uniformly."""
    rng = np.random.default_rng([STREAM, interview.seed, 100 + arm])
    starts = rng.choice(possible_starts(interview.problem, rng), QUESTIONS, replace=False)
    answers = [interview.answer(start, arm, number) for number, start in enumerate(starts)]
    return Demonstrations.concatenate(answers)


def _truth_remains(
    problem: TabularProblem,
    after: ExactBelief,
    answers: Demonstrations,
    found: RewardSet,
) -> Row:
    """Whether the truth, or a reward that acts like it, is among what is left.

    By the likelihood-ratio test on the exact posterior, and by the groups that the search reports.
    """
    truth = problem.evaluate(problem._require_truth())
    everything = _informed(problem, answers)
    own = float(everything.kept_log_likelihoods([truth]).sum())
    below = float(max(own, float(after.log_likelihoods.max())) - own)
    tolerance = found.likelihood_ratio_tolerance()
    groups = found.groups(tolerance, absolute=True)
    members = [int(number) for group in groups for number in group.indices]
    policies = [problem.policy_of(truth), *found.policies(members)]
    distances = everything.behaviour_distances(policies)[0, 1:]
    return {
        "truth_not_rejected": below <= likelihood_ratio_tolerance(1, problem.box.dimension),
        "truth_below_best": below,
        "distance_of_nearest_group": float(distances.min()),
        "truth_group_remains": bool(distances.min() <= problem.same_behaviour),
    }


def run(
    out: Path,
    problems: Sequence[str] = tuple(AMBIGUOUS),
    seeds: Sequence[int] = tuple(range(20)),
    evaluations: int = 20,
    on_trial: OnTrial = quiet,
    points: int = POINTS,
    trajectories: int | None = None,
) -> list[Row]:
    """Ask questions in each problem and seed, see `Experiment`."""
    unknown = set(problems) - set(AMBIGUOUS)
    if unknown:
        raise InvalidInputError(
            f"there is no problem {', '.join(sorted(unknown))}; expected some of "
            f"{', '.join(AMBIGUOUS)}"
        )
    wanted: dict[Hashable, Callable[[], Row]] = {
        (name, seed, evaluations, points, trajectories): partial(
            run_trial, name, seed, evaluations, points, trajectories
        )
        for seed in seeds
        for name in problems
    }
    keys = ("problem", "seed", "evaluations", "points", "trajectories")
    rows = run_trials(out, wanted, lambda row: tuple(row[key] for key in keys), on_trial)
    summary = [
        summarise(name, [row for row in rows if row["problem"] == name]) for name in problems
    ]
    write_summary(out, summary)
    return summary


def summarise(name: str, rows: Sequence[Row]) -> Row:
    """Geometric means of how far the posterior shrank, and their ratio."""
    chosen = np.log([row["chosen"] for row in rows])
    random = np.array([np.log(row["random"]).mean() for row in rows])
    return {
        "problem": name,
        "seeds": len(rows),
        "chosen": float(np.exp(chosen.mean())),
        "random": float(np.exp(random.mean())),
        "ratio": float(np.exp((chosen - random).mean())),
        "better_in": float((chosen > random).mean()),
        "truth_group_remains": float(np.mean([row["truth_group_remains"] for row in rows])),
        "truth_not_rejected": float(np.mean([row["truth_not_rejected"] for row in rows])),
        "effective_least": min(row["effective"] for row in rows),
    }


EXPERIMENT = Experiment(
    run,
    {
        "problem": lambda row: row["problem"],
        "seeds": lambda row: str(row["seeds"]),
        "chosen questions shrink": lambda row: f"{row['chosen']:.1f} times",
        "random ones": lambda row: f"{row['random']:.1f} times",
        "ratio": lambda row: f"{row['ratio']:.1f}",
        "chosen better in": lambda row: f"{row['better_in']:.0%}",
        "truth's group remains": lambda row: f"{row['truth_group_remains']:.0%}",
        "truth not rejected": lambda row: f"{row['truth_not_rejected']:.0%}",
    },
    tiny={
        "problems": ["frozen-lake"],
        "seeds": [1000],
        "evaluations": 3,
        "points": 32,
        "trajectories": 2,
    },
)
