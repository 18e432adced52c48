"""Numbers of `docs/federation.md`."""

from __future__ import annotations

from measured.blocks import block, load, markdown_table

WHERE = {
    "one site": "one site",
    "two sites": "two sites (20 and 30)",
    "two sites, HTTP": "two sites behind HTTP",
    "no sites": "no site: `boirl.explore(problem)`",
    "no sites, last bit": "no site, the last bit of each NLL changed",
}


def _error(value: float) -> str:
    return "0" if value == 0.0 else f"{value:.1e}"


@block("federation equal")
def equal() -> list[str]:
    rows = [row for row in load("federation") if "epsilon" not in row]
    return markdown_table(
        [
            {
                "line": str(number),
                "demonstrations are at": WHERE[row["method"]],
                "thetas apart": f"{row['thetas_apart']:.2g}",
                "NLLs apart": f"{row['nll_apart']:.2g}",
                "best NLL": f"{min(row['best_nll']):.8f}",
                "error: NLL": _error(row["nll_error"]),
                "gradient": _error(row["gradient_error"]),
                "projection": _error(row["projection_error"]),
            }
            for number, row in enumerate(rows, 1)
        ]
    )


@block("federation privacy")
def privacy() -> list[str]:
    rows = [row for row in load("federation") if "epsilon" in row]
    return markdown_table(
        [
            {
                "epsilon": f"{row['epsilon']:g}",
                "standard error of the mean NLL": f"{row['nll_se']:.2g}",
                "NLL of the reward found, above the best": f"{row['regret']:.2g}",
                "likelihood-ratio tolerance": f"{row['tolerance']:.1g}",
                "within it": "yes" if row["regret"] <= row["tolerance"] else "no",
            }
            for row in rows
        ]
    )
