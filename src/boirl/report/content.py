"""An answer as the page (`text`) and its script (`data`) read it."""

from __future__ import annotations

from typing import Any

import numpy as np

from boirl.report import charts
from boirl.report.answer import Answer
from boirl.report.group_cards import GroupCard
from boirl.report.numbers import in_words, named, short, short_number
from boirl.report.repeat import circumstances, code, commands
from boirl.results import RewardSet

MOST_PAIRED = 5
"""Parameters in the pairs plot: those that the demonstrations narrow most."""


def content_of(answer: Answer) -> dict[str, Any]:
    """Everything that the template shows (`text`) and that the script draws (`data`)."""
    return {"text": _text(answer), "data": _data(answer)}


def _text(answer: Answer) -> dict[str, Any]:
    result = answer.result
    kept = len(result.indices_within(answer.tolerance, absolute=True))
    failed = int(np.isnan(result.nll).sum())
    plausible = sum(group.nll <= result.best_nll + answer.tolerance for group in answer.groups)
    return {
        "title": result.problem.name,
        "method": result.title,
        "subtitle": f"{result.title}, {len(result)} evaluations, "
        f"{len(result.problem.demonstrations)} demonstrations",
        "sentences": answer.sentences,
        "truth": result.problem.truth is not None,
        "findings": [
            {"name": one.name, "message": one.message, "attention": one.needs_attention}
            for one in answer.health or ()
        ],
        "figures": [
            ("best NLL", in_words(result.best_nll)),
            ("tolerance of the test", in_words(answer.tolerance)),
            ("rewards not rejected", f"{kept} of {len(result)}"),
            ("behaviours not rejected", f"{plausible} of {len(answer.groups)}"),
            *([("failed evaluations", str(failed))] if failed else []),
        ],
        "landscape": _landscape_text(answer),
        "sliced": answer.landscape is not None and answer.has_thetas,
        "sampled": answer.samples is not None,
        "pairs_note": _pairs_note(answer),
        "wide": result.problem.box.dimension >= 3,
        "scene": None if answer.scene is None else answer.scene.caption,
        "drawn_differences": "" if answer.scene is None else answer.scene.difference,
        "frames_left_out": answer.frames.left_out,
        "no_pictures": answer.strips.failure,
        "groups": [_card(answer, card) for card in answer.cards],
        "more_groups": len(answer.groups) - len(answer.cards),
        "distances": [[f"{value:.2f}" for value in card.distances] for card in answer.cards],
        "same": f"{result.problem.same_behaviour:.2g}",
        "parameters": _parameters(answer),
        "ties": _ties(answer),
        "correlations": []
        if answer.samples is None
        else [(one, other, f"{rank:.2f}") for one, other, rank in answer.samples.correlations()],
        "next_reward": _next_reward(answer),
        "rivals": answer.rivals,
        "to_observe": [
            {**vars(one), "distance": f"{one.distance:.2f}"} for one in answer.to_observe
        ],
        "nearly_alike": all(
            one.distance <= result.problem.same_behaviour for one in answer.to_observe
        ),
        "deciding": None if answer.deciding is None else answer.deciding.to_text(),
        "model_free": result.problem.is_model_free,
        "constrained": (constrained := bool(getattr(result, "constraints", None))),
        "shaded": constrained and answer.landscape is not None and answer.landscape.is_exact,
        "predictions": _predictions(answer),
        "predicted": bool(answer.prediction_rows()),
        "failures": _failures(answer),
        "commands": commands(result),
        "code": code(result),
        "circumstances": circumstances(result),
    }


def _data(answer: Answer) -> dict[str, Any]:
    result = answer.result
    box, landscape, samples = result.problem.box, answer.landscape, answer.samples
    data: dict[str, Any] = {
        "names": list(box.names),
        "low": short(box.low, 6),
        "high": short(box.high, 6),
        "best": result.best_index,
        "bestNll": short_number(result.best_nll, 8),
        "tolerance": short_number(answer.tolerance, 8),
        "truth": None if result.problem.truth is None else short(result.problem.truth, 5),
        "hasThetas": answer.has_thetas,
        "evaluations": answer.evaluation_rows(),
        "predictions": answer.prediction_rows(),
        "scene": None if answer.scene is None else answer.scene.still(),
        "demonstrated": None if answer.scene is None else answer.scene.demonstrated(),
        "frames": {str(number): frame for number, frame in answer.frames.by_number.items()},
        "groups": [{"number": card.number, "n": int(card.indices[0])} for card in answer.cards],
        "colours": [charts.OTHER_COLOUR, *charts.GROUP_COLOURS],
        "samples": [] if samples is None else samples.rows(),
        "specs": {"convergence": charts.convergence_chart()},
    }
    if landscape is not None and answer.has_thetas:
        data["landscape"] = {
            "columns": list(landscape.columns),
            "axes": [short(axis, 6) for axis in landscape.axes],
            "anchor": list(landscape.anchor),
            "terms": [
                {"columns": list(term.columns), "values": short(term.values.reshape(-1), 5)}
                for term in landscape.terms
            ],
        }
    if answer.has_thetas:
        alone = box.dimension == 1
        data["specs"]["landscape"] = charts.curve_chart() if alone else charts.landscape_chart()
    if samples is not None:
        columns = _paired(answer)
        domains = [[float(box.low[one]), float(box.high[one])] for one in columns]
        data["specs"]["pairs"] = charts.pairs_chart(box.names, columns, domains)
        data["paired"] = columns
    if data["predictions"]:
        data["specs"]["predictions"] = charts.predictions_chart()
    return data


def _paired(answer: Answer) -> list[int]:
    """The parameters of the pairs plot."""
    order = np.argsort([one.share for one in answer.summary], kind="stable")[:MOST_PAIRED]
    return [int(column) for column in np.sort(order)]


def _pairs_note(answer: Answer) -> str:
    left = answer.result.problem.box.dimension - MOST_PAIRED
    if left <= 0:
        return ""
    return f"The {MOST_PAIRED} parameters that are narrowed most are shown; {left} others are not."


def _landscape_text(answer: Answer) -> str:
    if answer.landscape is None:
        return "The method has no model of the rewards between its evaluations, which are shown."
    if answer.landscape.is_exact:
        return ""
    return (
        "With many parameters the slices are put together from all pairs of parameters. They are "
        "exact as long as at most two of them are moved away from the best; at samples of the "
        f"posterior they are off by {answer.landscape_error:.2g} tolerances (median)."
    )


def _card(answer: Answer, card: GroupCard) -> dict[str, Any]:
    share = ""
    if answer.samples is not None:
        share = f"{(answer.samples.groups == card.number).mean():.0%}"
    return {
        "number": card.number,
        "n": int(card.indices[0]),
        "theta": named(answer.result.names, card.theta),
        "nll": in_words(card.nll),
        "rejected": card.rejected,
        "size": len(card.indices),
        "volume": f"{card.volume:.1%}" if np.isfinite(card.volume) else "",
        "posterior": share,
        "rival": card.rival,
        "pictures": answer.strips.by_number.get(int(card.indices[0]), ()),
        "differences": [
            {**vars(one), "distance": f"{one.distance:.2f}"} for one in card.differences
        ],
    }


def _parameters(answer: Answer) -> list[dict[str, Any]]:
    """One row per parameter, with places on a bar from 0 to 100."""
    box, rows = answer.result.problem.box, []
    for column, one in enumerate(answer.summary):
        span = box.high[column] - box.low[column]
        low, middle, high, best = (
            float(100.0 * (value - box.low[column]) / span)
            for value in (one.low, one.median, one.high, answer.result.best[column])
        )
        rows.append(
            {
                "name": one.name,
                "verdict": one.verdict,
                "interval": f"{in_words(one.low)} to {in_words(one.high)}",
                "median": in_words(one.median),
                "best": in_words(answer.result.best[column]),
                "range": f"{in_words(box.low[column])} to {in_words(box.high[column])}",
                "bar": [f"{value:.1f}" for value in (low, high - low, middle, best)],
            }
        )
    return rows


def _ties(answer: Answer) -> str:
    found = None if answer.health is None else answer.health.named("rewards tied")
    return "" if found is None else found.message


def _next_reward(answer: Answer) -> dict[str, str] | None:
    found = answer.next_reward
    if found is None:
        return None
    excess = answer.excess(np.array([found.mean, found.mean + found.sd]))
    return {
        "theta": named(answer.result.names, found.theta),
        "nll": f"{in_words(found.mean)} ± {in_words(found.sd, 2)}",
        "excess": in_words(max(0.0, float(excess[0])), 2),
        "option": ",".join(f"{value:.6g}" for value in found.theta),
    }


def _predictions(answer: Answer) -> str:
    for name in ("predictions", "predictions off"):
        found = None if answer.health is None else answer.health.named(name)
        if found is not None:
            return f"{found.message}."
    if isinstance(answer.result, RewardSet):
        return "There were too few evaluations to predict later ones from earlier ones."
    return "The method predicts nothing."


def _failures(answer: Answer) -> list[tuple[str, int]]:
    """Why evaluations failed, and how many did so."""
    reasons = [reason for reason in answer.result.failures if reason is not None]
    return [(reason, reasons.count(reason)) for reason in dict.fromkeys(reasons)]
