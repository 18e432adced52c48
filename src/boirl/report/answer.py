"""Everything that a report says of one result, as plain data: nothing here knows of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boirl.report.deciding import Deciding, deciding_of
from boirl.report.frames import FilmStrips, Frames, film_strips_of, frames_of
from boirl.report.group_cards import GroupCard, group_cards, groups_of
from boirl.report.landscape import WHOLE_GRID_UNTIL, SlicedLandscape, slice_landscape
from boirl.report.numbers import short, short_number
from boirl.report.outlook import Disagreement, NextReward, disagreements, next_reward, rivals
from boirl.report.posterior import PosteriorSamples, posterior_samples, returned_samples
from boirl.report.scenes import Scene, scene_of
from boirl.report.words import assurance, headline
from boirl.results import Health, ParameterSummary, Result, RewardGroup, RewardSet
from boirl.results.inference import summarise_parameters
from boirl.types import FloatArray

MOST_SLIDERS = 20
"""A landscape is of so many parameters at most: those that the demonstrations narrow most."""

LANDSCAPE_TESTS = 200
"""Samples of the posterior at which a landscape by pairs is compared with the surrogate."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a report says of one result.

    Attributes:
        result: A search or a baseline.
        sentences: What was found, and how sure that is.
        health: The checks; None where there is no surrogate to check.
        groups: Rewards sorted by behaviour, the best first.
        cards: What is shown of the first groups.
        summary: What is known of each parameter; empty without samples.
        samples: Of the posterior over rewards; None without a surrogate, where the method returned
            none either.
        landscape: As the surrogate expects it; None without one.
        landscape_error: Of the landscape, in likelihood-ratio tolerances.
        scene: How behaviour is drawn; None where nobody knows.
        frames: Behaviour of evaluations.
        strips: Pictures from the environment's own camera.
        next_reward: Where the search would go on.
        rivals: Two plausible rewards that act differently, by number.
        to_observe: States in which the two do.
        deciding: Questions, acting and what else follows; None without a posterior.
    """

    result: Result
    sentences: tuple[str, str]
    health: Health | None
    groups: Sequence[RewardGroup]
    cards: Sequence[GroupCard]
    summary: Sequence[ParameterSummary]
    samples: PosteriorSamples | None
    landscape: SlicedLandscape | None
    landscape_error: float
    scene: Scene | None
    frames: Frames
    strips: FilmStrips
    next_reward: NextReward | None
    rivals: tuple[int, int] | None
    to_observe: Sequence[Disagreement]
    deciding: Deciding | None

    @property
    def has_thetas(self) -> bool:
        """Whether rewards are of the problem's family; those of learned networks are not."""
        return self.result.thetas.shape[1] == self.result.problem.box.dimension

    @property
    def tolerance(self) -> float:
        """Of the likelihood-ratio test at 95 %, in NLL units."""
        return self.result.likelihood_ratio_tolerance()

    def excess(self, nll: FloatArray) -> FloatArray:
        """NLLs above the best, in tolerances: rewards up to 1 are not rejected."""
        return (nll - self.result.best_nll) / self.tolerance

    def evaluation_rows(self) -> list[dict[str, Any]]:
        """One row per evaluation, for charts: `p0`, `p1`, ... are the parameters."""
        group_of = {int(n): card.number for card in self.cards for n in card.indices}
        rows = []
        for number, one in enumerate(self.result.evaluations):
            row: dict[str, Any] = {"n": number, "nll": short_number(one.nll, 6), "ok": one.ok}
            excess = float(self.excess(np.array([one.nll]))[0])
            allowed = bool(self.result.feasible[number])
            row |= {"excess": short_number(excess), "kept": allowed and excess <= 1.0}
            row["broken"] = one.ok and not allowed
            row |= {"group": group_of.get(number, 0), "failure": one.failure}
            if self.has_thetas:
                row |= {f"p{i}": value for i, value in enumerate(short(one.theta, 5))}
            rows.append(row)
        return rows

    def prediction_rows(self) -> list[dict[str, Any]]:
        """Later evaluations as earlier ones predicted them, for the chart."""
        record = None if self.health is None else _record(self.health)
        if record is None:
            return []
        numbers, mean, sd = (np.asarray(record[key]) for key in ("numbers", "mean", "sd"))
        found = self.excess(self.result.nll[numbers])
        low, middle, high = (self.excess(mean + shift * sd) for shift in (-1.96, 0.0, 1.96))
        # Intervals that reach far below the best are drawn down to the lowest prediction.
        low = np.maximum(low, min(-1.0, float(middle.min())))
        columns = (short(one) for one in (found, low, middle, high))
        keys = ("n", "found", "low", "predicted", "high")
        return [
            dict(zip(keys, row, strict=True))
            for row in zip(numbers.tolist(), *columns, strict=True)
        ]


def _record(health: Health) -> Any:
    found = health.named("predictions") or health.named("predictions off")
    return None if found is None else found.data


def answer_of(result: Result) -> Answer:
    """Work out everything that a report says; nothing is solved that was kept."""
    found = result if isinstance(result, RewardSet) else None
    health = None if found is None else found.health()
    summary = [] if found is None else found.parameter_summary()
    groups = groups_of(result)
    scene = scene_of(result.problem)
    cards = group_cards(result, groups, scene)
    pair = rivals(result, groups)
    first = [int(card.indices[0]) for card in cards] + list(pair or ())
    frames = frames_of(result, scene, first)
    landscape, error = None, 0.0
    if found is None:
        samples = returned_samples(result, cards, list(frames.by_number))
        summary = (
            [] if samples is None else summarise_parameters(samples.thetas, result.problem.box)
        )
    else:
        samples = posterior_samples(found, cards, list(frames.by_number))
        landscape, error = _landscape(found, summary, samples.thetas[:LANDSCAPE_TESTS])
    return Answer(
        result,
        (headline(result, groups), assurance(health, summary)),
        health,
        groups,
        cards,
        summary,
        samples,
        landscape,
        error,
        scene,
        frames,
        film_strips_of(result, scene, cards),
        None if found is None else next_reward(found),
        pair,
        [] if pair is None else disagreements(result, *pair, scene),
        None if found is None else deciding_of(found, scene),
    )


def _landscape(
    found: RewardSet, summary: Sequence[ParameterSummary], samples: FloatArray
) -> tuple[SlicedLandscape, float]:
    narrowest = np.argsort([one.share for one in summary], kind="stable")[:MOST_SLIDERS]
    columns = tuple(int(column) for column in np.sort(narrowest))

    worst = float(np.nanmax(found.nll))

    def predict(thetas: FloatArray) -> FloatArray:
        mean: FloatArray = found.predict_nll(thetas)[0]
        if not found.constraints or len(columns) > WHOLE_GRID_UNTIL:
            return mean
        # What is no solution is drawn as the worst; pairs of parameters could not add up to that.
        likely = found.fitted.feasibility.is_likely(found.problem.box.to_unit(thetas))
        return np.where(likely, mean, np.maximum(mean, worst))

    sliced = slice_landscape(predict, found.problem.box, found.best, columns)
    error = sliced.error(predict, found.best, samples)
    return sliced, error / found.likelihood_ratio_tolerance()
