"""The answer of a search in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from boirl.results.groups import RewardGroup, shown_groups
from boirl.results.inference import ParameterSummary

if TYPE_CHECKING:
    from boirl.results.reward_set import RewardSet

SHOWN_ROWS = 10
"""Behaviours that have a line."""

SHOWN_REASONS = 3
"""Of failures, that have a line."""

VERIFIED_SECONDS = 60.0
"""Verification is suggested where it takes less than a minute."""


def describe(found: RewardSet, verify_evaluations: int) -> str:
    """What `print(found)` shows.

    Args:
        found: The answer.
        verify_evaluations: What `found.verify()` would take.
    """
    if not found.feasible.any():
        return f"{found.problem.name}: {found._no_solution()}"
    health = found.health()
    lines = [*_set_lines(found)]
    if not health.is_good:
        lines += ["needs attention:", *(f"  ! {one}" for one in health.attention)]
    lines += _group_lines(found)
    lines += _infeasible_lines(found)
    lines.append("what is known of each parameter (95 % interval, median):")
    lines += parameter_lines(found.parameter_summary())
    ties = health.named("rewards tied")
    if ties is not None and ties.data["ties"]:
        lines.append(str(ties))
    jumps = health.named("reward jumps")
    if jumps is not None and jumps.data["parameters"]:
        lines.append(str(jumps))
    seconds = float(np.median(found.seconds))
    model_free = found.problem.is_model_free
    if not model_free and 0.0 < seconds * verify_evaluations < VERIFIED_SECONDS:
        lines.append(
            f"an evaluation takes {1e3 * seconds:.2g} ms: found.verify() makes this exact in about "
            f"{max(1.0, seconds * verify_evaluations):.0f} s"
        )
    return "\n".join(lines)


def _set_lines(found: RewardSet) -> list[str]:
    failed = int(np.isnan(found.nll).sum())
    tolerance = found.likelihood_ratio_tolerance()
    kept = len(found.indices_within(tolerance, absolute=True))
    close, near = len(found.indices_within(0.01)), len(found.indices_within(0.10))
    return [
        f"{found.problem.name}: {len(found)} evaluations"
        + (f", {failed} of them failed" if failed else ""),
        *_failure_lines(found),
        f"not rejected at 95 % by a likelihood-ratio test: {kept} of them, NLL at most "
        f"{found.best_nll + tolerance:.4f} ({tolerance:.3g} above the best)",
        f"best NLL {found.best_nll:.4f}; rewards within 1 %: {close}, within 10 %: {near}",
    ]


def _failure_lines(found: RewardSet) -> list[str]:
    """Why evaluations failed, the commonest reasons first."""
    counts = Counter(reason for reason in found.failures if reason is not None).most_common()
    lines = [f"  failed, {count} of them: {reason}" for reason, count in counts[:SHOWN_REASONS]]
    left = len(counts) - len(lines)
    return [
        *lines,
        *([f"  and for {left} further reason{'s' if left > 1 else ''}"] if left else []),
    ]


def _group_lines(found: RewardSet) -> list[str]:
    groups, which = shown_groups(found)
    plural = "" if len(groups) == 1 else "s"
    lines = [f"{len(groups)} distinct behaviour{plural} {which}, best reward of each:"]
    header = "".join(f"{name:>14}" for name in found.names)
    lines.append(f"{'':>4}{header}{'NLL':>12}{'rewards':>9}{'of the box':>12}")
    limit = found.best_nll + found.likelihood_ratio_tolerance()
    for number, group in enumerate(groups[:SHOWN_ROWS], start=1):
        row = "".join(f"{value:>14.4f}" for value in group.representative)
        counts = f"{len(group.indices):>9}{group.volume:>12.1%}"
        mark = "  rejected" if group.nll > limit else ""
        lines.append(f"{number:>4}{row}{group.nll:>12.4f}{counts}{mark}")
    if len(groups) > SHOWN_ROWS:
        lines.append(f"{'':>4}and {len(groups) - SHOWN_ROWS} more")
    return lines + _difference_lines(found, groups[:SHOWN_ROWS])


def _difference_lines(found: RewardSet, groups: Sequence[RewardGroup]) -> list[str]:
    """Where each behaviour differs most from the first, where states and actions have names."""
    lines = []
    if not found.problem.tells_where:
        return []
    for number, group in enumerate(groups[1:], start=2):
        apart = found.differences(group, groups[0], n=1)[0]
        if apart.names is None:
            return []
        place, here, there = apart.names
        choice = f"{here}, not {there}"
        if here == there:
            choice = f"mostly {here} in both, choices {apart.distance:.0%} apart"
        lines.append(f"{number:>4} differs from 1 most at {place}: {choice}")
    return lines


def _infeasible_lines(found: RewardSet) -> list[str]:
    """What explains the demonstrations as well and is no solution, with the reason."""
    if not found.constraints:
        return []
    groups, which = shown_groups(found, found.infeasible_groups)
    if not groups:
        return []
    lines = [f"ruled out by constraints, though {which}: {len(groups)}, best reward of each:"]
    for group in groups:
        row = "".join(f"{value:>14.4f}" for value in group.representative)
        broken = found.constraints.violations(
            found.evaluations[int(group.indices[0])], found.problem.box
        )
        lines.append(f"{'':>4}{row}{group.nll:>12.4f}{len(group.indices):>9}  {'; '.join(broken)}")
    return lines


def parameter_lines(summary: Sequence[ParameterSummary]) -> list[str]:
    """One line per parameter."""
    lines = []
    for one in summary:
        interval = f"{one.low:.4g} to {one.high:.4g}, {one.median:.4g}"
        share = f"({one.share:.0%} of its range)"
        lines.append(f"{one.name:>18}  {interval:<32}{one.verdict} {share}")
    return lines
