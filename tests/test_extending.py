"""One of each kind is added from outside the package, through public registration, and run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from torch import Tensor

import boirl
from boirl.baselines import BASELINES, Baseline, get
from boirl.problem import PROBLEMS
from boirl.projections import PROJECTIONS, LogRho
from boirl.registry import Registry
from boirl.search import ACQUISITIONS, Proposal
from boirl.surrogate import KERNELS, FittedSurrogate
from boirl.types import Report

SEED = 2001


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Registration lasts for the process; the other tests should not see it."""
    registries: tuple[Registry[Any], ...] = (
        ACQUISITIONS,
        BASELINES,
        KERNELS,
        PROBLEMS,
        PROJECTIONS,
    )
    before = [dict(registry._known) for registry in registries]
    yield
    for registry, known in zip(registries, before, strict=True):
        registry._known.clear()
        registry._known.update(known)


def test_a_kernel_of_ones_own(gridworld: boirl.TabularProblem) -> None:
    KERNELS.register(
        "rho-matern", boirl.KernelSpec("rho-matern", projected=True, smoothness=2.5, linear=True)
    )
    found = boirl.explore(gridworld, evaluations=6, kernel="rho-matern", seed=SEED)
    assert found.surrogate.kernel.smoothness == 2.5
    assert np.isfinite(found.predict_nll(found.best)[0])


def test_an_acquisition_of_ones_own(gridworld: boirl.TabularProblem) -> None:
    def least_known_corner(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
        corners = rng.integers(0, 2, (8, surrogate.box.dimension)).astype(np.float64)
        _, sd = surrogate.posterior(surrogate.box.from_unit(corners))
        return Proposal(corners[sd.argmax()], "corner")

    ACQUISITIONS.register("corners", least_known_corner)
    found = boirl.explore(gridworld, evaluations=6, acquisition="corners", seed=SEED)
    unit = gridworld.box.to_unit(found.thetas[-1])
    assert set(unit.round(9)) <= {0.0, 1.0}


def test_a_projection_of_ones_own(gridworld: boirl.TabularProblem, tmp_path: Path) -> None:
    class HalfLogRho(LogRho):
        name = "half-log-rho"

        def project(self, theta: Tensor) -> Tensor:
            return 0.5 * super().project(theta)

    PROJECTIONS.register("half-log-rho", HalfLogRho)
    found = boirl.explore(gridworld, evaluations=6, projection="half-log-rho", seed=SEED)
    found.save(tmp_path / "found.npz")
    loaded = boirl.RewardSet.load(tmp_path / "found.npz")
    assert isinstance(loaded.surrogate.projection, HalfLogRho)
    assert loaded.predict_nll(found.best) == pytest.approx(found.predict_nll(found.best))


def build_corridor(length: int = 5) -> boirl.TabularProblem:
    """Walks to the right end of a corridor."""
    places = np.arange(length)
    moves = np.stack([np.maximum(places - 1, 0), np.minimum(places + 1, length - 1)], axis=1)
    mdp = boirl.TabularMDP.from_next_states(moves, gamma=0.9)
    reward = boirl.LinearReward((places == length - 1)[:, None], {"end": (0.0, 2.0)})
    walk = (np.append(places, length - 1), np.ones(length, dtype=int))
    return boirl.TabularProblem(mdp, reward, boirl.Demonstrations.from_trajectories([walk]))


def test_a_problem_of_ones_own() -> None:
    PROBLEMS.register("corridor", boirl.ProblemEntry(build_corridor, "a corridor"))
    problem = boirl.load_problem("corridor", length=6)
    assert problem.mdp.n_states == 6
    assert boirl.explore(problem, evaluations=4, seed=SEED).best[0] > 1.0


def test_a_baseline_of_ones_own(gridworld: boirl.TabularProblem, tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Centre(Baseline):
        name: ClassVar[str] = "centre"
        summary: ClassVar[str] = "the middle of the box, again and again"

        def check(self, problem: boirl.Problem[Any]) -> None:
            """Applies everywhere."""

        def begin(self, problem: boirl.Problem[Any], seed: int) -> None:
            return None

        def advance(
            self, problem: boirl.Problem[Any], state: None, report: Report
        ) -> boirl.Evaluation:
            return problem.evaluate(0.5 * (problem.box.low + problem.box.high))

    BASELINES.register("centre", Centre)
    run = get("centre").run(gridworld, evaluations=2, checkpoint=tmp_path / "centre.run")
    assert run.nll[0] == run.nll[1] == gridworld.nll(run.best)
    run.save(tmp_path / "centre.npz")
    assert boirl.load_result(tmp_path / "centre.npz").best_nll == run.best_nll


def test_a_package_declares_a_problem_as_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "corridors-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: corridors\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[boirl.problems]\nlong = corridors:LONG\n")
    (tmp_path / "corridors.py").write_text(
        "import boirl\n"
        "from tests.test_extending import build_corridor\n"
        "LONG = boirl.ProblemEntry(lambda: build_corridor(9), 'a long corridor')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found: Registry[boirl.ProblemEntry] = Registry("problem", "boirl.problems")
    assert "long" in found
    assert found["long"].build().mdp.n_states == 9  # type: ignore[attr-defined]
    sys.modules.pop("corridors")


def test_a_name_is_given_once() -> None:
    with pytest.raises(boirl.errors.InvalidInputError, match="there is a kernel 'rbf' already"):
        KERNELS.register("rbf", boirl.KernelSpec("rbf", projected=False, linear=True))
    with pytest.raises(boirl.errors.InvalidInputError, match="there is a problem 'gridworld'"):
        PROBLEMS.register("gridworld", boirl.ProblemEntry(build_corridor, "another one"))
