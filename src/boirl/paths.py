"""What learned policies do: pictures and films of the paths they take.

A view says which plane of the observations is drawn, and what is drawn behind the paths. There is
one for the point mass maze and one for FetchReach; any other environment shows its first two
observations.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from numpy.typing import ArrayLike, NDArray

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.files import cannot_write, make_folder, save_figure
from boirl.gym_problem import GymProblem
from boirl.solutions import RewardSet
from boirl.types import FloatArray

EPISODES = 12
FRAMES_PER_SECOND = 20
MOST_REWARDS = 4
COLOURS = ("tab:red", "tab:blue", "tab:green", "tab:purple")
PATH_STREAM = 21


@dataclass(frozen=True)
class View:
    """A plane to draw paths in.

    Args:
        labels: Of the two axes.
        project: From observations `T x k` to the plane, `T x 2`.
        backdrop: Draws what stands still.
        mark: Draws what a reward is after, given the axes, theta and a colour.
        aspect: `"equal"` where both axes have one unit.
    """

    labels: tuple[str, str]
    project: Callable[[FloatArray], FloatArray]
    backdrop: Callable[[Axes], None] = lambda axes: None
    mark: Callable[[Axes, FloatArray, str], None] = lambda axes, theta, colour: None
    aspect: Literal["equal", "auto"] = "equal"


def has_paths(problem: Any) -> TypeGuard[GymProblem]:
    """Whether there are paths to draw."""
    return isinstance(problem, GymProblem)


def save_paths(found: RewardSet, folder: str | Path) -> list[Path]:
    """Write `paths.png`: the demonstrations, and what the best reward of each behaviour does."""
    problem = found.problem
    assert isinstance(problem, GymProblem)
    groups = found.groups()[:MOST_REWARDS]
    figure = paths_figure(problem, [group.representative for group in groups])
    return [save_figure(figure, Path(folder) / "paths.png")]


def paths_figure(problem: GymProblem, thetas: Sequence[ArrayLike], seed: int = 0) -> Figure:
    """The demonstrations beside the paths of the policies of some rewards.

    Args:
        problem: Gives the policies; one that is not kept is learned now.
        thetas: At most four rewards.
        seed: Of the roll-outs, which start where demonstrations did.
    """
    chosen = [problem.box.check_one(theta) for theta in thetas][:MOST_REWARDS]
    view = _view(problem)
    figure = Figure(figsize=(4.2 * (1 + len(chosen)), 4.6), layout="constrained")
    panels = figure.subplots(1, 1 + len(chosen), sharex=True, sharey=True, squeeze=False)[0]
    _draw(panels[0], view, problem.demonstrations.subset(np.arange(_shown(problem))), "black")
    panels[0].set_title("demonstrations")
    for axes, theta, colour in zip(panels[1:], chosen, COLOURS, strict=False):
        _draw(axes, view, _roll_out(problem, theta, seed), colour)
        view.mark(axes, theta, colour)
        axes.set_title(_name(problem, theta), fontsize=9)
    panels[0].set_ylabel(view.labels[1])
    return figure


def save_film(
    problem: GymProblem,
    theta: ArrayLike,
    path: str | Path,
    episodes: int = EPISODES,
    seed: int = 0,
    camera: bool = False,
) -> Path:
    """Write a film, `.gif` or `.mp4`, of the policy of theta.

    Args:
        problem: Gives the policy.
        theta: The reward.
        path: The film to write.
        episodes: That run side by side; with a camera, one after another.
        seed: Of the roll-outs.
        camera: Whether the environment draws the pictures, which takes its graphics (for MuJoCo:
            libegl1 or libosmesa6).
    """
    target = Path(path)
    writer = _writer(target)
    checked = problem.box.check_one(theta)
    make_folder(target.parent)
    try:
        if camera:
            _write_frames(target, writer, _camera_frames(problem, checked, episodes, seed))
        else:
            _write_paths(target, writer, problem, checked, episodes, seed)
    except OSError as error:
        raise cannot_write(target, error) from error
    return target


def _writer(path: Path) -> AbstractMovieWriter:
    if path.suffix == ".gif":
        return PillowWriter(fps=FRAMES_PER_SECOND)
    if path.suffix != ".mp4":
        raise InvalidInputError(f"{str(path)!r} names no film; expected a name in .gif or .mp4")
    if shutil.which("ffmpeg") is None:
        raise InvalidInputError(
            "a film in .mp4 takes ffmpeg, which is not installed; write a .gif, or install ffmpeg"
        )
    return FFMpegWriter(fps=FRAMES_PER_SECOND)


def _write_paths(
    target: Path,
    writer: AbstractMovieWriter,
    problem: GymProblem,
    theta: FloatArray,
    episodes: int,
    seed: int,
) -> None:
    view = _view(problem)
    drawn = _roll_out(problem, theta, seed, episodes)
    paths = [view.project(np.vstack([one.states, one.next_states[-1:]])) for one in drawn]
    figure = Figure(figsize=(4.6, 4.6), layout="constrained")
    axes = figure.subplots()
    together = np.vstack(paths)
    view.backdrop(axes)
    view.mark(axes, theta, COLOURS[0])
    axes.update_datalim(together)
    axes.autoscale_view()
    axes.set_xlabel(view.labels[0])
    axes.set_ylabel(view.labels[1])
    axes.set_aspect(view.aspect)
    axes.set_title(_name(problem, theta), fontsize=9)
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


def _camera_frames(
    problem: GymProblem, theta: FloatArray, episodes: int, seed: int
) -> list[NDArray[np.uint8]]:
    env = _camera_env(problem, theta)
    rng = np.random.default_rng([seed, PATH_STREAM])
    policy, simulator = problem.policy(theta), problem.simulator
    frames = []
    try:
        from gymnasium import spaces

        for _ in range(episodes):
            observation, _ = env.reset(seed=int(rng.integers(2**31)))
            for _ in range(problem.steps):
                frames.append(np.asarray(env.render()))
                flat = np.asarray(spaces.flatten(env.observation_space, observation))
                action = policy.sample(flat.reshape(1, -1), rng)[0]
                if simulator.n_actions is None:
                    action = action.astype(env.action_space.dtype)
                observation, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    break
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise InvalidInputError(
            f"the environment could not draw itself ({type(error).__name__}: {reason}); install "
            "its graphics (for MuJoCo: apt-get install libegl1, and MUJOCO_GL=egl), or leave "
            "the camera out"
        ) from error
    finally:
        env.close()
    return frames


def _camera_env(problem: GymProblem, theta: FloatArray) -> Any:
    import gymnasium

    if problem.simulator.name == "point-mass-maze":
        from boirl.environments.point_mass_maze_env import ENV_ID

        return gymnasium.make(ENV_ID, target=tuple(theta), render_mode="rgb_array")
    source = getattr(problem.simulator, "source", None)
    if isinstance(source, str):
        return gymnasium.make(source, render_mode="rgb_array")
    if source is not None and _takes_render_mode(source):
        return source(render_mode="rgb_array")
    raise InvalidInputError(
        "the environment is made by a function that takes no render_mode, so that boirl cannot ask "
        "it for pictures; leave the camera out"
    )


def _takes_render_mode(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters
    return "render_mode" in parameters or any(
        one.kind == one.VAR_KEYWORD for one in parameters.values()
    )


def _shown(problem: GymProblem) -> int:
    return min(EPISODES, len(problem.demonstrations))


def _roll_out(
    problem: GymProblem, theta: FloatArray, seed: int, episodes: int | None = None
) -> Demonstrations:
    rng = np.random.default_rng([seed, PATH_STREAM])
    count = min(episodes or EPISODES, len(problem.demonstrations))
    starts = problem.demonstrations.starts[:count]
    longest = int(problem.demonstrations.lengths.max())
    return problem.roll_out(problem.policy(theta), starts, longest, rng)


def _draw(axes: Axes, view: View, trajectories: Demonstrations, colour: str) -> None:
    view.backdrop(axes)
    for one in trajectories:
        ended = np.isfinite(one.next_states[-1:]).all(axis=1)
        path = view.project(np.vstack([one.states, one.next_states[-1:][ended]]))
        axes.plot(*path.T, color=colour, alpha=0.5, linewidth=1)
        axes.plot(*path[0], ".", color=colour, markersize=4)
        axes.plot(*path[-1], "o", color=colour, markersize=5, markerfacecolor="none")
    axes.set_xlabel(view.labels[0])
    axes.set_aspect(view.aspect)


def _name(problem: GymProblem, theta: FloatArray) -> str:
    pairs = zip(problem.box.names, theta, strict=True)
    return ", ".join(f"{name} = {value:.3g}" for name, value in pairs)


def _view(problem: GymProblem) -> View:
    special = {"point-mass-maze": _maze_view, "FetchReach-v4": _fetch_view}
    make = special.get(problem.simulator.name)
    if make is not None:
        return make()
    return View(("observation 0", "observation 1"), _first_two, aspect="auto")


def _first_two(states: FloatArray) -> FloatArray:
    if states.shape[1] > 1:
        return states[:, :2]
    return np.column_stack([np.arange(len(states)), states[:, 0]])


def _maze_view() -> View:
    from boirl.environments import maze_dynamics as dynamics

    def backdrop(axes: Axes) -> None:
        for x0, y0, x1, y1 in dynamics.WALLS:
            axes.plot([x0, x1], [y0, y1], color="dimgray", linewidth=5, solid_capstyle="round")

    def mark(axes: Axes, theta: FloatArray, colour: str) -> None:
        axes.plot(*theta[:2], "X", color=colour, markersize=11, markeredgecolor="white")

    return View(("x", "y"), lambda states: states[:, :2], backdrop, mark)


def _fetch_view() -> View:
    """Seen from above, with the goal in the middle."""

    def project(states: FloatArray) -> FloatArray:
        return 100.0 * (states[:, 0:2] - states[:, 3:5])

    def mark(axes: Axes, theta: FloatArray, colour: str) -> None:
        axes.add_patch(Circle((0.0, 0.0), 100.0 * theta[0], color=colour, alpha=0.15))

    labels = ("x from the goal, in cm", "y from the goal, in cm")
    return View(labels, project, lambda axes: None, mark)
