"""Charts of a report in Vega-Lite, through Altair. The page fills in the data by name.

Parameters are columns `p0`, `p1`, ...: names that users give appear as text only. The unit of NLLs
is the tolerance of the likelihood-ratio test above the best, on a scale that is linear up to 1 and
logarithmic beyond, so that differences among good rewards show. Colours are those of Okabe and Ito
and of viridis, which colour-blind readers tell apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from boirl.extras import missing_reported

with missing_reported("a report"):
    import altair as alt

Spec = dict[str, Any]

GROUP_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
OTHER_COLOUR = "#9a9a9a"
PICKED_COLOUR = "#d62728"
LEVELS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Where the colours of the landscape change, in tolerances."""

LEVEL_COLOURS = (
    "#fde725", "#b8de29", "#56c667", "#21908d", "#2e6f8e", "#3d4d8a", "#482475", "#2a0a3a",
)  # fmt: skip
TICKS = (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 100000)
ABOVE = "NLL above the best, in tolerances"
PAIRS_WIDTH, LARGEST_PANEL = 660, 210
"""Of the pairs plot, and of one of its panels, in pixels."""

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def landscape_chart() -> Spec:
    """The predicted landscape over two parameters, with the evaluations.

    Data `cells` (`x`, `x2`, `y`, `y2`, `excess`) and `points` (`x`, `y`, `near`, `kind` and an
    evaluation's own columns). The page sets titles and domains of the axes.
    """
    levels = alt.Scale(type="threshold", domain=list(LEVELS), range=list(LEVEL_COLOURS))
    legend = alt.Legend(title=["above the best,", "in tolerances"], format="~g")
    # The domain is that of the box; the page replaces it.
    plain = alt.Scale(domain=[0, 1], nice=False, zero=False)
    x, y = alt.X("x:Q", scale=plain, title=""), alt.Y("y:Q", scale=plain, title="")
    cells = (
        alt.Chart(alt.NamedData("cells"))
        .mark_rect(strokeWidth=0.7)
        .encode(
            x=x,
            x2="x2:Q",
            y=y,
            y2="y2:Q",
            color=alt.Color("excess:Q", scale=levels, legend=legend),
            # Without it, the background shows between neighbours.
            stroke=alt.Stroke("excess:Q", scale=levels, legend=legend),
            tooltip=[alt.Tooltip("nll:Q", title="predicted NLL", format=".5g")],
        )
    )
    return _finish(alt.layer(cells, *_points(x, y)), 430, 380)


def curve_chart() -> Spec:
    """The landscape of a reward with one parameter: data `curve` (`x`, `excess`, `nll`)."""
    plain = alt.Scale(domain=[0, 1], nice=False, zero=False)
    x = alt.X("x:Q", scale=plain, title="")
    y = alt.Y("y:Q", title=ABOVE, scale=_symlog(), axis=_ticks())
    line = (
        alt.Chart(alt.NamedData("curve"))
        .mark_line(color=GROUP_COLOURS[0], strokeWidth=2)
        .encode(x=x, y=alt.Y("excess:Q", title=ABOVE, scale=_symlog(), axis=_ticks()))
    )
    limit = alt.Chart(alt.Data(values=[{"y": 1}])).mark_rule(strokeDash=[4, 4]).encode(y=y)
    return _finish(alt.layer(line, limit, *_points(x, y)), 430, 300)


def _points(x: Any, y: Any) -> list[Any]:
    """Evaluations, the truth, the best and the reward that was clicked on."""
    base = alt.Chart(alt.NamedData("points")).encode(x=x, y=y)
    opacity = alt.Opacity("near:Q", scale=alt.Scale(domain=[0, 1], range=[0.12, 1]), legend=None)
    tooltip = [
        alt.Tooltip("n:Q", title="evaluation"),
        alt.Tooltip("nll:Q", title="NLL", format=".5g"),
        alt.Tooltip("kind:N", title="it is"),
    ]
    evaluations = (
        base.transform_filter("datum.kind == 'evaluated'")
        .mark_circle(fill="white", stroke="black", strokeWidth=1, cursor="pointer")
        .encode(
            opacity=opacity,
            tooltip=tooltip,
            size=alt.condition("datum.kept", alt.value(64), alt.value(26)),
        )
    )
    special = (
        base.transform_filter("datum.kind != 'evaluated'")
        .mark_point(filled=True, stroke="black", strokeWidth=1.2, opacity=1)
        .encode(
            tooltip=tooltip,
            shape=alt.Shape(
                "kind:N",
                scale=alt.Scale(domain=["best", "true reward"], range=["cross", "diamond"]),
                legend=None,
            ),
            fill=alt.Fill(
                "kind:N",
                scale=alt.Scale(domain=["best", "true reward"], range=["white", "#56B4E9"]),
                legend=None,
            ),
            size=alt.value(170),
        )
    )
    ring = (
        base.transform_filter("datum.n === picked")
        .mark_point(shape="circle", stroke=PICKED_COLOUR, strokeWidth=3, size=330, filled=False)
        .add_params(alt.param(name="picked", value=-1))
    )
    return [evaluations, special, ring]


def pairs_chart(names: Sequence[str], columns: Sequence[int], domains: Sequence[Any]) -> Spec:
    """Pairs of parameters of the posterior: data `samples`; brushing one panel marks all.

    Args:
        names: Of all parameters.
        columns: Those that are shown.
        domains: Low and high of each of those.
    """
    with warnings.catch_warnings():
        # It is one brush in all panels, on purpose.
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter")
        return _pairs(names, columns, domains)


def _pairs(names: Sequence[str], columns: Sequence[int], domains: Sequence[Any]) -> Spec:
    brush = alt.selection_interval(name="brush", resolve="global")
    colours = alt.Scale(
        domain=[*range(1, len(GROUP_COLOURS) + 1), 0], range=[*GROUP_COLOURS, OTHER_COLOUR]
    )
    grouped = alt.Color("group:N", scale=colours, legend=None)
    size = min(LARGEST_PANEL, PAIRS_WIDTH // len(columns))
    rows = []
    for place, row in enumerate(columns):
        panels = []
        for other, column in enumerate(columns[: place + 1]):
            last = place == len(columns) - 1
            x = alt.X(
                f"p{column}:Q",
                title=names[column] if last else "",
                scale=alt.Scale(domain=domains[other], nice=False, zero=False),
                axis=_few_ticks(domains[other], last),
            )
            if column == row:
                panels.append(_histogram(x, domains[other], brush, size))
                continue
            y = alt.Y(
                f"p{row}:Q",
                title=names[row] if other == 0 else "",
                scale=alt.Scale(domain=domains[place], nice=False, zero=False),
                axis=_few_ticks(domains[place], other == 0),
            )
            panel = (
                alt.Chart(alt.NamedData("samples"))
                .mark_circle(size=14)
                .encode(
                    x=x,
                    y=y,
                    color=alt.condition(brush, grouped, alt.value("#d9d9d9")),
                    opacity=alt.condition(brush, alt.value(0.65), alt.value(0.25)),
                )
                .add_params(brush)
                .properties(width=size, height=size)
            )
            panels.append(panel)
        # Flush, so that panels stand in columns whatever their axes take.
        rows.append(alt.hconcat(*panels, spacing=10, bounds="flush"))
    return _configured(alt.vconcat(*rows, spacing=10))


def _few_ticks(domain: Any, labels: bool) -> Any:
    low, high = domain
    return alt.Axis(
        values=[low, 0.5 * (low + high), high],
        labels=labels,
        format=".3~g",
        grid=False,
        labelFlush=True,
    )


def _histogram(x: Any, domain: Any, brush: Any, size: int) -> Any:
    """All samples in grey, those that are brushed on top."""
    bins = alt.Bin(extent=list(domain), step=(domain[1] - domain[0]) / 24)
    binned = x.copy()
    binned.bin = bins
    y = alt.Y("count():Q", axis=None)
    base = alt.Chart(alt.NamedData("samples")).encode(x=binned, y=y)
    every = base.mark_bar(color="#d9d9d9", binSpacing=0)
    chosen = base.mark_bar(color="#4d4d4d", binSpacing=0).transform_filter(brush)
    return alt.layer(every, chosen).properties(width=size, height=size)


def convergence_chart() -> Spec:
    """Every evaluation and the best so far: data `evaluations` and `best` (`n`, `excess`)."""
    x = alt.X("n:Q", title="evaluation", axis=alt.Axis(tickMinStep=1, format="d", grid=False))
    y = alt.Y("excess:Q", title=ABOVE, scale=_symlog(), axis=_ticks())
    colours = alt.Scale(
        domain=[*range(1, len(GROUP_COLOURS) + 1), 0], range=[*GROUP_COLOURS, OTHER_COLOUR]
    )
    line = (
        alt.Chart(alt.NamedData("best"))
        .mark_line(interpolate="step-after", color="black", strokeWidth=1.2)
        .encode(x=x, y=y)
    )
    limit = (
        alt.Chart(alt.Data(values=[{"excess": 1}]))
        .mark_rule(strokeDash=[4, 4], color="#555")
        .encode(y=y)
    )
    points = alt.Chart(alt.NamedData("evaluations")).transform_filter("datum.ok").encode(x=x, y=y)
    marks = points.mark_circle(size=46, opacity=0.9, cursor="pointer").encode(
        color=alt.Color("group:N", scale=colours, legend=None),
        tooltip=[
            alt.Tooltip("n:Q", title="evaluation"),
            alt.Tooltip("nll:Q", title="NLL", format=".5g"),
        ],
    )
    return _finish(alt.layer(line, limit, marks, _ring(points)), 430, 240)


def predictions_chart() -> Spec:
    """Later evaluations as earlier ones predicted them: data `predictions`."""
    x = alt.X("predicted:Q", title=f"predicted: {ABOVE}", scale=_symlog(), axis=_ticks())
    y = alt.Y("found:Q", title="found", scale=_symlog(), axis=_ticks())
    base = alt.Chart(alt.NamedData("predictions"))
    bars = base.mark_rule(color="#56B4E9", strokeWidth=2, clip=True).encode(
        x=alt.X("low:Q", title=f"predicted: {ABOVE}", scale=_symlog(), axis=_ticks()),
        x2="high:Q",
        y=y,
    )
    points = base.encode(x=x, y=y)
    marks = points.mark_circle(size=46, color=GROUP_COLOURS[0], opacity=1, cursor="pointer").encode(
        tooltip=[
            alt.Tooltip("n:Q", title="evaluation"),
            alt.Tooltip("predicted:Q", format=".3g"),
            alt.Tooltip("found:Q", format=".3g"),
        ]
    )
    diagonal = (
        alt.Chart(alt.NamedData("diagonal"))
        .mark_line(color="#777", strokeDash=[4, 4], clip=True)
        .encode(x=alt.X("at:Q", scale=_symlog()), y=alt.Y("at:Q", scale=_symlog()))
    )
    return _finish(alt.layer(diagonal, bars, marks, _ring(points)), 430, 300)


def _ring(points: Any) -> Any:
    """Around the evaluation that was clicked on."""
    ring = points.transform_filter("datum.n === picked").mark_point(
        shape="circle", stroke=PICKED_COLOUR, strokeWidth=3, size=260, filled=False
    )
    return ring.add_params(alt.param(name="picked", value=-1))


def _symlog() -> Any:
    return alt.Scale(type="symlog", constant=1)


def _ticks() -> Any:
    return alt.Axis(
        values=list(TICKS),
        labelExpr="datum.value < 1000 ? datum.value : datum.value / 1000 + 'k'",
        labelOverlap="greedy",
        labelSeparation=6,
        gridColor="#eee",
    )


def _finish(chart: Any, width: int, height: int) -> Spec:
    return _configured(chart.properties(width=width, height=height))


def _configured(chart: Any) -> Spec:
    spec: Spec = (
        chart.configure(font=_FONT)
        .configure_axis(labelFontSize=11, titleFontSize=12, titleFontWeight="normal")
        .configure_legend(labelFontSize=11, titleFontSize=11, titleFontWeight="normal")
        .configure_view(stroke="#ccc")
        .to_dict()
    )
    return spec
