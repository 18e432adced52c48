"""Our trials beside the paper's Table 1: do success rates and iterations differ by more than luck?

The paper has 10 trials per cell. Success rates are compared by Fisher's exact test, iterations by
Welch's t test from the means and standard deviations that the paper prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scipy.stats import fisher_exact, ttest_ind_from_stats

from boirl.experiments.published import Published, published
from boirl.experiments.trials import Row
from boirl.reproduction.environments import ENVIRONMENTS
from boirl.reproduction.store import Store
from boirl.reproduction.table1 import COMPARED, lines

PAPER_TRIALS = 10
FEWEST = 2
"""Successes on both sides without which iterations are not compared."""

LEVEL = 0.05


class Difference(NamedTuple):
    """A measure of ours and of the paper, and how likely a difference as large is by luck."""

    ours: float
    paper: float
    p: float

    @property
    def is_detected(self) -> bool:
        return self.p < LEVEL


def compare_shares(line: Row, paper: Published) -> Difference:
    """Success rates."""
    reached, trials = round(line["reached"] * line["trials"]), line["trials"]
    theirs = round(paper.reached * PAPER_TRIALS)
    table = [[reached, trials - reached], [theirs, PAPER_TRIALS - theirs]]
    return Difference(line["reached"], paper.reached, float(fisher_exact(table).pvalue))


def compare_iterations(line: Row, paper: Published) -> Difference | None:
    """Mean iterations of successful trials; None where either side has too few."""
    ours, theirs = round(line["reached"] * line["trials"]), round(paper.reached * PAPER_TRIALS)
    if min(ours, theirs) < FEWEST or paper.mean is None or paper.sd is None:
        return None
    mean, sd = line["after_mean"], line["after_sd"]
    if sd == paper.sd == 0.0:
        return None
    found = ttest_ind_from_stats(mean, sd, ours, paper.mean, paper.sd, theirs, equal_var=False)
    return Difference(mean, paper.mean, float(found.pvalue))


def compared_rows(store: Store) -> list[Sequence[str]]:
    """One row per number of the paper that a store holds trials of, by the paper's protocol."""
    rows: list[Sequence[str]] = []
    for environment in COMPARED:
        for method, by in lines(store, environment).items():
            paper, line = published(environment, method), by.get("paper")
            if paper is None or line is None or line["refused"]:
                continue
            share, after = compare_shares(line, paper), compare_iterations(line, paper)
            rows.append(
                (
                    ENVIRONMENTS[environment].title,
                    f"`{method}`",
                    str(line["trials"]),
                    _text(share, ".0%", "higher", "lower"),
                    "-" if after is None else _text(after, ".1f", "later", "earlier"),
                )
            )
    return rows


def _text(found: Difference, form: str, above: str, below: str) -> str:
    verdict = "no difference detected"
    if found.is_detected:
        verdict = above if found.ours > found.paper else below
    return f"{found.ours:{form}} against {found.paper:{form}}: {verdict} (p = {found.p:.2g})"


def describe_agreement(store: Store) -> str | None:
    """The comparison as a table in Markdown; None without trials."""
    rows = compared_rows(store)
    if not rows:
        return None
    return "\n".join(
        [
            "Our trials by the paper's protocol beside its Table 1: success rates by Fisher's "
            "exact test, iterations of successful trials by Welch's t test, both two-sided at "
            f"{LEVEL:.0%}, without correction for their number. With few trials only large "
            "differences are detected.",
            "",
            "| environment | method | our trials | success rate | iterations |",
            "| --- | --- | --- | --- | --- |",
            *(f"| {' | '.join(row)} |" for row in rows),
        ]
    )
