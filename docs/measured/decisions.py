"""Numbers of `docs/decisions.md`."""

from __future__ import annotations

from measured.blocks import block, load, prose


@block("decisions mixtures")
def mixtures() -> list[str]:
    (row,) = load("mixtures")
    return prose(
        f"""In {row["at_95_percent"]:.0%} of the {row["seeds"]} seeds, 95 % of the labels or more
        are right; in the worst, {row["labels_right_worst"]:.1%}."""
    )
