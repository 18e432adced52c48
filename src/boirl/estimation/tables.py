"""Estimates in words and as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boirl.estimation.information import SHOWN, FlatDirection

if TYPE_CHECKING:
    from boirl.estimation.estimate import Estimate

NORMAL_95 = 1.959963984540054
"""Standard errors on either side of an estimate that a 95 % interval takes."""


def estimate_table(estimate: Estimate) -> str:
    """The table that econometric tools print, and what needs to be known to read it."""
    width = max(12, *(len(name) + 2 for name in estimate.names))
    n = estimate.n_demonstrations
    lines = [
        f"{estimate.problem.name}: maximum likelihood of {n} demonstrations, {estimate.n_steps} "
        "steps",
        f"log-likelihood {estimate.log_likelihood:.4f}, AIC {estimate.aic:.2f}, BIC "
        f"{estimate.bic:.2f} (N = {n} demonstrations); {estimate.evaluations} evaluations, "
        f"{estimate.agreeing} of {estimate.descents} descents agree",
        f"{'':>{width}}{'estimate':>14}{'std. error':>14}{'t':>10}{'P>|t|':>9}"
        f"{'[0.025':>12}{'0.975]':>12}",
    ]
    rows = zip(
        estimate.names,
        estimate.theta,
        estimate.standard_errors,
        estimate.t_values,
        estimate.p_values,
        strict=True,
    )
    for name, value, error, t, p in rows:
        if name in estimate.on_bound:
            shown = f"{'on its bound':>14}"
        elif np.isfinite(error):
            low, high = value - NORMAL_95 * error, value + NORMAL_95 * error
            shown = f"{error:>14.5g}{t:>10.2f}{p:>9.3f}{low:>12.5g}{high:>12.5g}"
        else:
            shown = f"{'not determined':>16}" if np.isinf(error) else f"{'unknown':>14}"
        lines.append(f"{name:>{width}}{value:>14.6g}{shown}")
    lines += undetermined_lines(estimate)
    if not estimate.converged:
        lines.append("the best descent had not converged: increase the number of steps")
    return "\n".join(lines)


def undetermined_lines(estimate: Estimate) -> list[str]:
    """One line per direction that the demonstrations say nothing of."""
    return [
        f"not determined: {direction}; changing {_listed(direction, estimate.names)} changes the "
        f"log-likelihood by {abs(direction.rise):.1g}{_advice(direction)}"
        for direction in estimate.flat_directions
    ]


def _listed(direction: FlatDirection, names: tuple[str, ...]) -> str:
    """The changes of the first parameters of a direction."""
    chosen = direction.names[:SHOWN]
    listed = [f"{name} by {direction.change[names.index(name)]:.3g}" for name in chosen]
    return ", ".join([*listed, "..."] if len(direction.names) > SHOWN else listed)


def _advice(direction: FlatDirection) -> str:
    return " (fix one of them to compare the others)" if len(direction.names) > 1 else ""


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    table = [header, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    lines = []
    for row in table:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines


def plain(value: Any) -> Any:
    """The same for a JSON file: lists for arrays, None for what is not a finite number."""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
