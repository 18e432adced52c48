"""Numbers of `docs/tables.md`."""

from __future__ import annotations

from measured.blocks import block, load, markdown_table, prose


def _times(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.2f} ms" if seconds < 1e-3 else f"{1e3 * seconds:.3g} ms"


@block("solver speed")
def solver_speed() -> list[str]:
    return markdown_table(
        [
            {
                "dynamics": row["kind"],
                "states": f"{row['states']:,}",
                "gamma": f"{row['gamma']:g}",
                "operator": f"`{row['bellman']}`",
                "ours": _milliseconds(row["our_seconds"]),
                "sweeps take times as long": _times(row["sweeps_over_ours"]),
                "dense Newton": _times(row["newton_over_ours"]),
            }
            for row in load("solver_speed")["single"]
        ]
    )


@block("batch speed")
def batch_speed() -> list[str]:
    rows = load("solver_speed")["batch"]
    operators = dict.fromkeys(row["bellman"] for row in rows)
    gammas = dict.fromkeys(row["gamma"] for row in rows)
    ratio = {(row["bellman"], row["gamma"]): row["sweeps_over_ours"] for row in rows}
    return markdown_table(
        [
            {
                "operator": f"`{operator}`",
                **{f"gamma {gamma:g}": _times(ratio[operator, gamma]) for gamma in gammas},
            }
            for operator in operators
        ]
    )


@block("solver words")
def words() -> list[str]:
    buses = load("solver_speed")["bus_engines"]
    dense = {row["bellman"]: row for row in load("growth") if row["kind"] == "dense"}
    one = dense["max"]
    return [
        *prose(
            f"""Rust's bus engines (90 states, gamma 0.9999, `logsumexp`):
            {_milliseconds(buses["evaluation_seconds"])} for an evaluation with its gradient,
            {buses["sweeps_over_ours"]:,.0f} times less than sweeps take for the values."""
        ),
        "",
        *prose(
            f"""{one["states"]} states with 25 actions that may each lead to any state
            ({one["transitions"] / 1e6:.1f} million transitions): {one["evaluation_seconds"]:.2f} s
            with `max`, {dense["logsumexp"]["evaluation_seconds"]:.2f} s with `logsumexp`, gradient
            included (`docs/results/growth.json`)."""
        ),
    ]
