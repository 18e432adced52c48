"""The behaviour of evaluations, computed beforehand so that a click can show it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from boirl.errors import InvalidInputError
from boirl.report.group_cards import GroupCard
from boirl.report.scenes import Frame, Scene
from boirl.results import Result

FRAME_BYTES = 2_000_000
"""What all frames of a report may take; a page of less than 5 MB opens at once."""


@dataclass(frozen=True)
class Frames:
    """Frames of evaluations.

    Attributes:
        by_number: The frame of each evaluation that has one.
        left_out: How many evaluations that succeeded have none, for want of a policy or of room.
    """

    by_number: dict[int, Frame] = field(default_factory=dict)
    left_out: int = 0


def frames_of(result: Result, scene: Scene | None, first: Iterable[int] = ()) -> Frames:
    """Frames of as many evaluations as there is room for: some given ones, then the best.

    Policies are those that evaluations kept; where dynamics are known, others are solved for again.
    """
    best_first = [int(n) for n in np.argsort(result.nll, kind="stable") if result.evaluations[n].ok]
    if scene is None:
        return Frames(left_out=len(best_first))
    order = dict.fromkeys([*first, *best_first])
    kept: dict[int, Frame] = {}
    room = FRAME_BYTES
    for number in order:
        evaluation = result.evaluations[number]
        if result.problem.is_model_free and not evaluation.policies:
            continue
        frame = scene.frame(result.policy(number), np.array(evaluation.theta))
        room -= len(json.dumps(frame, separators=(",", ":")))
        if room < 0 and kept:
            break
        kept[number] = frame
    return Frames(kept, len(best_first) - len(kept))


@dataclass(frozen=True)
class FilmStrips:
    """Pictures of the best reward of each behaviour.

    Attributes:
        by_number: Of evaluations, as addresses that hold the picture (`data:image/jpeg;...`).
        failure: Why the camera gave no pictures; empty where it did, or where there is none.
    """

    by_number: dict[int, Sequence[str]] = field(default_factory=dict)
    failure: str = ""


def film_strips_of(result: Result, scene: Scene | None, cards: Sequence[GroupCard]) -> FilmStrips:
    """The pictures of all cards; a camera that fails is asked once."""
    strips: dict[int, Sequence[str]] = {}
    if scene is None:
        return FilmStrips()
    for number in (int(card.indices[0]) for card in cards):
        evaluation = result.evaluations[number]
        if result.problem.is_model_free and not evaluation.policies:
            continue
        try:
            strip = scene.pictures(result.policy(number), np.array(evaluation.theta))
        except InvalidInputError as error:
            return FilmStrips(strips, str(error))
        if strip:
            strips[number] = strip
    return FilmStrips(strips)
