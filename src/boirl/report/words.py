"""What was found, in two sentences: how many different behaviours, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from boirl.results import Health, ParameterSummary, Result, RewardGroup


def headline(result: Result, groups: Sequence[RewardGroup]) -> str:
    """How many behaviourally different rewards explain the demonstrations."""
    limit = result.best_nll + result.likelihood_ratio_tolerance()
    kept = len(result.indices_within(result.likelihood_ratio_tolerance(), absolute=True))
    different = sum(group.nll <= limit for group in groups)
    rewards = "1 reward" if kept == 1 else f"{kept} rewards"
    those = f"Of {len(result)} evaluated, {rewards} {'is' if kept == 1 else 'are'} not rejected by "
    those += "the demonstrations (likelihood-ratio test at 95 %)"
    if different > 1:
        return f"{those}, and they make the demonstrator behave in {different} different ways."
    if kept > 1:
        return f"{those}, and all of them make the demonstrator behave alike."
    return f"{those}; no other evaluated reward explains them as well."


def assurance(health: Health | None, summary: Sequence[ParameterSummary]) -> str:
    """How sure that is, and what is wrong."""
    if health is None:
        return (
            "How complete this is nobody knows: the method has no model of the rewards that it did "
            "not evaluate."
        )
    known = _parameters(summary)
    if health.is_good:
        return f"No check speaks against this answer; {known}."
    names = " and ".join(one.name for one in health.attention)
    count = len(health.attention)
    verb = "1 check needs" if count == 1 else f"{count} checks need"
    return f"{verb} attention before you rely on it ({names}); as far as it goes, {known}."


def _parameters(summary: Sequence[ParameterSummary]) -> str:
    """Which parameters are pinned down, narrowed, free or not searched enough."""
    by_verdict: dict[str, list[str]] = {}
    for one in summary:
        by_verdict.setdefault(one.verdict, []).append(one.name)
    parts = []
    for verdict in ("pinned down", "narrowed", "free", "not searched enough"):
        names = by_verdict.get(verdict, [])
        if len(names) > 4:
            parts.append(f"{len(names)} of {len(summary)} parameters are {verdict}")
        elif names:
            parts.append(f"{listed(names)} {'is' if len(names) == 1 else 'are'} {verdict}")
    return listed(parts)


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, or `a, b and c`."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else ""
