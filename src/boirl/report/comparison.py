"""Two answers side by side: what they agree on."""

from __future__ import annotations

from typing import Any

from boirl.report.answer import Answer
from boirl.report.numbers import in_words


def compare_answers(one: Answer, other: Answer) -> dict[str, Any]:
    """Rows of a table, and a sentence on whether the two can be compared."""
    pair = (one, other)
    rows = [
        ("evaluations", *(str(len(answer.result)) for answer in pair)),
        ("best NLL", *(in_words(answer.result.best_nll) for answer in pair)),
        ("rewards not rejected", *(str(_kept(answer)) for answer in pair)),
        ("behaviours", *(str(len(answer.groups)) for answer in pair)),
        ("checks that need attention", *(_attention(answer) for answer in pair)),
    ]
    intervals = [{row.name: row for row in answer.summary} for answer in pair]
    for name in dict.fromkeys([*intervals[0], *intervals[1]]):
        cells = (
            f"{in_words(known[name].low)} to {in_words(known[name].high)}, {known[name].verdict}"
            if name in known
            else ("not known" if name in answer.result.names else "no parameter")
            for known, answer in zip(intervals, pair, strict=True)
        )
        rows.append((f"{name} (95 %)", *cells))
    return {"rows": rows, "note": _note(one, other)}


def _note(one: Answer, other: Answer) -> str:
    if one.result.problem.fingerprint() == other.result.problem.fingerprint():
        gap = other.result.best_nll - one.result.best_nll
        if abs(gap) <= one.tolerance:
            return (
                "Both explain the same demonstrations in the same problem, and neither best reward "
                f"is rejected against the other (NLLs {abs(gap):.2g} apart)."
            )
        better = "A" if gap > 0 else "B"
        return (
            "Both explain the same demonstrations in the same problem; the best reward of "
            f"{'B' if better == 'A' else 'A'} is rejected against that of {better} (NLLs "
            f"{abs(gap):.3g} apart, tolerance {one.tolerance:.2g})."
        )
    return (
        "The two are of different problems (dynamics, reward family, demonstrations or solver "
        "differ), so that their NLLs need not be comparable."
    )


def _kept(answer: Answer) -> int:
    return len(answer.result.indices_within(answer.tolerance, absolute=True))


def _attention(answer: Answer) -> str:
    if answer.health is None:
        return "not checked"
    return ", ".join(one.name for one in answer.health.attention) or "none"
