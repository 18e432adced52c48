"""Numbers of `docs/labyrinth.md`."""

from __future__ import annotations

from typing import Any

from measured.blocks import block, load, markdown_table, prose, row_of

METHODS = {
    "uniform": ("uniform choice", "0"),
    "markov": ("Markov chain on observed turns", "378"),
    "five": ("`five`: one price for turning back", "5"),
    "six": ("`six`, maximum likelihood", "6"),
    "deep-maxent": ("`deep-maxent`", "network on 6 features"),
    "deep-maxent map": ("`deep-maxent`", "network on nodes"),
}


def _six() -> list[dict[str, Any]]:
    return [row for row in load("labyrinth") if row["method"] == "six"]


@block("labyrinth wants")
def wants() -> list[str]:
    rows = _six()
    return markdown_table(
        [
            {
                "gamma": f"{row['gamma']:g}",
                **{
                    name: f"{value:.3f} ± {error:.3f}"
                    for name, value, error in zip(
                        row["names"], row["theta"], row["clustered_errors"], strict=True
                    )
                },
                "log-likelihood": f"{row['log_likelihood']:.1f}",
            }
            for row in rows
        ]
    )


@block("labyrinth bits")
def bits() -> list[str]:
    return markdown_table(
        [
            {
                "method": METHODS[row["method"]][0],
                "gamma": "" if row["gamma"] is None else f"{row['gamma']:g}",
                "parameters": METHODS[row["method"]][1],
                "bits, seen": f"{row['bits']:.4f}",
                "bits, held out": f"{row['held_out_bits']:.4f} ± {row['held_out_sd']:.4f}",
            }
            for row in load("labyrinth")
        ]
    )


@block("labyrinth share")
def share() -> list[str]:
    def held_out(method: str, gamma: float | None = None) -> float:
        return float(row_of("labyrinth", method=method, gamma=gamma)["held_out_bits"])

    uniform, markov, six = held_out("uniform"), held_out("markov"), held_out("six", 0.97)
    closed = (uniform - six) / (uniform - markov)
    return prose(
        f"""At gamma 0.97, six parameters close {closed:.0%} of the distance between uniform choice
        and the Markov chain, which has 378 shares of turns; {six - markov:.2f} bits are left. A
        network on the nodes (`deep-maxent`, 300 steps, its defaults), which may pay for each of
        them, leaves {held_out("deep-maxent map", 0.97) - markov:.2f}; on the same six features it
        leaves {held_out("deep-maxent", 0.97) - markov:.2f}."""
    )
