"""Numbers of `docs/roads.md`."""

from __future__ import annotations

from typing import Any

from measured.blocks import block, load, markdown_table, prose


@block("town estimates")
def town_estimates() -> list[str]:
    rows = load("town-estimates")
    last = rows[-1]
    words = prose(
        f"""Five weights in {last["towns"]} generated towns of {last["links"][0]} to
        {last["links"][1]} links, each with {last["trips"]:,} trips to 20 destinations that a known
        truth draws; u-turns are held at -4. {last["converged"]} of {last["towns"]} fits converged.
        A fit takes {last["seconds_median"]:.2f} s (median; at most {last["seconds_worst"]:.2f} s on
        a machine with other work), {last["cpu_seconds_median"]:.2f} s of one core, standard errors
        included."""
    )
    return [
        *words,
        "",
        *markdown_table(
            [
                {
                    "weight": row["parameter"],
                    "truth": "" if row["truth"] is None else f"{row['truth']:g}",
                    "mean estimate": _show(row, "mean_estimate"),
                    "sd of estimates": _show(row, "sd_of_estimates"),
                    "mean standard error": _show(row, "mean_standard_error"),
                    "truth within 2 s.e.": f"{row['within_two_standard_errors']:.0%}",
                    "95 % intervals cover": f"{row['coverage_of_95_percent']:.1%}",
                }
                for row in rows
            ]
        ),
    ]


def _show(row: dict[str, Any], name: str) -> str:
    return f"{row[name]:.3f}" if name in row else ""


@block("roads speed")
def speed() -> list[str]:
    content = load("roads_speed")
    logit = content["recursive_logit"]
    gains = [row["gain_from_all_cores"] for row in content["evaluation"]]
    table = markdown_table(
        [
            {
                f"{row['states']:,} states, {row['thetas']} rewards": f"`{row['bellman']}`",
                "NLL alone": f"{1e3 * row['our_median_seconds']:.0f} ms, "
                f"residual {row['our_residual']:.0e}",
                "plain sweeps": f"{row['plain_median_seconds']:.1f} s, "
                f"residual {row['plain_residual']:.0e}",
                "ratio": f"{row['ratio_of_medians']:.0f}",
                "ratio of a whole evaluation": f"{row['evaluation_ratio_of_medians']:.0f}",
            }
            for row in content["evaluation"]
        ]
    )
    words = prose(
        f"""Recursive logit on all {logit["trips"]:,} trips: {logit["median_seconds"]:.2f} s per
        evaluation, gradient included. `nll_batch` solves several rewards at a time on the cores of
        the machine ({min(gains):.1f} times faster on two)."""
    )
    return [*table, "", *words]


@block("growth towns")
def growth() -> list[str]:
    towns = [row for row in load("growth") if row["kind"] == "town"]
    by_states: dict[int, dict[str, Any]] = {}
    for row in towns:
        by_states.setdefault(row["states"], {})[row["bellman"]] = row
    return markdown_table(
        [
            {
                "generated towns, whole evaluation": f"{states:,} states",
                **{f"`{name}`": f"{row['evaluation_seconds']:.2g} s" for name, row in own.items()},
                "peak memory": f"{max(row['peak_gigabytes'] for row in own.values()):.1f} GB",
            }
            for states, own in by_states.items()
        ]
    )


@block("borlange search")
def search(design: str) -> list[str]:
    rows = [row for row in load("borlange-search") if row["design"] == design]
    filling = design == "space-filling"
    return markdown_table(
        [
            {
                "box": row["box"],
                "method": f"`{row['method']}`",
                **(
                    {
                        "RMSE": f"{row['rmse_mean']:.1f}",
                        "worst seed": f"{row['rmse_worst']:.1f}",
                    }
                    if filling
                    else {
                        "best NLL above the truth's: mean, worst": f"{row['excess_mean']:.3%}, "
                        f"{row['excess_worst']:.3%}",
                        "F1 of the 10 % set: mean, lowest": f"{row['f1_mean']:.3f}, "
                        f"{row['f1_worst']:.3f}",
                    }
                ),
            }
            for row in rows
        ]
    )


def _list(values: list[float], form: str = ".2f") -> str:
    return ", ".join(f"{value:{form}}" for value in values)


@block("borlange trips")
def trips() -> list[str]:
    rows = load("borlange-trips")
    one = [row for row in rows if row["problem"] == "borlange-real"]
    every = [row for row in rows if row["problem"] == "borlange-recursive-logit"]
    best = min(one, key=lambda row: row["best_nll"])
    worst = max(row["best_nll"] for row in one)
    words = prose(
        f"""**{best["trips"]} trips** to one destination, {best["evaluations"]} evaluations. The
        best rewards of {len(one)} searches have NLLs from {best["best_nll"]:.4f} to {worst:.4f} per
        trip. The lowest is at ({", ".join(best["names"])}) = ({_list(best["best"])}), where the box
        of `time` ends at -2.5: if a best reward lies on a bound, `found.health()` says so."""
    )
    table = markdown_table(
        [
            {
                "seed": str(row["seed"]),
                "below the maximum": f"{row['classical']['best_below_maximum']:.4f}",
                "width of the 95 % intervals, in classical ones": _list(row["classical"]["widths"]),
                "median, in standard errors from the maximum": _list(row["classical"]["centres"]),
                "failed": str(row["failed"]),
            }
            for row in every
        ]
    )
    about = prose(
        f"""**{every[0]["trips"]:,} trips**, {every[0]["evaluations"]} evaluations. What a search
        knows, from the posterior over rewards, beside maximum likelihood (log-likelihood
        {every[0]["classical"]["log_likelihood"]:.2f}):"""
    )
    return [*words, "", *about, "", *table]
