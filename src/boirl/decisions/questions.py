"""What to ask next: the starts from which a demonstration says most about the reward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boirl.decisions.behaviours import Behaviour, behaviour_lines, behaviours_from
from boirl.decisions.ensemble import Ensemble, ensemble_of
from boirl.decisions.information import Answers, TabularAnswers, answers_of
from boirl.decisions.starts import possible_starts, state_name
from boirl.errors import InvalidInputError
from boirl.problem import TabularProblem
from boirl.problem.walks import horizon_of
from boirl.threads import single_thread
from boirl.types import FloatArray

if TYPE_CHECKING:
    from boirl.results import RewardSet

QUESTION_STREAM = 31

EXAMINED = 64
"""Starts for which the information is computed, those with the highest upper bounds."""

FINALISTS = 8
"""Starts for which that of several trajectories is, those with the most in a single one."""


@dataclass(frozen=True, eq=False)
class StartQuestion:
    """A start from which to ask for a demonstration.

    Attributes:
        start: The state, or what to set a simulator to.
        name: What it is called.
        information: What the answer is expected to say about the reward beyond the answers to the
            questions before it, in nats.
        alone: The same if this was the only question.
        behaviours: What the rewards of the posterior would do from there, the most probable first.
    """

    start: Any
    name: str
    information: float
    alone: float
    behaviours: tuple[Behaviour, ...]

    def __str__(self) -> str:
        lines = [f"what would you do from {self.name}? ({self.information:.2f} nats expected)"]
        return "\n".join([*lines, *behaviour_lines(self.behaviours)])


def ask(
    found: RewardSet,
    n: int = 3,
    starts: Any = None,
    trajectories: int = 1,
    horizon: int | None = None,
    policies: int | None = None,
    seed: int = 0,
) -> list[StartQuestion]:
    """The starts to ask about, the best question first.

    Each question is the one that says most, given that those before it are answered too.

    Args:
        found: The answer of a search.
        n: Questions.
        starts: Starts to choose from, a row each; by default all there are.
        trajectories: Demonstrations that an answer would consist of.
        horizon: Steps of each; by default those of the problem.
        policies: See `boirl.decisions.ensemble`.
        seed: Of everything random.
    """
    if n < 1:
        raise InvalidInputError(f"n is {n}; expected at least one question")
    if trajectories < 1:
        raise InvalidInputError(f"trajectories is {trajectories}; expected at least 1 per answer")
    if horizon is not None and horizon < 1:
        raise InvalidInputError(f"the horizon is {horizon}; expected at least one step")
    ensemble = ensemble_of(found, policies, seed)
    return ask_ensemble(ensemble, n, starts, trajectories, horizon, seed)


def ask_ensemble(
    ensemble: Ensemble,
    n: int,
    starts: Any = None,
    trajectories: int = 1,
    horizon: int | None = None,
    seed: int = 0,
) -> list[StartQuestion]:
    """`ask` for rewards that stand for the posterior."""
    problem = ensemble.problem
    rng = np.random.default_rng([seed, QUESTION_STREAM])
    given = possible_starts(problem, rng) if starts is None else np.asarray(starts)
    if not len(given):
        raise InvalidInputError("there are no starts to choose from; expected at least one")
    if isinstance(problem, TabularProblem):
        check_starts(given, problem.mdp.n_states)
    steps = horizon_of(problem) if horizon is None else horizon
    with single_thread():
        answers = answers_of(ensemble, steps)
        candidates = _examined(answers, given)
        chosen = _choose(answers, candidates, min(n, len(candidates)), trajectories, rng)
        return [
            StartQuestion(
                start if np.ndim(start) else start.item(),
                state_name(problem, start),
                information,
                alone,
                behaviours_from(ensemble, start, steps, rng),
            )
            for start, information, alone in chosen
        ]


def check_starts(starts: Any, n_states: int) -> None:
    """Refuse starts that are no states, or none."""
    if not len(starts):
        raise InvalidInputError("there are no starts to choose from; expected at least one")
    whole = starts.dtype.kind in "iu" and starts.ndim == 1
    if not whole or not ((starts >= 0) & (starts < n_states)).all():
        raise InvalidInputError(
            f"the starts are {starts.tolist()}; expected states from 0 to {n_states - 1}"
        )


def _examined(answers: Answers, starts: Any) -> Any:
    """The starts that may be worth asking about."""
    if not isinstance(answers, TabularAnswers) or len(starts) <= EXAMINED:
        return starts
    bounds = answers.bounds()[starts]
    return starts[np.argsort(-bounds, kind="stable")[:EXAMINED]]


def _choose(
    answers: Answers, starts: Any, n: int, trajectories: int, rng: np.random.Generator
) -> list[tuple[Any, float, float]]:
    """At most `n` starts with their information, beyond earlier ones and alone; greedily.

    What an answer adds never rises with what else is known, so that no later question is worth more
    than one before it.
    """
    before = answers.nothing()
    single = [answers.draw(start, before, rng)[0] for start in starts]
    order = sorted(range(len(starts)), key=lambda number: -single[number])
    if trajectories > 1:
        order = order[: max(FINALISTS, 2 * n)]
    drawn = {one: _draw(answers, starts[one], before, trajectories, rng) for one in order}
    alone = {one: gain for one, (gain, _) in drawn.items()}
    limits, chosen = dict(alone), [max(alone, key=lambda number: alone[number])]
    found = [alone[chosen[0]]]
    before = drawn[chosen[0]][1]
    while len(chosen) < n:
        del limits[chosen[-1]]
        gains: dict[int, tuple[float, FloatArray]] = {}
        # Those whose information was less before than that of another one now are not looked at.
        for one in sorted(limits, key=lambda number: -limits[number]):
            if gains and max(gain for gain, _ in gains.values()) >= limits[one]:
                break
            gains[one] = _draw(answers, starts[one], before, trajectories, rng)
            limits[one] = min(limits[one], gains[one][0])
        chosen.append(max(gains, key=lambda number: gains[number][0]))
        found.append(min(gains[chosen[-1]][0], found[-1]))
        before = gains[chosen[-1]][1]
    rows = zip(chosen, found, strict=True)
    return [(starts[one], information, alone[one]) for one, information in rows]


def _draw(
    answers: Answers,
    start: Any,
    before: FloatArray,
    trajectories: int,
    rng: np.random.Generator,
) -> tuple[float, FloatArray]:
    total, logs = 0.0, before
    for _ in range(trajectories):
        gain, logs = answers.draw(start, logs, rng)
        total += gain
    return total, logs


def describe_questions(questions: Sequence[Any]) -> str:
    """Questions as a numbered list."""
    return "\n".join(f"{number}. {one}" for number, one in enumerate(questions, start=1))
