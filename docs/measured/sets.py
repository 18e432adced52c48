"""Numbers of `docs/set.md`."""

from __future__ import annotations

from typing import Any

from measured.blocks import block, load, markdown_table

SHOWN = {
    "rho-matern": "`rho-matern` (the default)",
    "maxent": "descents by exact gradients (`maxent`)",
    "random": "random search",
}


def _within(row: dict[str, Any], level: str) -> str:
    times = row["within"][level]
    if times["after_mean"] is None:
        return ""
    reached = round(times["reached"] * row["trials"])
    some = "" if reached == row["trials"] else f", {reached} of {row['trials']}"
    return f"{times['after_mean']:.1f} ± {times['after_sd']:.1f}{some}"


@block("many parameters")
def many_parameters() -> list[str]:
    return markdown_table(
        [
            {
                "method": SHOWN.get(row["method"], f"`{row['method']}`"),
                "NLL above the optimum": f"{row['above_mean']:.3%}",
                "worst": f"{row['above_worst']:.3%}",
                **{
                    f"within {float(level[:-1]):g} %": _within(row, level)
                    for level in row["within"]
                },
            }
            for row in load("many-parameters")
        ]
    )
