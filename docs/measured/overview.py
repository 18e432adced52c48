"""Numbers of `README.md` and `docs/measurements.md`."""

from __future__ import annotations

from typing import Any

from measured.blocks import block, load, markdown_table, prose, row_of


def _span(values: list[float], form: str) -> str:
    low, high = f"{min(values):{form}}", f"{max(values):{form}}"
    return low if low == high else f"{low} to {high}"


@block("comparison")
def comparison() -> list[str]:
    """One table against what else exists."""
    speed, buses = load("gridworld_speed"), load("bus_engines_speed")
    few, vbmc = (row_of("suite-pyvbmc", method=name) for name in ("search-few", "pyvbmc"))
    ours, plain, random = (
        row_of("gridworld-efficiency", method=name) for name in ("rho-matern", "rbf", "random")
    )
    fits = {fit["method"]: fit for fit in buses["fits"]}
    other = next(name for name in fits if name != "boirl")
    roads = load("roads_speed")["evaluation"]
    problems = few["problems"]
    ratios = [one["stock_ratio"] for one in speed["seconds_per_iteration"]]
    evaluation = [one["evaluation_ratio_of_medians"] for one in roads]
    rows: list[tuple[str, str, str, str]] = [
        (
            "the code of the paper's authors",
            f"{speed['evaluations']} evaluations on Gridworld",
            f"{speed['authors_seconds']:.0f} s",
            f"{speed['seconds']:.1f} s",
        ),
        (
            "Bayesian optimisation without the projection",
            "evaluations until as good as the expert (share of searches that get there)",
            _expert(plain),
            _expert(ours),
        ),
        ("random search", "the same", _expert(random), _expert(ours)),
        (
            "PyVBMC",
            f"best reward within the tolerance of a test, {problems} generated problems",
            f"{vbmc['within_one']:.0%} with {vbmc['used_mean']:.0f} evaluations",
            f"{few['within_one']:.0%} with {few['used_mean']:.0f}",
        ),
        (
            "PyVBMC",
            "distance from the exact posterior (total variation above noise), the same problems",
            f"{vbmc['excess_mean']:.3f}",
            f"{few['excess_mean']:.3f}",
        ),
        (
            other,
            "maximum likelihood of Rust's bus engines",
            f"{fits[other]['best_seconds']:.1f} s",
            f"{fits['boirl']['best_seconds']:.2f} s",
        ),
        (
            "stock BoTorch, without gradients",
            "fitting and proposing, with gradients",
            f"{_span(ratios, '.1f')} times as long",
            "1",
        ),
        (
            "sweeps in NumPy",
            f"an evaluation on the {roads[0]['states']:,} states of Borlange, with its gradient",
            f"{_span(evaluation, '.0f')} times as long",
            "1",
        ),
    ]
    heads = ("against", "what", "theirs", "`boirl`")
    return markdown_table([dict(zip(heads, row, strict=True)) for row in rows])


def _expert(row: dict[str, Any]) -> str:
    mean = row["evaluations_to_expert_mean"]
    share = f"({row['evaluations_to_expert_success']:.0%})"
    return f"never {share}" if mean is None else f"{mean:.1f} {share}"


@block("gridworld speed")
def gridworld_speed() -> list[str]:
    speed = load("gridworld_speed")
    steps = speed["seconds_per_iteration"]
    ratios = _span([one["stock_ratio"] for one in steps], ".1f")
    words = prose(
        f"""{speed["evaluations"]} evaluations on Gridworld took {speed["seconds"]:.1f} s on two
        cores, {speed["times_faster_than_authors"]:.0f} times less than the
        {speed["authors_seconds"]:.0f} s of the code of the paper's authors on such a machine.
        Fitting and proposing, with gradients, took {ratios} times less than stock BoTorch takes
        without them in the same run. Seconds of an iteration by evaluations so far:"""
    )
    return [
        *words,
        "",
        *markdown_table(
            [
                {
                    "evaluations": str(one["evaluations"]),
                    **{
                        part: f"{one[part]:.3f}"
                        for part in ("solve", "fit", "acquisition", "bookkeeping", "total")
                    },
                    "stock BoTorch, times as long": f"{one['stock_ratio']:.1f}",
                }
                for one in steps
            ]
        ),
    ]


@block("first look")
def first_look() -> list[str]:
    found = load("first_look")
    started, report = found["startup"], found["report"]
    words = f"""`import boirl` took {started["boirl"]:.2f} s and `boirl --help`
        {started["help"]:.2f} s: torch ({started["torch"]:.1f} s) and whatever else a search needs
        is imported with the first one, {started["torch_and_search"]:.1f} s altogether. The report
        of {report["evaluations"]}
        evaluations on {report["problem"].capitalize()} has {report["bytes"] / 1e6:.1f} MB"""
    if report["seconds"] is not None:
        words += f" and was drawn {report['seconds']:.1f} s after headless Chromium opened it"
    return prose(words + ".")
