"""Pictures from an environment's own camera: a few of an episode."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from boirl.drawing.films import camera_frames
from boirl.problem.simulated import GymProblem
from boirl.types import FloatArray

PICTURES = 6
"""Pictures of an episode, from its first state to its last."""

WIDTH = 200
"""Pixels; wider pictures are made smaller."""


def has_camera(problem: GymProblem) -> bool:
    """Whether the environment says that it draws itself."""
    env: Any = getattr(problem.simulator, "env", None)
    modes = () if env is None else env.metadata.get("render_modes") or ()
    return "rgb_array" in modes


def film_strip(problem: GymProblem, policy: Any, theta: FloatArray) -> list[str]:
    """Pictures of one episode, evenly spread; the same seed, and so the same start, for all.

    The episode is as long as the longest demonstration.

    Raises:
        InvalidInputError: The environment cannot draw itself on this machine.
    """
    steps = min(problem.steps, int(problem.demonstrations.lengths.max()))
    taken = camera_frames(problem, policy, theta, episodes=1, seed=0, steps=steps)
    chosen = np.unique(np.linspace(0, len(taken) - 1, PICTURES).round().astype(int))
    return [_address(taken[number]) for number in chosen]


def _address(picture: NDArray[np.uint8]) -> str:
    image = Image.fromarray(picture).convert("RGB")
    image.thumbnail((WIDTH, WIDTH))
    buffer = io.BytesIO()
    image.save(buffer, format="JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"
