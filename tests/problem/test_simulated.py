import math
import multiprocessing
import signal
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch

import boirl
from boirl.demonstrations import Demonstrations
from boirl.domains.maze import simulator as maze
from boirl.errors import DemonstrationError, InvalidInputError, SolverError
from boirl.policies.actions import Categorical, CensoredGaussian, Gaussian
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Run, Solver
from boirl.problem.likelihood import negative_log_likelihood
from boirl.problem.simulated import GymProblem
from boirl.projections import sample_rollouts
from boirl.rewards import CallableReward
from boirl.search.growth import ROLLOUTS_PER_POLICY
from boirl.search.settings import SearchSettings
from boirl.types import silent
from tests.problem.learned import (
    HORIZON,
    TRUTH,
    Magnet,
    build,
    demonstrations,
    fuse,
    magnet,
    trained,
)

gymnasium = pytest.importorskip("gymnasium", reason="these need the extra boirl[rl]")
from boirl.environments.gym_simulator import GymSimulator  # noqa: E402


@pytest.fixture(autouse=True)
def _fresh(monkeypatch, tmp_path):
    trained.clear()
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))


def nlls(problem, theta, seed, repeats=None):
    """The NLL of every run that has no warm start, from the outside."""
    count = (repeats or problem.repeats) + len(problem.anchors)
    seeds = np.random.SeedSequence(seed).generate_state(count)
    policies = [problem.solver.solve(problem.task(theta), Run(int(own))) for own in seeds]
    return [negative_log_likelihood(policy, problem.demonstrations) for policy in policies]


@pytest.mark.parametrize("repeats", [1, 2, 5])
def test_an_evaluation_is_the_mean_over_the_runs_with_its_standard_error(repeats):
    problem = build(repeats=repeats)
    found = problem.evaluate(TRUTH, seed=4)
    expected = nlls(problem, TRUTH, 4)
    assert found.ok
    assert found.nll == pytest.approx(np.mean(expected), rel=1e-12)
    error = np.std(expected, ddof=1) / math.sqrt(repeats) if repeats > 1 else 0.0
    assert found.nll_se == pytest.approx(error, rel=1e-9)
    assert (found.theta, found.seed) == (TRUTH, 4)
    assert found.seconds > 0.0


def test_an_evaluation_follows_from_its_seed_wherever_it_runs():
    here, children = build(repeats=3), build(repeats=3, workers=2)
    first = here.evaluate(TRUTH, seed=1)
    for problem in (here, children):
        again = problem.evaluate(TRUTH, seed=1)
        assert again.nll == pytest.approx(first.nll, rel=1e-12)
        assert again.nll_se == pytest.approx(first.nll_se, rel=1e-9)
    assert here.evaluate(TRUTH, seed=2).nll != first.nll


def test_better_rewards_explain_the_demonstrations_better():
    problem = build(repeats=2)
    assert problem.evaluate(TRUTH, seed=0).nll < problem.evaluate((-0.5, -0.5), seed=0).nll


ANCHOR = magnet(TRUTH, seed=99)


def test_anchors_add_runs_that_start_from_them():
    problem = build(repeats=2, anchors=(ANCHOR, ANCHOR))
    problem.evaluate(TRUTH, seed=0)
    assert [run.warm_start is None for run in trained] == [True, True, False, False]
    assert trained[2].warm_start is ANCHOR
    assert len({run.seed for run in trained}) == 4


@pytest.mark.parametrize("keep", ["mean", "best"])
def test_runs_that_are_clearly_worse_than_the_best_are_left_out_where_asked(keep):
    stuck = Magnet(weak=0.3, jitter=0.0)
    problem = build(stuck, repeats=3, anchors=(ANCHOR,), keep=keep)
    found = problem.evaluate(TRUTH, seed=0)
    weak, good = (
        negative_log_likelihood(
            stuck.solve(problem.task(TRUTH), Run(0, start)), problem.demonstrations
        )
        for start in (None, ANCHOR)
    )
    assert abs(weak - good) > 1.0
    if keep == "best":
        assert found.nll == pytest.approx(good)
        assert found.nll_se == 0.0
    else:
        assert found.nll == pytest.approx(0.75 * weak + 0.25 * good)
        assert found.nll_se > 0.1


def test_runs_as_good_as_the_best_are_averaged():
    # Alike in what they do, they differ in nothing that matters to the return.
    problem = build(Magnet(jitter=0.02), repeats=3, keep="best")
    found = problem.evaluate(TRUTH, seed=0)
    assert found.nll == pytest.approx(np.mean(nlls(problem, TRUTH, 0)))
    assert found.nll_se > 0.0


def test_the_policy_kept_is_that_of_the_highest_return():
    problem = build(Magnet(weak=0.3, jitter=0.0), repeats=2, anchors=(ANCHOR,))
    found = problem.evaluate(TRUTH, seed=0)
    kept = problem.policy_of(found)
    assert kept.weights[0][0, 0] == -6.0
    assert [one.weights[0][0, 0] for one in problem.policies_of(found)] == [-6.0, -0.3, -0.3]
    best = problem.best_policy(TRUTH, 0)
    assert best.weights[0][0, 0] == -6.0


FATES = {
    "fails": "the critic diverged",
    "crashes": r"training crashed with ZeroDivisionError: nothing to divide by \(learned",
    "killed": r"killed \(SIGKILL\)",
}


@pytest.mark.parametrize("fate", FATES)
def test_where_all_runs_fail_the_evaluation_says_why(fate):
    problem = build(Magnet(fate=fate), repeats=2, workers=2)
    found = problem.evaluate(TRUTH, seed=0)
    assert not found.ok
    assert math.isnan(found.nll)
    assert found.policies == ()
    assert (found.n_policies, found.environment_steps) == (2, 2 * 70)
    assert "\n" not in found.failure
    with pytest.raises(SolverError, match=FATES[fate]):
        raise SolverError(found.failure)
    with pytest.raises(SolverError, match=FATES[fate]):
        problem.policy_of(found)
    with pytest.raises(SolverError, match=FATES[fate]):
        problem.policy(TRUTH)
    assert np.isnan(problem.nll_batch([TRUTH])).all()


@pytest.mark.parametrize("fate", FATES)
def test_where_some_runs_fail_the_others_count(fate):
    problem = build(Magnet(fate=fate), repeats=1, anchors=(ANCHOR,), workers=2)
    found = problem.evaluate(TRUTH, seed=0)
    assert found.ok
    assert math.isfinite(found.nll)


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("fate", ["fails", "crashes"])
def test_where_they_share_a_process_each_of_the_others_counts_once(fate, workers):
    problem = build(Magnet(fate=fate), repeats=2, anchors=(ANCHOR,) * 2, workers=workers)
    assert [one.policy.weights[0][0, 0] for one in problem.learn(TRUTH, 0)] == [-6.0] * 2


@pytest.mark.parametrize("workers", [0, 1])
def test_policies_worse_than_chance_have_learned_nothing(workers):
    problem = build(Magnet(gain=-6.0), workers=workers)
    found = problem.evaluate((0.2, 0.1), seed=0)
    assert not found.ok
    assert found.failure.startswith("nothing was learned: the mean return -")
    assert found.policies == ()


def test_policies_that_learned_nothing_do_not_count_beside_others():
    problem = build(Magnet(weak=-6.0, jitter=0.0), repeats=3, anchors=(ANCHOR,))
    found = problem.evaluate(TRUTH, seed=0)
    assert found.nll == pytest.approx(
        negative_log_likelihood(magnet(TRUTH, jitter=0.0), problem.demonstrations)
    )
    assert found.nll_se == 0.0


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_an_nll_that_is_not_finite_is_a_failure():
    found = build(Magnet(gain=1e160), likelihood=Gaussian(2)).evaluate(TRUTH, seed=0)
    assert found.failure == "the NLL of the learned policy is inf; expected a finite number"


def test_a_reward_that_does_not_care_is_no_failure():
    nothing = CallableReward(
        lambda theta, steps: 0.0 * theta[:, :1] + torch.zeros(1, len(steps)),
        {"x": (-1.0, 1.0), "y": (-1.0, 1.0)},
    )
    assert build(reward=nothing).evaluate(TRUTH, seed=0).ok


def test_an_evaluation_keeps_the_policies_that_count():
    problem = build(repeats=3)
    found = problem.evaluate(TRUTH, seed=3)
    assert len(trained) == len(found.policies) == found.n_policies == 3
    assert found.environment_steps == 3 * 70
    policies = problem.policies_of(found)
    rows = [-negative_log_likelihood(policy, problem.demonstrations) for policy in policies]
    assert found.nll == pytest.approx(-np.mean(rows), rel=1e-12)
    assert found.nll == pytest.approx(-found.log_likelihoods.mean(), rel=1e-12)
    assert len(trained) == 3


def test_policy_learns_with_seed_zero_every_time():
    problem = build()
    states = problem.demonstrations.states
    first, again = (problem.policy(TRUTH).outputs(states) for _ in range(2))
    assert len(trained) == 2
    np.testing.assert_array_equal(first, again)
    kept = problem.policy_of(problem.evaluate(TRUTH, seed=0))
    np.testing.assert_array_equal(kept.outputs(states), first)
    assert problem.nll(TRUTH) == problem.nll_batch([TRUTH])[0] == problem.evaluate(TRUTH, 0).nll


def test_of_four_runs_that_are_equally_good_the_extremes_are_left_out():
    problem = build(Magnet(jitter=0.02), repeats=4, keep="best")
    found = problem.evaluate(TRUTH, seed=0)
    all_runs = np.sort(nlls(problem, TRUTH, 0))
    assert len(found.policies) == 2
    assert found.nll == pytest.approx(all_runs[1:3].mean(), rel=1e-12)
    assert found.nll == pytest.approx(-found.log_likelihoods.mean(), rel=1e-12)
    assert sorted(found.facts["nll"]) == pytest.approx(all_runs.tolist())


def test_a_likelihood_can_be_chosen():
    plain = CensoredGaussian((-1.0, -1.0), (1.0, 1.0))
    problem = build(likelihood=plain)
    found = problem.evaluate(TRUTH, seed=0)
    assert problem.policy_of(found).actions == plain
    assert found.nll != build().evaluate(TRUTH, seed=0).nll


@pytest.mark.parametrize("workers", [0, 2])
def test_progress_reaches_the_end(workers):
    shares = []
    problem = build(repeats=3, workers=workers)
    problem.evaluate(TRUTH, 0, lambda share, message: shares.append(share))
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def pole_reward():
    return CallableReward(
        lambda theta, steps: -theta[:, :1] * torch.as_tensor(steps.states)[:, 2].abs(),
        {"weight": (0.0, 2.0)},
    )


@dataclass(frozen=True)
class Balance(Solver):
    """Pushes the cart to where the pole falls, the more so the larger the weight."""

    def solve(self, task, run, report=silent):
        weight = np.zeros((4, 2))
        weight[2:, 1] = 20.0 * task.theta[0]
        return NetworkPolicy((weight,), (np.zeros(2),), "tanh", Categorical(2))


def build_pole(**options):
    simulator = GymSimulator("CartPole-v1", horizon=15)
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {
        "env": simulator,
        "reward": pole_reward(),
        "demonstrations": simulator.roll_out(None, 4, 15, rng),
        "solver": Balance(),
        "workers": 0,
        **options,
    }
    return GymProblem(**given)


def test_choices_are_explained_too():
    problem = build_pole()
    found = problem.evaluate([1.0], seed=0)
    expected = negative_log_likelihood(problem.policy([1.0]), problem.demonstrations)
    assert found.nll == pytest.approx(expected)
    assert problem.evaluate([0.0], seed=0).nll == pytest.approx(
        math.log(2.0) * problem.demonstrations.lengths.mean()
    )


def test_the_environment_may_be_given_by_its_id():
    by_id = build_pole(env="CartPole-v1", horizon=15)
    assert isinstance(by_id.simulator, GymSimulator)
    assert by_id.steps == 15
    assert by_id.evaluate([1.0], 0).nll == pytest.approx(build_pole().evaluate([1.0], 0).nll)
    assert build_pole(env="CartPole-v1").steps == 500


STATES, ACTIONS = np.zeros((2, 3, 2)), np.zeros((2, 3, 2))


def changed(array, index, value):
    copy = array.copy()
    copy[index] = value
    return copy


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((np.zeros((2, 3, 5)), ACTIONS), r"observations have shape \(6, 5\); expected a row of 2"),
        ((np.zeros((2, 3), dtype=int), ACTIONS), r"observations have shape \(6,\)"),
        ((STATES, np.zeros((2, 3, 3))), r"actions have shape \(6, 3\); expected a row of 2"),
        ((STATES, np.zeros((2, 3), dtype=int)), r"actions have shape \(6,\)"),
        ((STATES, changed(ACTIONS, (1, 2), 1.1)), r"trajectory 1, step 2: the action is \[1.1 1.1"),
        ((STATES, changed(ACTIONS, (1, 0, 1), -3.0)), r"trajectory 1, step 0: the action is"),
    ],
)
def test_demonstrations_that_do_not_fit_the_maze_are_refused(given, message):
    with pytest.raises(DemonstrationError, match=message):
        build(demonstrations=Demonstrations.from_arrays(*given))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.zeros((2, 3, 1)), r"actions have shape \(6, 1\)"),
        (
            np.array([[0, 1, 0], [0, 2, 1]]),
            "trajectory 1, step 1: the action is 2; expected .*below 2",
        ),
    ],
)
def test_choices_that_do_not_exist_are_refused(actions, message):
    with pytest.raises(DemonstrationError, match=message):
        build_pole(demonstrations=Demonstrations.from_arrays(np.zeros((2, 3, 4)), actions))


def test_actions_a_hair_beyond_their_bounds_are_clipped():
    problem = build(
        demonstrations=Demonstrations.from_arrays(STATES, changed(ACTIONS, (1, 2), 1.0 + 1e-7))
    )
    assert problem.demonstrations.actions.max() == 1.0


def test_actions_a_hair_inside_their_bounds_count_as_clipped():
    class Arm(gymnasium.Env):  # type: ignore[name-defined]
        observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
        action_space = gymnasium.spaces.Box(-0.4, 0.4, (1,))

    given = Demonstrations.from_arrays(np.zeros((1, 2, 1)), np.full((1, 2, 1), 0.4))
    reward = CallableReward(lambda theta, steps: theta[:, :1].expand(-1, len(steps)), {"w": (0, 1)})
    problem = GymProblem(Arm, reward, given, Magnet())
    # Not a density inside: the probability of a clipped draw, which is at most one.
    model = CensoredGaussian(problem.simulator.action_low, problem.simulator.action_high)
    outputs = np.tile([0.4, -9.0], (2, 1))
    assert (model.log_prob(outputs, problem.demonstrations.actions) <= 0.0).all()


def test_an_unknown_end_is_refused_where_the_reward_depends_on_it():
    ends = CallableReward(
        lambda theta, steps: theta[:, :1] * torch.as_tensor(steps.next_states)[:, 0],
        {"w": (0.0, 1.0)},
        "transition",
    )
    known = Demonstrations.from_arrays(np.zeros((2, 4, 2)), ACTIONS)
    unknown = Demonstrations.from_trajectories(
        [(np.zeros((4, 2)), ACTIONS[0]), (np.zeros((3, 2)), ACTIONS[0])]
    )
    build(reward=ends, demonstrations=known)
    with pytest.raises(DemonstrationError, match="trajectory 1 does not say where"):
        build(reward=ends, demonstrations=unknown)
    build(demonstrations=unknown)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0.0}, "gamma is 0.0"),
        ({"gamma": 1.1}, "gamma is 1.1"),
        ({"repeats": 0}, "repeats is 0"),
        ({"keep": "worst"}, "keep is 'worst'"),
        ({"truth": (0.0, 7.0)}, "y = 7"),
        ({"horizon": -1}, "the horizon is -1; expected at least one step"),
        ({"horizon": 0}, "the horizon is 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        build(**options)


def test_a_theta_outside_the_box_is_refused():
    with pytest.raises(InvalidInputError, match="expected a number in"):
        build().evaluate((0.0, 1.5))


def test_returns_are_discounted_sums():
    problem = build()
    drawn = demonstrations(3, horizon=4)
    rewards = -np.linalg.norm(drawn.states - TRUTH, axis=1).reshape(3, 4)
    expected = rewards @ 0.9 ** np.arange(4)
    np.testing.assert_allclose(problem.returns(drawn, TRUTH), expected, rtol=1e-9)


def test_the_true_return_needs_a_truth():
    with pytest.raises(InvalidInputError, match=r"no known truth.*pass truth"):
        build().esor(TRUTH)


def test_the_true_return_is_that_of_the_truth(monkeypatch):
    monkeypatch.setattr(maze.PointMassMaze, "rollouts_to_measure", 50)
    problem = build(Magnet(jitter=0.0), truth=TRUTH)
    best, other = problem.esor(TRUTH), problem.esor((-0.8, 0.1))
    assert isinstance(best, float)
    assert best > other
    np.testing.assert_array_equal(problem.esor([TRUTH, (-0.8, 0.1)]), [best, other])


def test_distances_between_policies():
    problem = build()
    policies = [magnet(theta) for theta in (TRUTH, (0.3, 0.15), (-0.8, -0.9), TRUTH)]
    distances = problem.behaviour_distances(policies)
    np.testing.assert_array_equal(distances, distances.T)
    np.testing.assert_array_equal(np.diagonal(distances), 0.0)
    assert ((distances >= 0.0) & (distances <= 1.0)).all()
    assert distances[0, 3] == 0.0
    assert 0.0 < distances[0, 1] < distances[0, 2]


def test_distances_between_choices_are_the_total_variation():
    simulator = GymSimulator("CartPole-v1", horizon=15)
    problem = build_pole(demonstrations=simulator.roll_out(None, 30, 15, np.random.default_rng(1)))
    policies = [problem.policy([weight]) for weight in (0.0, 0.3, 2.0)]
    found = problem.behaviour_distances(policies)
    states = problem.demonstrations.states
    both = np.stack(
        [[np.exp(p.log_prob(states, np.full(len(states), a))) for a in (0, 1)] for p in policies]
    )
    exact = 0.5 * np.abs(both[:, None] - both[None]).sum(axis=2).mean(axis=2)
    np.testing.assert_allclose(found, exact, atol=0.05)
    assert exact.max() > 0.2


def test_the_fingerprint_changes_with_all_that_an_nll_depends_on():
    longer = demonstrations(horizon=HORIZON + 1)
    steeper = CallableReward(
        lambda theta, steps: (
            2.0 * maze.TargetReward().evaluate(torch.cat([theta, theta[:, :1]], dim=1), steps)
        ),
        {"x": (-1.0, 1.0), "y": (-1.0, 1.0)},
    )
    problems = [
        build(),
        build(Magnet(gain=2.0)),
        build(demonstrations=demonstrations(seed=1)),
        build(demonstrations=longer),
        build(reward=maze.TargetReward(0.5)),
        build(reward=steeper),
        build(gamma=0.8),
        build(horizon=HORIZON + 1),
        build(repeats=2),
        build(keep="best"),
        build(anchors=(ANCHOR,)),
        build(anchors=(magnet(TRUTH, seed=5),)),
        build(likelihood=CensoredGaussian((-1.0, -1.0), (1.0, 1.0))),
        build(likelihood=CensoredGaussian((-1.0, -1.0), (1.0, 2.0))),
        build_pole(),
    ]
    prints = [problem.fingerprint() for problem in problems]
    assert len(set(prints)) == len(prints)
    assert build().fingerprint() == prints[0]
    # How fast it is learned does not matter.
    assert build(workers=2).fingerprint() == prints[0]


def test_the_fingerprint_changes_with_the_arguments_of_the_environment():
    def pendulum(gravity):
        env = gymnasium.make("Pendulum-v1", g=gravity)
        given = Demonstrations.from_arrays(np.zeros((1, 2, 3)), np.zeros((1, 2, 1)))
        reward = CallableReward(
            lambda theta, steps: theta[:, :1] * torch.as_tensor(steps.states)[:, 0], {"w": (0, 1)}
        )
        return GymProblem(env, reward, given, Magnet())

    assert pendulum(10.0).fingerprint() != pendulum(1.6).fingerprint()


SEARCH: dict[str, Any] = {
    "n_initial": 4,
    "n_demonstrations": 6,
    "rollouts": "uniform",
    "seed": 1001,
}


def test_roll_outs_of_the_projection_start_where_demonstrations_did():
    for problem in (build(), build_pole()):
        projection = SearchSettings(n_rollouts=3, seed=1).build_surrogate(problem).projection
        assert len(projection.rollouts) == len(problem.demonstrations)
        for start, length, drawn in zip(
            projection.demonstrations.starts,
            projection.demonstrations.lengths,
            projection.rollouts,
            strict=True,
        ):
            np.testing.assert_allclose(drawn.starts, np.tile(start, (3, 1)), atol=1e-7)
            assert drawn.lengths.max() <= length


def test_roll_outs_of_a_policy_go_where_it_goes():
    problem = build()
    policy = problem.policy((-0.05, -0.05))
    drawn = sample_rollouts(problem, problem.demonstrations, 4, np.random.default_rng(0), [policy])
    ends = np.array([one.next_states[HORIZON - 1 :: HORIZON].mean(axis=0) for one in drawn])
    starts = problem.demonstrations.starts[:, :2]
    gap = np.linalg.norm(ends + 0.05, axis=1) < np.linalg.norm(starts + 0.05, axis=1)
    assert gap.mean() > 0.8


def test_start_states_that_the_environment_cannot_use_do_not_stop_a_search():
    rng = np.random.default_rng(0)
    drawn = GymSimulator("CartPole-v1").roll_out(None, 4, 10, rng)
    problem = build_pole(demonstrations=replace(drawn, start_states=np.zeros((4, 2))))
    SearchSettings().build_surrogate(problem)


def search(folder, evaluations):
    storage = f"sqlite:///{folder}/search.db"
    return boirl.explore(build(repeats=2), evaluations, storage=storage, **SEARCH)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("whole")


@pytest.fixture(scope="module")
def whole(folder):
    """A search that nobody interrupted."""
    return search(folder, 8)


def test_a_whole_search(whole, folder):
    assert len(whole.thetas) == 8
    assert np.isfinite(whole.nll).all()
    assert (whole.nll_se > 0.0).all()
    assert len(list((folder / "search.artifacts").iterdir())) == 8
    assert np.linalg.norm(whole.thetas[whole.nll.argmin()] - TRUTH) < 0.5
    assert "8 evaluations" in str(whole)


def test_a_search_goes_on_past_failed_evaluations():
    @dataclass(frozen=True)
    class Moody(Magnet):
        def solve(self, task, run, report=silent):
            if task.theta[0] < -0.3:
                raise SolverError("not in the mood")
            return super().solve(task, run, report)

    found = boirl.explore(build(Moody()), 7, **SEARCH)
    failed = np.isnan(found.nll)
    assert 0 < failed.sum() < 7
    assert (found.thetas[failed, 0] < -0.3).all()
    assert {one for one in found.failures if one} == {"not in the mood"}


def search_and_die(folder):
    fuse[0] = 2 * 5 + 1
    search(folder, 8)


def test_a_killed_search_goes_on_as_if_nothing_had_happened(whole, tmp_path):
    child = multiprocessing.get_context("fork").Process(target=search_and_die, args=(tmp_path,))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    resumed = search(tmp_path, 8)
    # Five were done; the sixth died in its first run.
    assert len(trained) == 2 * 3
    np.testing.assert_array_equal(resumed.thetas, whole.thetas)
    np.testing.assert_array_equal(resumed.nll, whole.nll)
    np.testing.assert_array_equal(resumed.nll_se, whole.nll_se)


def test_a_search_with_another_solver_is_not_mixed_in(whole, folder):
    other, storage = build(Magnet(gain=1.0), repeats=2), f"sqlite:///{folder}/search.db"
    with pytest.raises(InvalidInputError, match="made with other problem"):
        boirl.explore(other, 9, storage=storage, **SEARCH)


def test_two_studies_in_one_file_keep_their_policies_apart(tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    first, second = (
        boirl.explore(build(Magnet(gain=gain)), 1, storage=storage, name=str(gain), **SEARCH)
        for gain in (6.0, 3.0)
    )
    np.testing.assert_array_equal(first.thetas, second.thetas)
    trained.clear()
    for gain in (6.0, 3.0):
        problem = build(Magnet(gain=gain))
        again = boirl.explore(problem, 1, storage=storage, name=str(gain), **SEARCH)
        assert again.policy(0).weights[0][0, 0] == -gain
    assert trained == []


@pytest.mark.parametrize(
    "storage",
    [
        "sqlite:///:memory:",
        "sqlite://",
        "sqlite:///",
    ],
)
def test_a_database_in_memory_leaves_no_folder_behind(tmp_path, monkeypatch, storage):
    monkeypatch.chdir(tmp_path)
    boirl.explore(build(), 1, storage=storage, **SEARCH)
    assert list(tmp_path.iterdir()) == []


def test_roll_outs_of_learned_policies_join_the_projection(tmp_path):
    problem = build()
    storage = f"sqlite:///{tmp_path}/search.db"
    found = boirl.explore(problem, 5, seed=0, n_initial=1, n_demonstrations=3, storage=storage)
    rollouts = found.surrogate.projection.rollouts
    assert [len(one) for one in rollouts] == [5 + 4 * ROLLOUTS_PER_POLICY] * 3
    again = boirl.explore(build(), 5, seed=0, n_initial=1, n_demonstrations=3)
    np.testing.assert_array_equal(again.thetas, found.thetas)
    uniform = boirl.explore(problem, 3, seed=0, n_initial=1, rollouts="uniform")
    assert [len(one) for one in uniform.surrogate.projection.rollouts] == [5] * 6


def test_learned_policies_differ_where_they_act_differently():
    problem = build()
    left, right = magnet((-0.5, 0.1)), magnet((0.9, 0.1))
    differences = problem.most_different(left, right, n=3)
    assert [one.distance for one in differences] == sorted(
        (one.distance for one in differences), reverse=True
    )
    assert 0.5 < differences[0].distance <= 1.0
    assert differences[0].state.shape == (2,)
    assert differences[0].action[0] < differences[0].other_action[0]
    assert problem.most_different(left, left, n=1)[0].distance == pytest.approx(0.0)


def test_distances_between_rewards_need_known_dynamics():
    found = boirl.explore(build(), 2, seed=0)
    with pytest.raises(InvalidInputError, match="'starc' needs known dynamics"):
        found.groups(by="starc")
