"""Numbers of `docs/bus_engines.md`."""

from __future__ import annotations

from typing import Any

import numpy as np

from measured.blocks import block, load, markdown_table, prose

NATS = float(np.log(20.0))
PRICES = {
    1.0: "months as they come, price as it is",
    0.5: "the price of a replacement halved",
    0.75: "a quarter lower",
    1.25: "a quarter higher",
    1.5: "half as much again",
}
MILES = 5_000
CLOSE = 0.1
"""How far widths and centres may be off, as a share of the classical width."""


@block("buses likelihoods")
def likelihoods() -> list[str]:
    far, myopic = load("bus-engines")
    difference = far["log_likelihood"] - myopic["log_likelihood"]
    return prose(
        f"""The two log-likelihoods differ by {difference:.1f}; twice that is {2 * difference:.1f}.
        A likelihood-ratio test of one parameter, the discount, asks for 3.84 at 95 %. (Other
        discounts were not tried.)"""
    )


@block("buses apart")
def apart() -> list[str]:
    stories = load("bus-engines")
    rows = []
    for index, price in enumerate(one["price"] for one in stories[0]["prices"]):
        row = {"what is observed": PRICES[price]}
        for story in stories:
            one = story["prices"][index]
            row[f"nats per month, if {story['story']}"] = f"{one['nats_per_month']:.5f}"
            row[f"bus-months needed, if {story['story']}"] = f"{one['months_needed']:,.0f}"
        rows.append(row)
    best = {"what is observed": f"months at {MILES * stories[0]['prices'][0]['best_bin']:,} miles"}
    for story in stories:
        months = story["prices"][0]["months_needed_in_best_bin"]
        best[f"nats per month, if {story['story']}"] = f"{NATS / months:.5f}"
        best[f"bus-months needed, if {story['story']}"] = f"{months:,.0f}"
    return markdown_table([rows[0], best, *rows[1:]])


@block("buses words")
def words() -> list[str]:
    far, myopic = load("bus-engines")
    now, half = ([story["prices"][i] for story in (far, myopic)] for i in (0, 1))

    def months(prices: list[dict[str, Any]], name: str = "months_needed") -> str:
        low, high = sorted(one[name] for one in prices)
        return f"{low:,.0f} to {high:,.0f}"

    last = far["largest_difference_bin"]
    probabilities = [story["replacement_probabilities"][last] for story in (far, myopic)]
    return [
        *prose(
            f"""The two differ most at {MILES * last:,} miles: the far-sighted manager replaces
            {probabilities[0]:.0%} of engines a month, the myopic one {probabilities[1]:.0%}. More
            of the same records takes {months(now)} bus-months (group 4 has 4,329), engines that
            were run at {MILES * last:,} miles {months(now, "months_needed_in_best_bin")}, and a
            price that is halved {months(half)}: a far-sighted manager would then replace
            {half[0]["replacements_per_year"]:.2f} engines per bus and year, a myopic one
            {half[1]["replacements_per_year"]:.2f}. Without refitting the rival,
            {far["months_needed_without_refit"]:,.0f} months would seem to be enough for the first
            line if the manager is far-sighted."""
        )
    ]


@block("buses intervals")
def intervals() -> list[str]:
    """Of searches, by story and box, and those that are off one by one."""
    stories = load("bus-engines")
    searches = [one for story in stories for one in story["searches"]]
    counts = []
    for story, box in dict.fromkeys((one["story"], one["box"]) for one in searches):
        own = [one for one in searches if (one["story"], one["box"]) == (story, box)]
        silent = [one for one in own if not one["health"]]
        counts.append(
            {
                "story": story,
                "box": box,
                "searches": str(len(own)),
                "within 10 %": str(sum(one["close"] for one in own)),
                "report nothing": str(len(silent)),
                "of these within 10 %": str(sum(one["close"] for one in silent)),
            }
        )
    off = [
        f"- {one['story']}, {one['box']} box, seed {one['seed']}: widths "
        f"{one['width_ratios'][0]:.2f} and {one['width_ratios'][1]:.2f} of the exact ones, "
        f"centres off by {one['centre_offsets'][0]:.2f} and {one['centre_offsets'][1]:.2f} widths; "
        f"reports {', '.join(one['health']) or 'nothing'}"
        for one in searches
        if not one["close"]
    ]
    about = ["", "Those that are not:", "", *off] if off else []
    return [*markdown_table(counts), *about]


@block("buses compared")
def compared() -> list[str]:
    """How many searches agree with classical intervals, by what is compared with what."""
    stories = load("bus-engines")
    rows = []
    for name, found in (("likelihood ratio", "intervals"), ("posterior", "posterior_intervals")):
        for label, classical in (("profile", "profile_intervals"), ("Wald", "wald_intervals")):
            row = {"intervals of the search": name, "classical intervals": label}
            for story in stories:
                for box in dict.fromkeys(one["box"] for one in story["searches"]):
                    own = [one for one in story["searches"] if one["box"] == box]
                    agree = sum(_close(one[found], story[classical]) for one in own)
                    row[f"{story['story']}, {box}"] = f"{agree} of {len(own)}"
            rows.append(row)
    return markdown_table(rows)


def _close(found: list[list[float]], classical: list[list[float]]) -> bool:
    if found is None:
        return False
    own, other = np.array(found, float), np.array(classical, float)
    width = other[:, 1] - other[:, 0]
    widths = np.abs((own[:, 1] - own[:, 0]) / width - 1.0)
    centres = np.abs((own.mean(axis=1) - other.mean(axis=1)) / width)
    return bool((widths <= CLOSE).all() and (centres <= CLOSE).all())


@block("buses speed")
def speed() -> list[str]:
    content = load("bus_engines_speed")
    rows = [
        {
            "method": fit["method"],
            "first fit": f"{fit['first_seconds']:.2f} s",
            "best fit": f"{fit['best_seconds']:.3f} s",
            "theta": f"({fit['theta'][0]:.4f}, {fit['theta'][1]:.4f})",
            "exact log-likelihood there": f"{fit['exact_log_likelihood']:.4f}",
        }
        for fit in content["fits"]
    ]
    ratio = {
        "method": "ratio",
        "first fit": f"{content['first_over_first']:.0f}",
        "best fit": f"{content['best_over_best']:.0f}",
        "theta": "",
        "exact log-likelihood there": "",
    }
    return markdown_table([*rows, ratio])
