"""Numbers of `docs/suite.md`."""

from __future__ import annotations

from typing import Any

from measured.blocks import block, load, markdown_table, prose, row_of


def _pair(row: dict[str, Any], name: str, form: str) -> str:
    mean, worst = row[f"{name}_mean"], row[f"{name}_worst"]
    return "" if mean is None else f"{mean:{form}} ({worst:{form}})"


@block("suite table")
def table() -> list[str]:
    return _rows("suite")


@block("suite ablation")
def ablation() -> list[str]:
    return _rows("suite-ablation")


def _rows(name: str) -> list[str]:
    return markdown_table(
        [
            {
                "method": f"`{row['method']}`",
                "problems": str(row["problems"] - row["errors"]),
                "evaluations": f"{row['used_mean']:.0f}",
                "within 0.1": f"{row['within_tenth']:.0%}",
                "within 1": f"{row['within_one']:.0%}",
                "worst": f"{row['tolerances_worst']:.2f}",
                "TV above noise (worst)": _pair(row, "excess", ".3f"),
                "in 95 % intervals, box (worst)": _pair(row, "coverage_box", ".0%"),
                "posterior (worst)": _pair(row, "coverage_posterior", ".0%"),
                "excluding, of these unwarned": f"{row['excluding']}, {row['excluding_unwarned']}",
            }
            for row in load(name)
        ]
    )


@block("suite pyvbmc")
def beside_pyvbmc() -> list[str]:
    return _rows("suite-pyvbmc")


@block("suite words")
def words() -> list[str]:
    search, few = (row_of("suite", method=name) for name in ("search", "search-few"))
    beside = row_of("suite-pyvbmc", method="search-few")
    return prose(
        f"""At worst, the best reward of `search` is {search["tolerances_worst"]:.2f}
        likelihood-ratio tolerances above the optimum, that of `search-few`
        {few["tolerances_worst"]:.2f}: at 1 the data would begin to reject it. The posterior of
        `search-few` is no worse than that of PyVBMC, which has no gradients and no projection to
        go by, in {beside["no_worse_than_pyvbmc"]:.0%} of the problems that both ran on. What is
        not good enough: intervals of the NLL. On average they hold
        {search["coverage_box_mean"]:.0%} of the NLLs all over the box, in the worst problem
        {search["coverage_box_worst"]:.0%} (with few evaluations {few["coverage_box_worst"]:.0%}),
        and of those in the posterior {search["coverage_posterior_worst"]:.0%}
        ({few["coverage_posterior_worst"]:.0%}). Where the predicted NLL far from evaluations
        matters to you, evaluate there."""
    )


@block("suite checks")
def checks() -> list[str]:
    full, without = (row_of("suite", method=name) for name in ("search", "no-checks"))
    few, few_without = (
        row_of("suite-ablation", method=name) for name in ("search-few", "few-no-checks")
    )
    return prose(
        f"""With `20 + 10 d` evaluations, checks bring the share of NLLs that intervals hold in the
        worst problem from {without["coverage_box_worst"]:.0%} to
        {full["coverage_box_worst"]:.0%}, at a total variation of {full["excess_mean"]:.3f} against
        {without["excess_mean"]:.3f}. With `10 + 2 d`, where one or two evaluations are many, the
        posterior is {few["excess_mean"]:.3f} off with checks, {few_without["excess_mean"]:.3f}
        without."""
    )
