"""Behaviour of evaluations: those that are asked for first, the best next, as far as room goes."""

import json

import numpy as np

from boirl.report import frames
from boirl.report.frames import frames_of
from boirl.report.scenes import scene_of


def test_every_evaluation_has_a_frame_where_there_is_room(found, street):
    kept = frames_of(found, scene_of(street))
    assert sorted(kept.by_number) == list(range(len(found)))
    assert kept.left_out == 0
    json.dumps(kept.by_number, allow_nan=False)


def test_room_goes_to_what_is_asked_for_and_then_to_the_best(found, street, monkeypatch):
    monkeypatch.setattr(frames, "FRAME_BYTES", 600)
    worst = int(np.argmax(found.nll))
    kept = frames_of(found, scene_of(street), [worst])
    numbers = list(kept.by_number)
    assert numbers[:2] == [worst, found.best_index]
    assert len(numbers) < len(found)
    assert kept.left_out == len(found) - len(numbers)


def test_without_a_scene_there_are_no_frames(found):
    assert frames_of(found, None).left_out == len(found)
