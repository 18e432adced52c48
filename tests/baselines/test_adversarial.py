"""What guided cost learning and adversarial IRL have in common."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import boirl
from boirl import baselines
from boirl.baselines.adversarial import Sample
from boirl.demonstrations import Demonstrations
from boirl.environments import point_mass_maze as maze
from boirl.errors import BoirlError, DemonstrationError, InvalidInputError, SolverError
from boirl.gym_problem import GymProblem
from boirl.policies.actions import CensoredGaussian, UniformMixture
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Solver
from boirl.types import silent

METHODS = ("gcl", "airl")
TARGET = (0.3, 0.1)


@pytest.fixture(params=METHODS)
def name(request):
    return request.param


def magnet(target, seed):
    """Pulls the ball towards a target, from one run to the next not quite the same."""
    gain, jitter = 6.0, 0.01 * np.random.default_rng(seed).standard_normal(2)
    return NetworkPolicy(
        weights=(-gain * np.eye(2),),
        biases=(gain * (np.asarray(target) + jitter),),
        activation="tanh",
        actions=UniformMixture(CensoredGaussian((-1.0, -1.0), (1.0, 1.0)), 0.02),
        log_sd=np.full(2, -0.7),
    )


@dataclass(frozen=True)
class Magnet(Solver):
    """Pulls the ball to where the reward is highest, of some places below the barrier."""

    @property
    def environment_steps(self):
        return 1_000

    def solve(self, task, run, report=silent):
        x, y = np.meshgrid(np.linspace(-0.1, 0.6, 15), np.linspace(-0.1, 0.25, 8))
        places = np.column_stack([x.ravel(), y.ravel()])
        rewards = task.rewards(places, np.zeros_like(places), places)
        return magnet(places[rewards.argmax()], run.seed)


def small_maze(lengths=20):
    simulator = maze.PointMassMaze()
    shown = simulator.roll_out(magnet(TARGET, 0), 8, 20, np.random.default_rng(0))
    numbers = np.broadcast_to(lengths, 8)
    parts = [
        tuple(column[:steps] for column in one) for one, steps in zip(shown, numbers, strict=True)
    ]
    demonstrations = Demonstrations.from_trajectories(parts, shown.start_states)
    reward = maze.TargetReward()
    return GymProblem(simulator, reward, demonstrations, Magnet(), gamma=0.9, workers=0, name="m")


def test_gridworld_is_explained_as_well_as_by_the_expert(name, gridworld):
    expert = gridworld.esor(gridworld.truth)
    run = baselines.get(name).run(
        gridworld, 60, 102, callback=lambda one: gridworld.true_return(one.policy) >= expert
    )
    assert run.nll[0] > 40.0
    assert run.best.nll <= gridworld.nll(gridworld.truth) + 1e-3
    assert gridworld.esor(run.best.theta) >= expert
    assert run[-1].facts["starts"] == 1


def test_the_published_form_gets_there_as_well(name, gridworld):
    settings = {"gcl": {"steps": 10}, "airl": {"steps": 50, "potential_rate": 0.5}}[name]
    method = baselines.get(name, relative=False, learning_rate=0.01, **settings)
    run = method.run(gridworld, 25, 102)
    assert run.nll[0] > 40.0
    assert run.best.nll <= gridworld.nll(gridworld.truth) + 0.01


def test_a_network_explains_gridworld(name, gridworld):
    run = baselines.get(name, reward="network").run(gridworld, 60, 100)
    assert run.best.reward is not None
    assert run.best.nll < run.nll[0] - 1.0
    assert run.best.nll < gridworld.nll(gridworld.truth) + 0.1


def test_twenty_parameters_are_no_obstacle(name):
    problem = boirl.load_problem("terrain")
    run = baselines.get(name).run(problem, 40, 100)
    assert run.best.nll < problem.nll(problem.truth) + 0.05


def test_a_target_is_found_where_policies_are_learned(name):
    problem = small_maze()
    run = baselines.get(name).run(problem, 60, 103)
    distances = [np.linalg.norm(np.subtract(one.theta, TARGET)) for one in run]
    assert distances[0] > 0.4
    assert np.linalg.norm(np.subtract(run.best.theta, TARGET)) < 0.1
    assert min(distances[-10:]) < 0.1


def test_a_network_learns_where_policies_are_learned(name):
    problem = small_maze()
    run = baselines.get(name, reward="network", steps=20).run(problem, 25, 100)
    assert np.isfinite(run.nll).all()
    assert run.best.nll < run.nll[0] - 10.0


@pytest.mark.parametrize("reward", ["theta", "network"])
def test_resumed_is_uninterrupted_where_policies_are_learned(name, reward, tmp_path):
    problem, method = small_maze(), baselines.get(name, reward=reward, kept=2, patience=3)
    whole = method.run(problem, 9, 4)
    method.run(problem, 4, 4, checkpoint=tmp_path / "kept.run")
    resumed = method.run(problem, 9, 4, checkpoint=tmp_path / "kept.run")
    np.testing.assert_array_equal(resumed.nll, whole.nll)
    assert [one.theta for one in resumed] == [one.theta for one in whole]
    assert [one.facts for one in resumed] == [one.facts for one in whole]
    np.testing.assert_array_equal(method.run(problem, 9, 4).nll, whole.nll)


def test_steps_in_the_environment_are_counted(name, gridworld):
    learned = baselines.get(name).run(small_maze(), 3, 0)
    assert [one.environment_steps for one in learned] == [1_160, 2_320, 3_480]
    known = baselines.get(name).run(gridworld, 2, 0)
    assert [one.environment_steps for one in known] == [750, 1_500]
    assert [one.policies for one in known] == [1, 2]


def test_demonstrations_of_any_lengths(name, gridworld):
    lengths = np.arange(50) % 7 + 1
    parts = [
        tuple(column[:steps] for column in one)
        for one, steps in zip(gridworld.demonstrations, lengths, strict=True)
    ]
    problem = gridworld.with_demonstrations(Demonstrations.from_trajectories(parts))
    method = baselines.get(name)
    run = method.run(problem, 40, 102)
    assert np.isfinite(run.nll).all()
    assert run.best.nll < problem.nll(problem.truth) + 0.1
    state = method.begin(problem, 0)
    method.advance(problem, state, silent)
    np.testing.assert_array_equal(state.samples[-1].trajectories.lengths, lengths)
    assert np.isfinite(baselines.get(name).run(small_maze([3, 9, 1, 4, 20, 2, 7, 5]), 3).nll).all()


@pytest.mark.parametrize("reward", ["theta", "network"])
def test_ends_that_nobody_recorded(name, reward):
    problem = small_maze()
    shown = problem.demonstrations
    ends = shown.next_states.copy()
    ends[np.cumsum(shown.lengths) - 1] = np.nan
    cut = problem.with_demonstrations(replace(shown, next_states=ends))
    if (name, reward) == ("gcl", "network"):
        # Its returns are of whole trajectories, and the network pays for where a step leads.
        with pytest.raises(DemonstrationError, match="give one state more than actions"):
            baselines.get(name, reward=reward).run(cut, 4, 0)
        return
    run = baselines.get(name, reward=reward).run(cut, 4, 0)
    assert np.isfinite(run.nll).all()
    assert all(np.isfinite(one.facts["loss"]) for one in run)


class Failing:
    """A solver that fails in some calls."""

    def __init__(self, problem, monkeypatch, calls):
        self.real, self.calls, self.count = type(problem).solve, calls, 0
        solve = lambda problem, *rest, **options: self(problem, *rest, **options)  # noqa: E731
        monkeypatch.setattr(type(problem), "solve", solve)

    def __call__(self, problem, *rest, **options):
        self.count += 1
        if self.count in self.calls:
            raise SolverError("no values")
        return self.real(problem, *rest, **options)


def test_failed_policies_are_survived(name, gridworld, monkeypatch):
    Failing(gridworld, monkeypatch, {3, 4})
    told = []
    run = baselines.get(name).run(gridworld, 30, 102, told.append)
    assert np.flatnonzero(np.isnan(run.nll)).tolist() == [2, 3]
    assert [one.policy is None for one in told[:5]] == [False, False, True, True, False]
    assert run[2].theta != run[3].theta
    assert run[-1].policies == 30
    assert run.best.nll < 23.0


def test_a_reward_without_a_policy_is_no_start(name, gridworld, monkeypatch):
    Failing(gridworld, monkeypatch, {1, 2})
    run = baselines.get(name).run(gridworld, 4, 0)
    assert [one.facts["starts"] for one in run] == [1, 2, 3, 3]
    assert np.isnan(run.nll).tolist() == [True, True, False, False]
    Failing(gridworld, monkeypatch, set(range(99)))
    with pytest.raises(BoirlError, match="no iteration"):
        baselines.get(name).run(gridworld, 3, 0).best  # noqa: B018


def test_a_reward_that_leads_no_further_starts_anew(name, gridworld):
    run = baselines.get(name, learning_rate=1e-9, patience=3).run(gridworld, 9, 0)
    assert [one.facts["starts"] for one in run] == [1, 1, 1, 1, 2, 2, 2, 2, 3]
    assert run[3].theta == pytest.approx(run[0].theta, abs=1e-6)
    assert abs(run[4].nll - run[3].nll) > 0.01


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reward": "table"}, "reward is 'table'; expected 'theta' or 'network'"),
        ({"steps": 0}, "steps is 0; expected at least 1"),
        ({"kept": 0}, "kept is 0"),
        ({"patience": 0}, "patience is 0"),
        ({"learning_rate": 0.0}, r"learning_rate is 0.0; expected a positive number"),
        ({"hidden": ()}, r"hidden is \(\); expected widths of layers"),
    ],
)
def test_wrong_settings_are_named(name, settings, message):
    with pytest.raises(InvalidInputError, match=message):
        baselines.get(name, **settings)


def test_problems_of_one_family_are_refused_in_one_line(name):
    class Routes:
        name, learns = "routes", False

    with pytest.raises(InvalidInputError, match=f"{name} needs a tabular problem or") as refused:
        baselines.get(name).run(Routes(), 1)
    assert "\n" not in str(refused.value)


def test_samples_are_of_the_last_policies(name, gridworld):
    method = baselines.get(name, kept=2)
    state = method.begin(gridworld, 0)
    policies = [method.advance(gridworld, state, silent).policy for _ in range(3)]
    assert [sample.policy for sample in state.samples] == policies[1:]
    assert all(isinstance(sample, Sample) for sample in state.samples)
