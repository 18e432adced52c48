"""From the set to a decision: questions, what constraints rule out, acting, what if, demonstrators.

Every part is worked out from few rewards of the posterior, so that a report stays quick, and is
left out where it cannot be. Where policies are learned nothing is rolled out for a report; the
commands do that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from boirl.constraints.quantities import ExpectedTotal
from boirl.decisions.acting import Decision, decide
from boirl.decisions.changed import changed_problem
from boirl.decisions.ensemble import Ensemble, ensemble_of
from boirl.decisions.plausible import with_plausible
from boirl.decisions.questions import StartQuestion, ask_ensemble
from boirl.decisions.table_mixtures import fit_table, log_likelihood_table
from boirl.decisions.transfer import Transfer
from boirl.errors import BoirlError
from boirl.problem import TabularProblem
from boirl.report.numbers import in_words, named
from boirl.report.scenes import Scene
from boirl.results import RewardSet

REPORTED_POLICIES = 16
"""Samples of the posterior that are solved for."""

REPORTED_QUESTIONS = 3
LEAST_INFORMATION = 0.005
"""Nats; what is less is 0.00 on the page, and no question is worth asking."""

DEMONSTRATOR_STREAM = 41

Part = TypeVar("Part")


@dataclass(frozen=True, eq=False)
class Deciding:
    """What a report says of decisions; None or nothing where a part cannot be worked out.

    Attributes:
        questions: Starts to ask about, the best first.
        ruled_out: Rewards that constraints rule out, by behaviour: theta, NLL and why.
        mean: The policy that is best on average.
        worst: The policy that is best in the worst case.
        change: What if the state that is demonstrated most were closed.
        closed: What that state is called.
        demonstrators: Whether the demonstrations look like those of several.
    """

    questions: Sequence[StartQuestion]
    ruled_out: Sequence[dict[str, str]]
    mean: Decision | None
    worst: Decision | None
    change: Transfer | None
    closed: str
    demonstrators: str

    def to_text(self) -> dict[str, Any]:
        """Everything that the template shows."""
        told_apart = any(one.information >= LEAST_INFORMATION for one in self.questions)
        return {
            "told_apart": told_apart,
            "questions": [
                {
                    "name": one.name,
                    "information": f"{one.information:.2f}",
                    "behaviours": [(f"{way.weight:.0%}", way.words) for way in one.behaviours[:5]],
                }
                for one in self.questions
            ],
            "ruled_out": self.ruled_out,
            "acting": _acting_rows(self.mean, self.worst),
            "closed": self.closed,
            "change": [] if self.change is None else str(self.change).splitlines(),
            "demonstrators": self.demonstrators,
        }


def deciding_of(found: RewardSet, scene: Scene | None = None) -> Deciding:
    """Work it out; nothing is trained or rolled out in a simulator.

    Args:
        found: The answer of a search.
        scene: Gives states the names that the rest of a report gives them.
    """
    nothing: list[dict[str, str]] = []
    ruled_out = _or(lambda: ruled_out_rows(found), nothing)
    demonstrators = _or(lambda: describe_demonstrators(found), "")
    if found.problem.is_model_free:
        return Deciding((), ruled_out, None, None, None, "", demonstrators)
    ensemble = _or(lambda: ensemble_of(found, REPORTED_POLICIES), None)
    if ensemble is None:
        return Deciding((), ruled_out, None, None, None, "", demonstrators)
    known: Ensemble = ensemble

    def acting(level: float, risk: str) -> Decision:
        rewards = with_plausible(found, known, level == 1.0, REPORTED_POLICIES)
        return decide(rewards, found.best, level, risk)

    change = _or(lambda: closed_state(found, scene), None)
    return Deciding(
        _or(lambda: ask_ensemble(known, REPORTED_QUESTIONS), []),
        ruled_out,
        _or(lambda: acting(0.0, "mean"), None),
        _or(lambda: acting(1.0, "worst"), None),
        None if change is None else change[1],
        "" if change is None else change[0],
        demonstrators,
    )


def _or(work: Callable[[], Part], otherwise: Part) -> Part:
    """What comes of some work, or something else where boirl says that it cannot be done."""
    try:
        return work()
    except BoirlError:
        return otherwise


def ruled_out_rows(found: RewardSet) -> list[dict[str, str]]:
    """Rewards that explain the demonstrations and break a constraint, the best of each group."""
    if not found.constraints:
        return []
    groups = found.infeasible_groups(found.likelihood_ratio_tolerance(), absolute=True)
    return [
        {
            "theta": named(found.names, group.representative),
            "nll": in_words(group.nll),
            "size": str(len(group.indices)),
            "why": "; ".join(
                found.constraints.violations(
                    found.evaluations[int(group.indices[0])], found.problem.box
                )
            ),
        }
        for group in groups
    ]


def describe_demonstrators(found: RewardSet) -> str:
    """Whether two demonstrators explain the demonstrations better than one, by what is kept."""
    evaluations = [one for one in found.evaluations if one.ok]
    if len(found.problem.demonstrations) < 4 or len(evaluations) < 2:
        return ""
    table = log_likelihood_table(found.problem, evaluations)
    rng = np.random.default_rng(DEMONSTRATOR_STREAM)
    one, two = (fit_table(table, k, rng) for k in (1, 2))
    d, n = found.problem.box.dimension, table.shape[1]
    gain = two.log_likelihood - one.log_likelihood
    is_two = 2.0 * gain > (d + 1) * np.log(n)
    counts = np.bincount(two.labels, minlength=2)
    if not counts.min():
        return (
            "By the rewards that were evaluated, a second demonstrator would explain none of the "
            f"{n} trajectories better: one is enough."
        )
    split = f"{counts.max()} and {counts.min()} of {n} trajectories"
    verdict = "calls for two" if is_two else "calls for one"
    return (
        f"Two demonstrators ({split}) in place of one raise the log-likelihood of all "
        f"demonstrations by {gain:.1f}, by the rewards that were evaluated; the Bayesian "
        f"information criterion {verdict}."
    )


def closed_state(found: RewardSet, scene: Scene | None = None) -> tuple[str, Transfer] | None:
    """The state that demonstrations pass most often, by name, and what if it were closed."""
    problem = found.problem
    if not isinstance(problem, TabularProblem):
        return None
    shown = problem.demonstrations
    # Nothing can be closed where a trajectory ends, or waits for its end, and where all start.
    free = ~problem.mdp.is_terminal & (problem.mdp.start < 1.0)
    free[np.concatenate([problem.mdp.endless, problem.mdp.absorbing, shown.starts])] = False
    visits = np.bincount(shown.states, minlength=problem.mdp.n_states)[: len(free)] * free
    if not visits.any():
        return None
    state = int(visits.argmax())
    network = getattr(problem, "network", None)
    closed = state if network is None else int(network.turns[state, 1])
    if network is not None:
        name = f"link {closed}"
    else:
        name = problem.mdp.state_label(state)
        place = name if scene is None else scene.state_name(state)
        name = name if place == name else f"{name} ({place})"
    change = found.transfer(
        changed_problem(problem, [closed]), [ExpectedTotal()], policies=REPORTED_POLICIES
    )
    return name, change


def _acting_rows(mean: Decision | None, worst: Decision | None) -> list[tuple[str, str, str]]:
    """What each way to act costs: on average, and at worst."""
    if mean is None or worst is None:
        return []
    return [
        ("best on average", f"{mean.mean_regret:.4g}", f"{mean.worst_regret:.4g}"),
        ("best in the worst case", f"{worst.mean_regret:.4g}", f"{worst.worst_regret:.4g}"),
        (
            "for the single best reward",
            f"{mean.single_mean_regret:.4g}",
            f"{worst.single_worst_regret:.4g}",
        ),
    ]
