"""Results as plain facts for JSON, and as tables for pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boirl.estimation.tables import plain
from boirl.extras import needed

if TYPE_CHECKING:
    from boirl.results.findings import Health
    from boirl.results.inference import ParameterSummary
    from boirl.results.result import Result
    from boirl.results.reward_set import RewardSet
    from boirl.results.verified import VerifiedRewards


def result_facts(found: Result) -> dict[str, Any]:
    """What is true of any result: its problem, its evaluations, the best, and the groups."""
    box, best = found.problem.box, found.best_index
    own = all(one.reward is None for one in found.evaluations)
    groups = found.groups() if own else []
    facts = {
        "problem": found.problem.name,
        "method": found.title,
        "parameters": [
            {"name": name, "low": low, "high": high}
            for name, low, high in zip(box.names, box.low, box.high, strict=True)
        ],
        "best": {"evaluation": best, "theta": found.best, "nll": found.best_nll},
        "likelihood_ratio_tolerance": found.likelihood_ratio_tolerance(),
        "groups": [
            {
                "theta": group.representative,
                "nll": group.nll,
                "evaluations": group.indices,
                "share_of_box": group.volume,
            }
            for group in groups
        ],
        "evaluations": [
            {
                "theta": one.theta,
                "nll": one.nll,
                "nll_se": one.nll_se,
                "seconds": one.seconds,
                "failure": one.failure,
            }
            for one in found.evaluations
        ],
    }
    return plain(facts)


def search_facts(found: RewardSet) -> dict[str, Any]:
    """The same of a search, with what is known of each parameter and how far to trust it."""
    further = {
        "settings": dict(found.settings),
        "known": _known(found.parameter_summary()),
        "health": _findings(found.health()),
    }
    return {**result_facts(found), **plain(further)}


def verified_facts(verified: VerifiedRewards) -> dict[str, Any]:
    """Of verified rewards: effective sample size, what is known of each parameter, health."""
    return plain(
        {
            "evaluations": verified.evaluations,
            "effective_sample_size": verified.effective_sample_size,
            "tail_shape": verified.tail_shape,
            "best": {"theta": verified.best, "nll": verified.best_nll},
            "known": _known(verified.parameter_summary()),
            "health": _findings(verified.health()),
        }
    )


def _known(summary: list[ParameterSummary]) -> list[dict[str, Any]]:
    return [{**vars(one), "verdict": one.verdict} for one in summary]


def _findings(health: Health) -> list[dict[str, Any]]:
    return [{**vars(one), "data": dict(one.data)} for one in health]


def result_frame(found: Result) -> Any:
    """A pandas table with one row per evaluation: theta by name, then what it gave."""
    pandas = needed("pandas", "to_frame")
    own = all(one.reward is None for one in found.evaluations)
    thetas = dict(zip(found.names, found.thetas.T, strict=True)) if own else {}
    columns = {
        **thetas,
        "nll": found.nll,
        "nll_se": found.nll_se,
        "seconds": found.seconds,
        "failure": list(found.failures),
    }
    numbers = pandas.RangeIndex(len(found), name="evaluation")
    return pandas.DataFrame(columns, index=numbers)
