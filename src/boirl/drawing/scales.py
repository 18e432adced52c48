"""One scale for NLLs, on which good rewards differ visibly.

Colours follow the logarithm of how far an NLL is above the lowest one, from a tenth of the
likelihood-ratio tolerance, below which rewards are all the same to the demonstrations. The scale
ends at a round number of tolerances, so that pictures of different kernels agree. Lines enclose the
rewards that the demonstrations do not reject, and those within 1 % and 10 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from boirl.drawing.marks import CLOSE, NEAR, reference, rules_out
from boirl.results import Result
from boirl.types import FloatArray

COLOURS = "viridis_r"
"""Good rewards are yellow, as in the report."""

ABOVE = "NLL above the best"
STARTS = 0.1
"""Of the likelihood-ratio tolerance."""

ENDS_AT_LEAST = 10.0
"""Times the likelihood-ratio tolerance."""

BORDERS: tuple[tuple[str, Literal["solid", "dashed", "dotted"]], ...] = (
    ("border of what is not rejected at 95 %", "solid"),
    ("border of 1 %", "dashed"),
    ("border of 10 %", "dotted"),
)
"""Names and dashes of lines, in the order of `NllScale.levels`."""


@dataclass(frozen=True)
class NllScale:
    """The scale of one problem, the same for all kernels.

    Attributes:
        lowest: NLL that others are compared with.
        tolerance: Of the likelihood-ratio test.
        compared: NLL that 1 % and 10 % are meant of: the truth's, or else the lowest.
        norm: From NLLs above the lowest to colours.
    """

    lowest: float
    tolerance: float
    compared: float
    norm: LogNorm

    @classmethod
    def up_to(
        cls,
        highest: float,
        lowest: float,
        tolerance: float,
        compared: float,
        starts: float = STARTS,
    ) -> Self:
        """A scale from a share `starts` of the tolerance to the NLL `highest`, or above it."""
        times = max((highest - lowest) / tolerance, ENDS_AT_LEAST)
        power = 10.0 ** np.floor(np.log10(times))
        end = next(one * power for one in (1.0, 2.0, 5.0, 10.0, 20.0) if one * power >= times)
        return cls(lowest, tolerance, compared, LogNorm(starts * tolerance, end * tolerance))

    @classmethod
    def of(cls, found: Result, further: FloatArray | None = None) -> Self:
        """For a result, and for further NLLs, of any shape, that are drawn beside it."""
        nll = found.nll if further is None else np.append(found.nll, further)
        lowest, tolerance = float(np.nanmin(nll)), found.likelihood_ratio_tolerance()
        if rules_out(found):
            # What breaks a constraint is nothing to compare with, however low.
            lowest = found.best_nll
        return cls.up_to(float(np.nanmax(nll)), lowest, tolerance, reference(found)[0])

    @property
    def floor(self) -> float:
        """Where the scale starts; what is lower has the same colour."""
        return float(self.norm.vmin or 0.0)

    @property
    def levels(self) -> tuple[float, ...]:
        """How far above the lowest NLL each of `BORDERS` lies."""
        parts = [self.compared + part * abs(self.compared) - self.lowest for part in (CLOSE, NEAR)]
        return self.tolerance, *parts

    def excess(self, nll: FloatArray) -> FloatArray:
        """How far NLLs are above the lowest, no lower than colours go; any shape."""
        return np.maximum(nll - self.lowest, self.floor)


def draw_excess(
    axes: Axes,
    x: FloatArray,
    y: FloatArray,
    excess: FloatArray,
    scale: NllScale,
    borders: bool = True,
) -> ScalarMappable:
    """NLLs above the lowest, or other differences of NLLs, on a grid `len(y) x len(x)`.

    Args:
        axes: Where to draw.
        x: Of columns.
        y: Of rows.
        excess: No lower than `scale.floor`.
        scale: Of the colours.
        borders: Whether to draw the borders that cross the grid.
    """
    image = axes.pcolormesh(x, y, excess, cmap=COLOURS, norm=scale.norm, rasterized=True)
    for level, (_, dashes) in zip(scale.levels, BORDERS, strict=True):
        if borders and scale.floor < level and np.nanmin(excess) <= level < np.nanmax(excess):
            lines = axes.contour(
                x, y, excess, [level], colors="white", linestyles=dashes, linewidths=1.4
            )
            lines.set_path_effects([_edge()])
    return image


def border_handles(scale: NllScale | None = None) -> list[Line2D]:
    """What stands in a legend for the borders, by default for all, or those that a scale shows."""
    return [
        Line2D([], [], color="white", linestyle=dashes, label=name, path_effects=[_edge()])
        for place, (name, dashes) in enumerate(BORDERS)
        if scale is None or scale.levels[place] > scale.floor
    ]


def add_colour_bar(figure: Figure, axes: Axes, image: ScalarMappable, label: str) -> None:
    """Draw the colours beside their axes, with plain numbers."""
    bar = figure.colorbar(image, ax=axes, label=label)
    bar.ax.yaxis.set_major_formatter("{x:g}")
    bar.ax.yaxis.set_minor_formatter("")


def _edge() -> Any:
    """Dark edges, with which a white line shows on every colour."""
    return withStroke(linewidth=2.6, foreground="black")
