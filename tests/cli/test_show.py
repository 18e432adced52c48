"""Looking at rewards: results in files, single thetas, demonstrations, films and maps."""

import importlib
import sys

import numpy as np
import pytest

import boirl
from boirl.demonstrations import Demonstrations
from boirl.errors import CodeNeededError

MY_REWARDS = """
import torch

def liking(theta, transitions):
    return theta[:, :1] * torch.as_tensor(transitions.states, dtype=torch.float64)
"""


def street(reward):
    """A user's own problem: seven houses, one walk."""
    houses = np.arange(7)
    following = np.stack([np.maximum(houses - 1, 0), np.minimum(houses + 1, 6)], axis=1)
    walks = Demonstrations.from_trajectories([([2, 3, 4, 5, 6, 5], [1, 1, 1, 1, 0])])
    mdp = boirl.TabularMDP.from_next_states(following, gamma=0.9)
    return boirl.TabularProblem(mdp, reward, walks, name="street")


@pytest.fixture(scope="module")
def own():
    rng = np.random.default_rng(0)
    reward = boirl.LinearReward(rng.random((7, 2)), {"shade": (0, 3), "noise": (-3, 0)})
    return street(reward)


def test_a_search_on_an_own_problem_opens_without_its_code(own, boirl_process, tmp_path):
    found = boirl.explore(own, evaluations=4, seed=1000)
    found.save(tmp_path / "rewards.npz")
    done = boirl_process("show", "rewards.npz", "--out", "pictures", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    pictures = " ".join(f"pictures/{name}.png" for name in ("convergence", "landscape", "latent"))
    assert done.stdout == f"{found}\n"
    assert f"pictures: {pictures}\n" in done.stderr
    assert (tmp_path / "pictures" / "landscape.png").stat().st_size > 10_000


def test_a_baseline_on_an_own_problem_opens_without_its_code(own, boirl_process, tmp_path):
    run = boirl.baselines.get("deep-maxent").run(own, evaluations=3, seed=1000)
    run.save(tmp_path / "run.npz")
    done = boirl_process("show", "run.npz", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{run}\n"), done.stderr


@pytest.mark.parametrize("method", ["random", "maxent", "birl"])
def test_a_baseline_is_printed_and_drawn_again(own, command, tmp_path, method):
    run = boirl.baselines.get(method).run(own, evaluations=3, seed=1000)
    run.save(tmp_path / "run.npz")
    code, out, errors = command("show", tmp_path / "run.npz", "--out", tmp_path)
    assert code == 0, errors
    assert out == f"{run}\n"
    assert f"pictures: {tmp_path / 'convergence.png'}\n" in errors
    assert (tmp_path / "convergence.png").stat().st_size > 10_000


def test_a_search_whose_reward_is_code_names_the_import(boirl_process, tmp_path, monkeypatch):
    (tmp_path / "my_rewards.py").write_text(MY_REWARDS)
    monkeypatch.syspath_prepend(tmp_path)
    my_rewards = importlib.import_module("my_rewards")
    problem = street(boirl.CallableReward(my_rewards.liking, {"weight": (-1.0, 1.0)}))
    found = boirl.explore(problem, evaluations=3, kernel="rbf", seed=1000)
    found.save(tmp_path / "rewards.npz")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = boirl_process("show", tmp_path / "rewards.npz", cwd=elsewhere)
    assert (done.returncode, done.stdout) == (2, "")
    assert "from my_rewards import liking" in done.stderr
    assert "problem 'street'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    # With the problem it opens, and says the same as before.
    with pytest.raises(CodeNeededError, match="from my_rewards import liking"):
        boirl.load_result(tmp_path / "rewards.npz")
    again = boirl.load_result(tmp_path / "rewards.npz", problem=problem)
    assert str(again) == str(found)
    del sys.modules["my_rewards"]


def test_a_result_is_printed_and_drawn_again(command, tmp_path):
    found = boirl.explore(boirl.load_problem("gridworld2d"), evaluations=3, seed=1000)
    found.save(tmp_path / "rewards.npz")
    code, out, _ = command("show", tmp_path / "rewards.npz")
    assert (code, out) == (0, f"{found}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["rewards.npz"]


def test_exact_pictures_are_asked_for(command, tmp_path, monkeypatch):
    found = boirl.explore(boirl.load_problem("gridworld2d"), evaluations=3, seed=1000)
    found.save(tmp_path / "rewards.npz")
    asked = []

    def save_pictures(found, folder, exact):
        asked.append((len(found), folder, exact))
        return []

    monkeypatch.setattr("boirl.drawing.views.save_pictures", save_pictures)
    out = tmp_path / "pictures"
    assert command("show", tmp_path / "rewards.npz", "--out", out, "--exact")[0] == 0
    assert command("show", tmp_path / "rewards.npz", "--out", out)[0] == 0
    assert asked == [(3, out, True), (3, out, False)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file"),
        ({"states": np.zeros(3)}, "expected a file that Result.save wrote"),
        ({"facts": np.array('{"format": 1}')}, "has format 1; this version of boirl reads"),
    ],
)
def test_a_file_that_is_no_result_is_one_clear_line(command, tmp_path, content, message):
    if content is not None:
        np.savez(tmp_path / "rewards.npz", **content)
    code, out, errors = command("show", tmp_path / "rewards.npz")
    assert (code, out) == (2, "")
    assert message in errors
    assert len(errors.strip().splitlines()) == 1


@pytest.mark.usefixtures("own_cache", "no_learning")
def test_a_result_in_the_maze_is_drawn_with_its_paths(command, maze_result, tmp_path):
    code, out, errors = command("show", maze_result, "--out", tmp_path)
    assert code == 0
    assert out.startswith("point-mass-maze: 2 evaluations")
    assert str(tmp_path / "paths.png") in errors
    assert (tmp_path / "paths.png").stat().st_size > 10_000


def test_evaluate_prints_nll_and_esor(command):
    problem = boirl.load_problem("gridworld", bellman="logsumexp")
    code, out, _ = command("evaluate", "gridworld", "1,5,0", "--bellman", "logsumexp")
    assert code == 0
    assert f"NLL   {problem.evaluate((1, 5, 0)).nll:.6f} (mean per trajectory)" in out
    assert f"{problem.esor((1, 5, 0)):.6f} (expert {problem.esor(problem.truth):.6f})" in out


def test_evaluate_takes_demonstrations_of_a_file_and_negative_numbers(command, tmp_path):
    other = boirl.load_problem("gridworld", seed=1000)
    other.demonstrations.save(tmp_path / "mine.npz")
    given = ("--demonstrations", tmp_path / "mine.npz")
    code, out, _ = command("evaluate", "gridworld", *given, "--", "-1,2,3")
    assert code == 0
    assert f"{other.evaluate((-1, 2, 3)).nll:.6f}" in out


def test_evaluate_refuses_a_theta_of_another_size(command):
    code, out, errors = command("evaluate", "gridworld", "1,2")
    assert (code, out) == (2, "")
    assert "expected 3 numbers" in errors


def test_an_evaluation_that_fails_is_an_error(command, monkeypatch):
    from boirl.errors import SolverError
    from boirl.policies import TabularSolver

    def fail(*given):
        raise SolverError("the values did not converge")

    problem = boirl.load_problem("gridworld")
    monkeypatch.setattr("boirl.problem.load_problem", lambda *given, **options: problem)
    monkeypatch.setattr(TabularSolver, "solve_batch", fail)
    code, out, errors = command("evaluate", "gridworld", "1,2,3")
    assert (code, out) == (2, "")
    assert errors == "error: the values did not converge\n"


@pytest.mark.usefixtures("small_maze")
def test_evaluate_learns_with_a_seed(command):
    code, out, _ = command("evaluate", "point-mass-maze", "0.2,0.1", "--seed", 3)
    assert code == 0
    expected = boirl.load_problem("point-mass-maze").evaluate((0.2, 0.1), seed=3)
    assert f"NLL   {expected.nll:.6f}" in out
    assert "ESOR" in out


@pytest.mark.usefixtures("small_maze")
def test_demonstrations_are_written_for_others_to_explain(command, tmp_path):
    out = tmp_path / "given.npz"
    code, printed, _ = command("demonstrate", "point-mass-maze", "--seed", 1, "--out", out)
    assert (code, printed) == (0, f"4 trajectories: {out}\n")
    given = Demonstrations.load(out)
    expected = boirl.load_problem("point-mass-maze", seed=1).demonstrations
    for name, array in expected.to_dict().items():
        np.testing.assert_array_equal(given.to_dict()[name], array, err_msg=name)
    assert given.start_states is not None


def test_any_simulated_demonstrator_gives_as_many_trajectories_as_asked_for(command, tmp_path):
    out = tmp_path / "deep" / "given.npz"
    options = ("--trajectories", 3, "--seed", 1007, "--out", out)
    code, printed, _ = command("demonstrate", "gridworld", *options)
    assert (code, printed) == (0, f"3 trajectories: {out}\n")
    expected = boirl.load_problem("gridworld", seed=1007, n_demonstrations=3).demonstrations
    np.testing.assert_array_equal(Demonstrations.load(out).states, expected.states)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("demonstrate", "nowhere"), "there is no problem 'nowhere'"),
        (("demonstrate", "borlange-real"), "takes no option seed"),
        (("demonstrate", "gridworld", "--trajectories", "0"), "--trajectories"),
        (("demonstrate", "gridworld", "--count", "3"), "--count"),
    ],
)
def test_what_cannot_demonstrate_is_refused(command, tmp_path, arguments, message):
    code, _, errors = command(*arguments, "--out", tmp_path / "given.npz")
    assert code == 2
    assert message in errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small_maze", "no_learning")
def test_a_place_that_cannot_be_written_is_reported_before_learning(command, tmp_path):
    (tmp_path / "taken").write_text("a file")
    out = tmp_path / "taken" / "given.npz"
    code, _, errors = command("demonstrate", "point-mass-maze", "--seed", 9, "--out", out)
    assert code == 2
    assert "could not be written" in errors


@pytest.mark.usefixtures("own_cache", "no_learning")
def test_a_film_of_the_best_reward_needs_no_learning(command, maze_result, tmp_path):
    code, out, _ = command("film", maze_result, "--out", tmp_path / "film.gif")
    assert (code, out) == (0, f"film: {tmp_path / 'film.gif'}\n")
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.usefixtures("own_cache", "no_learning")
@pytest.mark.parametrize("number", [0, 1])
def test_a_film_can_be_of_any_evaluation(command, maze_result, tmp_path, monkeypatch, number):
    asked = []

    def save_film(problem, policy, theta, path, episodes, seed, camera):
        asked.append((policy.biases[0].tolist(), theta.tolist(), path, episodes, seed, camera))
        return path

    monkeypatch.setattr("boirl.drawing.films.save_film", save_film)
    options = ("--evaluation", number, "--episodes", 3, "--seed", 5, "--camera")
    out = tmp_path / "film.gif"
    assert command("film", maze_result, "--out", out, *options)[0] == 0
    found = boirl.RewardSet.load(maze_result)
    policy = found.policy(number).biases[0].tolist()
    assert asked == [(policy, found.thetas[number].tolist(), out, 3, 5, True)]


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--evaluation", "2"), "there is no evaluation 2; expected a number from 0 to 1"),
        (("--evaluation=-1",), "there is no evaluation -1; expected a number from 0 to 1"),
        (("--out", "film.avi"), "'film.avi' names no film; expected a name that ends in"),
    ],
)
def test_films_that_cannot_be_are_refused_in_one_line(
    command, maze_result, tmp_path, options, message
):
    given = ("--out", tmp_path / "film.gif", *options)
    code, out, errors = command("film", maze_result, *given)
    assert (code, out) == (2, "")
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_no_episodes_are_refused(command, tmp_path):
    given = ("--out", tmp_path / "film.gif", "--episodes", 0)
    code, _, errors = command("film", "rewards.npz", *given)
    assert code == 2
    assert "--episodes" in errors


def test_there_is_no_film_of_a_problem_without_an_environment(command, tmp_path):
    found = boirl.explore(boirl.load_problem("gridworld"), 2, seed=1000)
    found.save(tmp_path / "rewards.npz")
    out = tmp_path / "film.gif"
    code, _, errors = command("film", tmp_path / "rewards.npz", "--out", out)
    assert code == 2
    assert "problem 'gridworld' is not played in an environment; there is no film" in errors
    assert not out.exists()


def test_there_is_no_film_of_a_missing_file(command, tmp_path):
    code, _, errors = command("film", tmp_path / "no.npz", "--out", tmp_path / "film.gif")
    assert code == 2
    assert "there is no file" in errors


@pytest.mark.parametrize("thetas", [(), ("--theta=-2,-1,-1",), ("--theta=-2,-1,-1",) * 2])
def test_a_map_is_written(command, thetas, tmp_path):
    out = tmp_path / "map.png"
    code, printed, _ = command("map", "road-network", "--out", out, *thetas)
    assert (code, printed) == (0, f"picture: {out}\n")
    assert out.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("road-network", *["--theta=-2,-1,-1"] * 3), "there are 3 thetas; expected at most two"),
        (("gridworld",), "problem 'gridworld' is not on roads"),
        (("road-network", "--theta=-2,-1"), "expected 3 numbers"),
        (("road-network", "--theta=a,b,c"), "numbers with commas"),
        (("road-network", "--theta=9,0,0"), "time = 9"),
        (("road-network", "--out", "map.xyz"), "'map.xyz' names no format of pictures"),
    ],
)
def test_maps_that_cannot_be_are_refused_in_one_line(command, arguments, message, tmp_path):
    name, *rest = arguments
    code, out, errors = command("map", name, "--out", tmp_path / "map.png", *rest)
    assert (code, out) == (2, "")
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (tmp_path / "map.png").exists()
