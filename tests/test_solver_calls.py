"""No policy is solved for twice: printing, drawing, saving and reading solve nothing."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import boirl
from boirl.domains.maze import simulator as maze
from boirl.domains.roads.maps import save_maps
from boirl.domains.roads.route_choice import RoutePolicy
from boirl.drawing import convergence, save_pictures
from boirl.policies.actions import CensoredGaussian, UniformMixture
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Solver
from boirl.problem.simulated import GymProblem
from boirl.types import silent

from .domains.roads.conftest import LOGIT_TRUTH, town_with_trips

EVALUATIONS = 20


class Counter:
    """How many policies were solved for since it was last asked."""

    def __init__(self) -> None:
        self.solved = 0

    def take(self) -> int:
        count, self.solved = self.solved, 0
        return count


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Counter:
    """Counts the reward tables that are solved, and the route choices."""
    counted = Counter()
    solve_batch, solve = boirl.TabularSolver.solve_batch, RoutePolicy.solve

    def solve_tables(self: Any, mdp: Any, rewards: Any, *rest: Any) -> Any:
        counted.solved += len(rewards)
        return solve_batch(self, mdp, rewards, *rest)

    def solve_routes(*given: Any) -> Any:
        counted.solved += 1
        return solve(*given)

    monkeypatch.setattr(boirl.TabularSolver, "solve_batch", solve_tables)
    monkeypatch.setattr(RoutePolicy, "solve", solve_routes)
    return counted


@pytest.fixture(scope="module")
def town() -> Any:
    return boirl.load_problem("road-network", n_links=200)


@pytest.fixture(scope="module")
def trips() -> Any:
    """Trips to three destinations of a small town, with the theta that they were sampled at."""
    problem = boirl.recursive_logit_problem(*town_with_trips(1))
    return replace(problem, truth=tuple(LOGIT_TRUTH))


@pytest.fixture(autouse=True)
def _quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are made, with few points, and their files stay empty."""
    monkeypatch.setattr("boirl.drawing.landscapes.GRID", 12)
    monkeypatch.setattr("boirl.drawing.latent.LATENT_POINTS", 100)
    monkeypatch.setattr(Figure, "savefig", lambda self, path, **options: Path(path).touch())


@pytest.fixture(params=["town", "trips"])
def problem(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


def test_a_study_solves_each_of_its_rewards_and_the_truth_once(problem, counter, tmp_path):
    def study():
        return boirl.Study(
            problem,
            seed=1000,
            rollouts="solved",
            n_initial=12,
            n_demonstrations=5,
            n_rollouts=2,
            storage=f"sqlite:///{tmp_path}/search.db",
        )

    found = study().run(EVALUATIONS)
    assert (len(found), found.n_policies) == (EVALUATIONS, EVALUATIONS)
    assert counter.take() == EVALUATIONS
    text = str(found)
    assert counter.take() == 0
    names = {path.name for path in save_pictures(found, tmp_path / "pictures")}
    assert names >= {"convergence.png", "landscape.png", "latent.png", "trips.png", "visits.png"}
    assert counter.take() == 1  # the truth
    found.save(tmp_path / "rewards.npz")
    convergence(found)
    assert counter.take() == 0

    # Opened again, as by another process, the study has everything.
    again = study().result()
    assert str(again) == text
    save_maps(again, tmp_path / "again")
    # And so has the file.
    loaded = boirl.load_result(tmp_path / "rewards.npz")
    assert str(loaded) == text
    save_maps(loaded, tmp_path / "loaded")
    assert counter.take() == 0
    convergence(loaded)
    assert counter.take() == 1


@pytest.mark.parametrize("method", ["random", "maxent"])
def test_a_baseline_is_printed_saved_and_opened_without_solving(town, method, counter, tmp_path):
    run = boirl.baselines.get(method).run(town, evaluations=5, seed=1000)
    assert counter.take() >= run.n_policies
    text = str(run)
    run.save(tmp_path / "run.npz")
    assert str(boirl.load_result(tmp_path / "run.npz")) == text
    assert counter.take() == 0


def test_metrics_of_a_result_reuse_its_policies(town, counter):
    found = boirl.explore(town, evaluations=5, seed=1000, kernel="rbf")
    counter.take()
    found.groups()
    found.distances(range(5))
    found.parameter_summary(n=50)
    one, other = found.policy(0), found.policy(1)
    town.most_different(one, other, 3)
    town.true_return(one)
    town.with_demonstrations(town.demonstrations.subset(range(9))).rescore(found.evaluations[2])
    assert counter.take() == 0


@dataclass(frozen=True)
class Magnet(Solver):
    """Pulls the ball towards the target; needs no learning, and counts its runs."""

    counter: Counter

    def __repr__(self) -> str:
        return "Magnet()"

    def solve(self, task: Any, run: Any, report: Any = silent) -> NetworkPolicy:
        self.counter.solved += 1
        rng = np.random.default_rng(run.seed)
        return NetworkPolicy(
            weights=(-6.0 * np.eye(2),),
            biases=(6.0 * (task.theta + 0.03 * rng.standard_normal(2)),),
            activation="tanh",
            actions=UniformMixture(CensoredGaussian((-1.0, -1.0), (1.0, 1.0))),
            log_sd=np.full(2, -0.7),
        )


@pytest.fixture
def ball() -> GymProblem:
    simulator, steps, counted = maze.PointMassMaze(), 10, Counter()
    solver = Magnet(counted)
    expert = solver.solve(
        GymProblem(
            simulator,
            maze.TargetReward(),
            simulator.roll_out(None, 1, steps, np.random.default_rng(0)),
            solver,
        ).task((0.3, 0.1)),
        boirl.policies.solver.Run(0),
    )
    counted.take()
    return GymProblem(
        simulator,
        maze.TargetReward(),
        simulator.roll_out(expert, 5, steps, np.random.default_rng(1)),
        solver,
        horizon=steps,
        repeats=2,
        workers=0,
        truth=(0.3, 0.1),
        name="ball",
    )


def test_learned_policies_are_trained_once(ball, tmp_path):
    counter = ball.solver.counter

    def study():
        storage = f"sqlite:///{tmp_path}/search.db"
        return boirl.Study(
            ball, seed=1000, n_initial=3, n_demonstrations=4, n_rollouts=2, storage=storage
        )

    found = study().run(5)
    assert counter.take() == found.n_policies == 10
    text = str(found)
    names = {path.name for path in save_pictures(found, tmp_path / "pictures")}
    assert names == {"convergence.png", "landscape.png", "latent.png", "paths.png"}
    again = study().result()
    assert str(again) == text
    found.save(tmp_path / "rewards.npz")
    loaded = boirl.load_result(tmp_path / "rewards.npz", problem=ball)
    assert str(loaded) == text
    assert {path.name for path in save_pictures(loaded, tmp_path / "again")} == names
    assert counter.take() == 0
