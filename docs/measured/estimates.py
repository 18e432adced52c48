"""Numbers of `docs/estimates.md`."""

from __future__ import annotations

from measured.blocks import block, load, markdown_table


def _vector(values: list[float], form: str) -> str:
    return f"({', '.join(f'{value:{form}}' for value in values)})"


@block("estimates checked")
def checked() -> list[str]:
    """Bus engines beside numbers that were computed independently."""
    independent = {
        "far-sighted": "-163.7097330455 at (2.25554, 10.14955), (0.545, 1.376)",
        "myopic": "-165.2169754643 at (72.28797, 7.71635), (11.107, 0.596)",
    }
    return markdown_table(
        [
            {
                "gamma": f"{row['gamma']:g}",
                "log-likelihood": f"{row['log_likelihood']:.6f}",
                "theta": _vector(row["theta"], ".5f"),
                "standard errors": _vector(row["standard_errors"], ".3f"),
                "dense Newton iteration": independent[row["story"]],
            }
            for row in load("bus-engines")
        ]
    )
