"""Results as a notebook shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boirl.html import heading, lines, table
from boirl.results.groups import shown_groups

if TYPE_CHECKING:
    from boirl.results.result import Result
    from boirl.results.reward_set import RewardSet


def result_html(found: Result) -> str:
    """Of any result: the best rewards, one for each distinct behaviour where that is known."""
    own = all(one.reward is None for one in found.evaluations)
    title = f"{found.problem.name}, {found.title}: {len(found)} evaluations, best NLL "
    head = heading(f"{title}{found.best_nll:.4f}")
    if not own:
        return head
    groups, which = shown_groups(found)
    header = ["", *found.names, "NLL", "rewards"]
    rows = [
        [
            str(number),
            *(f"{value:.4g}" for value in group.representative),
            f"{group.nll:.4f}",
            str(len(group.indices)),
        ]
        for number, group in enumerate(groups, start=1)
    ]
    plural = "" if len(groups) == 1 else "s"
    about = f"{len(groups)} distinct behaviour{plural} {which}, best reward of each"
    return head + f"<p>{about}:</p>" + table(header, rows)


def search_html(found: RewardSet) -> str:
    """The same of a search, with what needs attention and what is known of each parameter."""
    attention = [str(one) for one in found.health().attention]
    warned = f"<p>Needs attention:</p>{lines(attention)}" if attention else ""
    rows = [
        [one.name, f"{one.low:.4g}", f"{one.median:.4g}", f"{one.high:.4g}", one.verdict]
        for one in found.parameter_summary()
    ]
    known = table(["parameter", "2.5 %", "median", "97.5 %", "known"], rows)
    return warned + result_html(found) + known
