"""Results in files, with the problem or without it."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import boirl
from boirl.errors import CodeNeededError, InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.policies.bellman import TabularSolver
from boirl.results.files import FORMAT
from boirl.rewards import CallableReward, LinearReward, LogisticReward, ShapedReward

RNG = np.random.default_rng(1000)
WEIGHTS = {"a": (-2.0, 2.0), "b": (-2.0, 2.0)}
REWARDS = {
    "states": LinearReward(RNG.normal(size=(4, 2)), WEIGHTS),
    "state-actions": LinearReward(RNG.normal(size=(4, 3, 2)), WEIGHTS),
    "logistic": LogisticReward(
        RNG.normal(size=4),
        {"steepness": (-2.0, 2.0), "midpoint": (-1.0, 1.0), "translation": (-4.0, 4.0)},
    ).fix(translation=0.5),
    "shaped": ShapedReward(
        LinearReward(RNG.normal(size=(4, 1)), {"a": (-2.0, 2.0)}), RNG.normal(size=(4, 1)), 0.9
    ),
}


def assert_same_evaluations(found, expected):
    assert len(found.evaluations) == len(expected.evaluations)
    for one, other in zip(found.evaluations, expected.evaluations, strict=True):
        first, second = one.numbers(), other.numbers()
        assert json.dumps(first) == json.dumps(second)
        assert set(one.arrays()) == set(other.arrays())
        for name, array in other.arrays().items():
            np.testing.assert_array_equal(one.arrays()[name], array)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "rewards.npz"


@pytest.fixture
def no_solver(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("solved")

    def forbid():
        monkeypatch.setattr(TabularSolver, "solve_batch", refuse)

    return forbid


def test_a_search_survives_a_file(found, path, no_solver):
    found.save(path)
    expected = str(found)
    no_solver()
    loaded = boirl.load_result(path)
    assert type(loaded) is boirl.RewardSet
    assert_same_evaluations(loaded, found)
    assert loaded.settings == dict(found.settings)
    assert (loaded.problem.name, loaded.problem.recipe) == ("gridworld", {"name": "gridworld"})
    probe = found.problem.box.from_unit(np.random.default_rng(0).random((20, 3)))
    np.testing.assert_array_equal(loaded.predict_nll(probe), found.predict_nll(probe))
    assert str(loaded) == expected


@pytest.mark.parametrize("reward", REWARDS.values(), ids=REWARDS)
def test_a_problem_of_ones_own_comes_with_the_file(random_problem, reward, path, no_solver):
    problem = random_problem(1001, "logsumexp", reward=reward)
    found = boirl.explore(problem, evaluations=4, seed=1001)
    found.save(path)
    no_solver()
    loaded = boirl.load_result(path)
    assert_same_evaluations(loaded, found)
    assert loaded.problem.fingerprint() == problem.fingerprint()
    assert [group.indices.tolist() for group in loaded.groups()] == [
        group.indices.tolist() for group in found.groups()
    ]
    np.testing.assert_array_equal(loaded.predict_nll(found.best), found.predict_nll(found.best))  # type: ignore[attr-defined]


@pytest.mark.parametrize("options", [{"kernel": "matern"}, {"projection": "rho"}])
def test_every_kind_of_search_can_be_loaded(found, options, path):
    other = boirl.explore(found.problem, evaluations=5, **options)
    other.save(path)
    loaded = boirl.RewardSet.load(path)
    np.testing.assert_array_equal(loaded.predict_nll(found.best), other.predict_nll(found.best))


def test_the_folder_of_a_file_is_enough(found, tmp_path):
    found.save(tmp_path / "rewards.npz")
    assert_same_evaluations(boirl.load_result(tmp_path), found)
    (tmp_path / "rewards.npz").rename(tmp_path / "birl.npz")
    assert_same_evaluations(boirl.load_result(tmp_path), found)
    (tmp_path / "birl.npz").unlink()
    with pytest.raises(InvalidInputError, match=r"folder '.*' has no rewards\.npz; expected one"):
        boirl.load_result(tmp_path)


def test_a_baseline_is_loaded_by_the_same_function(found, path):
    run = boirl.baselines.get("random").run(found.problem, 3, seed=1000)
    run.save(path)
    loaded = boirl.load_result(path)
    assert type(loaded) is type(run)
    assert_same_evaluations(loaded, run)
    with pytest.raises(InvalidInputError, match=r"holds a BaselineRun; expected a RewardSet"):
        boirl.RewardSet.load(path)


def toll(theta, steps):
    return -theta[:, :1] * torch.as_tensor(steps.states, dtype=torch.float64)


def test_a_reward_that_is_code_has_to_be_passed(random_problem, path):
    problem = random_problem(1002, reward=CallableReward(toll, {"price": (0.0, 2.0)}))
    found = boirl.explore(problem, evaluations=4)
    found.save(path)
    with pytest.raises(CodeNeededError, match=rf"from {__name__} import toll; .*pass problem="):
        boirl.load_result(path)
    loaded = boirl.load_result(path, problem)
    assert_same_evaluations(loaded, found)
    np.testing.assert_array_equal(loaded.predict_nll(found.best), found.predict_nll(found.best))  # type: ignore[attr-defined]
    np.testing.assert_array_equal(
        loaded.policy(1).log_probabilities, found.policy(1).log_probabilities
    )


def test_a_problem_that_needs_code_is_built_by_its_name(found, path, monkeypatch):
    """One that a file cannot carry, with other demonstrations than its builder gives it."""

    def refuse(problem):
        raise CodeNeededError("it is made of code")

    monkeypatch.setattr("boirl.results.files.save_problem", refuse)
    fewer = found.problem.with_demonstrations(found.problem.demonstrations.subset(range(10)))
    search = boirl.explore(fewer, evaluations=3)
    search.save(path)
    loaded = boirl.load_result(path)
    assert_same_evaluations(loaded, search)
    assert len(loaded.problem.demonstrations) == 10


def test_another_problem_is_refused(found, path):
    found.save(path)
    other = found.problem.with_demonstrations(found.problem.demonstrations.subset([0, 1]))
    with pytest.raises(InvalidInputError, match="for another problem than 'gridworld'"):
        boirl.load_result(path, other)


def test_all_that_an_evaluation_says_survives(found, path):
    theta, names = (1.0, 2.0, 0.0), ("values", "more/values")
    evaluations = (
        Evaluation(theta, 12.0, 0.5, np.arange(50.0), np.array([1.0, -2.0, 0.5]), seed=7),
        Evaluation(
            theta,
            11.0,
            policies=tuple({name: RNG.normal(size=2) for name in names} for _ in range(11)),
            n_policies=11,
            environment_steps=400,
            facts={"returns": [1.0, 2.5], "why": "it was asked for"},
            seconds=2.5,
        ),
        Evaluation(theta, 0.0, failure="the motor caught fire"),
    )
    result = replace(found, evaluations=evaluations)
    result.save(path)
    assert_same_evaluations(boirl.load_result(path), result)


def test_rewards_of_other_families_are_kept_as_what_they_pay(found, path):
    mdp = found.problem.mdp
    on_states = found.problem.reward.fix(translation=0.0, midpoint=5.0)
    on_actions = LinearReward(RNG.normal(size=(mdp.n_states, mdp.n_actions, 1)), {"w": (0.0, 3.0)})
    evaluations = tuple(
        Evaluation((1.5,), 12.0, reward=family) for family in (on_states, on_actions)
    )
    run = boirl.baselines.get("random").run(found.problem, 1, seed=1000)
    result = replace(run, evaluations=evaluations)
    result.save(path)
    loaded = boirl.load_result(path)
    for number, family in enumerate((on_states, on_actions)):
        expected = found.problem.solve(family, (1.5,))
        np.testing.assert_allclose(
            loaded.policy(number).log_probabilities, expected.log_probabilities, atol=1e-9
        )


def test_a_missing_or_corrupt_file_is_reported(found, path):
    with pytest.raises(InvalidInputError, match="there is no file"):
        boirl.load_result(path)
    found.save(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(StorageError, match="damaged"):
        boirl.load_result(path)


def test_a_file_of_something_else_is_refused(path):
    path.parent.mkdir()
    np.savez(path, states=np.zeros(3))
    with pytest.raises(InvalidInputError, match=r"holds \['states'\]; expected a file that Result"):
        boirl.load_result(path)


def changed_header(path, **changes):
    arrays = dict(np.load(path))
    header = {**json.loads(str(arrays["facts"])), **changes}
    np.savez(path, **{**arrays, "facts": np.array(json.dumps(header))})


def test_a_file_of_another_format_is_refused(found, path):
    found.save(path)
    changed_header(path, format=FORMAT + 1)
    with pytest.raises(StorageError, match=f"has format {FORMAT + 1}; .* reads format {FORMAT}"):
        boirl.load_result(path)


def test_a_file_of_an_unknown_kind_is_refused(found, path):
    found.save(path)
    changed_header(path, kind="horoscope")
    with pytest.raises(InvalidInputError, match="there is no kind of result 'horoscope'"):
        boirl.load_result(path)


def test_a_full_disk_leaves_the_older_file_whole(found, path, monkeypatch):
    found.save(path)
    before = path.read_bytes()

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        found.truncate(5).save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_result_without_evaluations_survives(found, path):
    found.truncate(0).save(path)
    assert len(boirl.load_result(path)) == 0


def wedge(theta):
    return theta[:, 0]


@pytest.mark.parametrize("prior", [boirl.NormalPrior([1.0, 5.0, 0.0], [0.5, 2.0, np.inf]), wedge])
def test_a_prior_survives_a_file_as_far_as_it_can(found, path, prior):
    believed = found.with_prior(prior)
    believed.save(path)
    loaded = boirl.RewardSet.load(path)
    box = found.problem.box
    assert loaded.prior.facts(box) == believed.prior.facts(box)
    if prior is wedge:
        with pytest.raises(CodeNeededError, match=r"prior 'wedge' is code.*with_prior"):
            loaded.sample(5)
        loaded = loaded.with_prior(wedge)
    np.testing.assert_array_equal(loaded.sample(20), believed.sample(20))
