"""Films of what learned policies do."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from boirl.drawing.paths import COLOURS, EPISODES, PATH_STREAM, name_of, roll_out
from boirl.drawing.planes import plane_of
from boirl.errors import InvalidInputError
from boirl.files import cannot_write, make_folder
from boirl.policies.network import NetworkPolicy
from boirl.problem.simulated import GymProblem
from boirl.types import FloatArray

FRAMES_PER_SECOND = 20


def save_film(
    problem: GymProblem,
    policy: NetworkPolicy,
    theta: ArrayLike,
    path: str | Path,
    episodes: int = EPISODES,
    seed: int = 0,
    camera: bool = False,
) -> Path:
    """Write a film, `.gif` or `.mp4`, of a policy.

    Args:
        problem: Where it acts.
        policy: For instance `found.policy(found.best_index)`.
        theta: The reward it is for, for the title and what is marked; that of a network has no
            names.
        path: The film to write.
        episodes: That run side by side; with a camera, one after another.
        seed: Of the roll-outs.
        camera: Whether the environment draws the pictures, which takes its graphics (for MuJoCo:
            libegl1 or libosmesa6).
    """
    target = Path(path)
    writer = _writer(target)
    checked = np.atleast_1d(np.asarray(theta, dtype=np.float64))
    if len(checked) == problem.box.dimension:
        checked = problem.box.check_one(theta)
    make_folder(target.parent)
    try:
        if camera:
            _write_frames(target, writer, _filmed(problem, policy, checked, episodes, seed))
        else:
            _write_paths(target, writer, problem, policy, checked, episodes, seed)
    except OSError as error:
        raise cannot_write(target, error) from error
    return target


def _writer(path: Path) -> AbstractMovieWriter:
    if path.suffix == ".gif":
        return PillowWriter(fps=FRAMES_PER_SECOND)
    if path.suffix != ".mp4":
        raise InvalidInputError(
            f"{str(path)!r} names no film; expected a name that ends in .gif or .mp4"
        )
    if shutil.which("ffmpeg") is None:
        raise InvalidInputError(
            "a film in .mp4 takes ffmpeg, which is not installed; write a .gif, or install ffmpeg"
        )
    return FFMpegWriter(fps=FRAMES_PER_SECOND)


def _write_paths(
    target: Path,
    writer: AbstractMovieWriter,
    problem: GymProblem,
    policy: NetworkPolicy,
    theta: FloatArray,
    episodes: int,
    seed: int,
) -> None:
    plane = plane_of(problem.simulator.name)
    drawn = roll_out(problem, policy, seed, episodes)
    paths = [plane.project(np.vstack([one.states, one.next_states[-1:]])) for one in drawn]
    figure = Figure(figsize=(4.6, 4.6), layout="constrained")
    axes = figure.subplots()
    together = np.vstack(paths)
    plane.backdrop(axes)
    plane.mark(axes, theta, COLOURS[0])
    axes.update_datalim(together)
    axes.autoscale_view()
    axes.set_xlabel(plane.labels[0])
    axes.set_ylabel(plane.labels[1])
    axes.set_aspect(plane.aspect)
    axes.set_title(name_of(problem, theta), fontsize=9)
    lines = [axes.plot([], [], color=COLOURS[0], alpha=0.35, linewidth=1)[0] for _ in paths]
    heads = axes.plot([], [], "o", color=COLOURS[0], markersize=6)[0]
    with writer.saving(figure, str(target), dpi=100):
        for step in range(max(map(len, paths))):
            ends = [path[min(step, len(path) - 1)] for path in paths]
            heads.set_data(*np.transpose(ends))
            for line, path in zip(lines, paths, strict=True):
                line.set_data(*path[: step + 1].T)
            writer.grab_frame()


def _write_frames(
    target: Path, writer: AbstractMovieWriter, frames: Sequence[NDArray[np.uint8]]
) -> None:
    height, width = frames[0].shape[:2]
    figure = Figure(figsize=(width / 100, height / 100))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    image = axes.imshow(frames[0])
    with writer.saving(figure, str(target), dpi=100):
        for frame in frames:
            image.set_data(frame)
            writer.grab_frame()


def _filmed(
    problem: GymProblem, policy: NetworkPolicy, theta: FloatArray, episodes: int, seed: int
) -> list[NDArray[np.uint8]]:
    try:
        return camera_frames(problem, policy, theta, episodes, seed)
    except InvalidInputError as error:
        raise InvalidInputError(f"{error}, or leave the camera out") from error


def camera_frames(
    problem: GymProblem,
    policy: NetworkPolicy,
    theta: FloatArray,
    episodes: int,
    seed: int,
    steps: int | None = None,
) -> list[NDArray[np.uint8]]:
    """What the environment draws of every state of some episodes, `h x w x 3` each.

    Args:
        problem: Where the policy acts.
        policy: For instance `found.policy(found.best_index)`.
        theta: The reward it is for; some environments mark what it is after.
        episodes: One after another, from where the environment starts them.
        seed: Of starts and actions.
        steps: Of an episode at most; by default those of the problem.

    Raises:
        InvalidInputError: The environment cannot draw itself, or not on this machine.
    """
    try:
        # Without a screen, graphics warn before they fail; the failure is what is reported.
        with warnings.catch_warnings(action="ignore"):
            return _camera_frames(problem, policy, theta, episodes, seed, steps or problem.steps)
    except InvalidInputError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise InvalidInputError(
            f"the environment could not draw itself ({type(error).__name__}: {reason}); install "
            "its graphics (for MuJoCo: apt-get install libegl1, and set MUJOCO_GL=egl)"
        ) from error


def _camera_frames(
    problem: GymProblem,
    policy: NetworkPolicy,
    theta: FloatArray,
    episodes: int,
    seed: int,
    steps: int,
) -> list[NDArray[np.uint8]]:
    from gymnasium import spaces

    simulator = problem.simulator
    rng = np.random.default_rng([seed, PATH_STREAM])
    env = simulator.camera_env(theta)
    frames = []
    try:
        for _ in range(episodes):
            observation, _ = env.reset(seed=int(rng.integers(2**31)))
            for _ in range(steps):
                frames.append(np.asarray(env.render()))
                flat = np.asarray(spaces.flatten(env.observation_space, observation))
                action = policy.sample(flat.reshape(1, -1), rng)[0]
                if simulator.n_actions is None:
                    action = action.astype(env.action_space.dtype)
                observation, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    break
            frames.append(np.asarray(env.render()))
    finally:
        env.close()
    return frames
