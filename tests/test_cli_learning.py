"""The command line for problems whose policies are learned, with small budgets."""

import numpy as np
import pytest

import boirl
from boirl.demonstrations import Demonstrations
from boirl.policies.ppo import VectorPPO
from boirl.problems import PROBLEMS, ProblemEntry, load_problem
from boirl.problems.point_mass_maze import build_point_mass_maze
from boirl.study import Study

pytest.importorskip("numba", reason="the maze needs the extra boirl[rl]")

STEPS = 2_000


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(cache, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(cache))
    monkeypatch.setattr("boirl.plots.TOO_LONG_SECONDS", 0.0)


@pytest.fixture(scope="module")
def folder(cache, tmp_path_factory):
    """The result of a short search, as `boirl run --out` leaves it."""
    where = tmp_path_factory.mktemp("result")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("BOIRL_CACHE", str(cache))
        problem = load_problem(
            "point-mass-maze", steps=STEPS, n_demonstrations=5, repeats=1, workers=0
        )
        given = problem.demonstrations
        short = [(one.states[:11], one.actions[:10]) for one in given]
        problem = problem.with_demonstrations(
            Demonstrations.from_trajectories(short, given.start_states)
        )
        search = Study(problem, seed=0, n_demonstrations=5, policies=where / "policies")
        search.run(2).save(where / "rewards.npz")
    return where


@pytest.fixture
def _no_learning(monkeypatch):
    def refuse(*given):
        raise AssertionError("this trains")

    monkeypatch.setattr(VectorPPO, "solve_all", refuse)


@pytest.fixture
def _small(monkeypatch):
    """The maze with a small budget by default."""

    def build(seed=0, n_demonstrations=4):
        return build_point_mass_maze(seed, n_demonstrations, steps=STEPS, repeats=1, workers=0)

    monkeypatch.setitem(PROBLEMS, "point-mass-maze", ProblemEntry(build, "small"))


@pytest.mark.usefixtures("_no_learning")
def test_a_film_of_the_best_reward_needs_no_learning(command, folder, tmp_path):
    code, out, _ = command("film", folder / "rewards.npz", "--out", tmp_path / "film.gif")
    assert (code, out) == (0, f"film: {tmp_path / 'film.gif'}\n")
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.usefixtures("_no_learning")
@pytest.mark.parametrize("number", [0, 1])
def test_a_film_can_be_of_any_evaluation(command, folder, tmp_path, monkeypatch, number):
    asked = []

    def save_film(problem, theta, path, episodes, seed, camera):
        asked.append((theta.tolist(), path, episodes, seed, camera))
        return path

    monkeypatch.setattr("boirl.paths.save_film", save_film)
    options = ("--evaluation", number, "--episodes", 3, "--seed", 5, "--camera")
    out = tmp_path / "film.gif"
    assert command("film", folder / "rewards.npz", "--out", out, *options)[0] == 0
    found = boirl.RewardSet.load(folder / "rewards.npz")
    assert asked == [(found.thetas[number].tolist(), out, 3, 5, True)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--evaluation", "2"), "there is no evaluation 2; expected a number from 0 to 1"),
        (("--evaluation=-1",), "there is no evaluation -1; expected a number from 0 to 1"),
        (("--out", "film.avi"), "'film.avi' names no film; expected a name in .gif or .mp4"),
    ],
)
def test_films_that_cannot_be_are_refused_in_one_line(command, folder, tmp_path, options, message):
    given = ("--out", tmp_path / "film.gif", *options)
    code, out, errors = command("film", folder / "rewards.npz", *given)
    assert (code, out) == (2, "")
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_no_episodes_are_refused(command, folder, tmp_path):
    given = ("--out", tmp_path / "film.gif", "--episodes", 0)
    code, _, errors = command("film", folder / "rewards.npz", *given)
    assert code == 2
    assert "--episodes" in errors


def test_there_is_no_film_of_a_problem_without_an_environment(command, tmp_path):
    found = boirl.explore(load_problem("gridworld"), 2, seed=0)
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


def test_a_result_is_drawn_with_its_paths(command, folder, tmp_path):
    code, out, _ = command("show", folder / "rewards.npz", "--out", tmp_path)
    assert code == 0
    assert out.startswith("point-mass-maze: 2 evaluations")
    assert str(tmp_path / "paths.png") in out
    assert (tmp_path / "paths.png").stat().st_size > 10_000


@pytest.mark.parametrize("option", [("--bellman", "max"), ("--data", "."), ("--box", "wide")])
@pytest.mark.parametrize("name", ["point-mass-maze", "fetch-reach"])
def test_options_of_other_problems_are_refused_before_learning(command, name, option):
    code, out, errors = command("run", name, *option)
    assert (code, out) == (2, "")
    taken = option[0].removeprefix("--")
    assert f"problem '{name}' takes no option {taken}; expected some of seed" in errors
    assert len(errors.strip().splitlines()) == 1


@pytest.mark.usefixtures("_small")
def test_a_run_in_the_maze_keeps_rewards_policies_and_pictures(command, tmp_path, monkeypatch):
    code, out, errors = command("run", "point-mass-maze", "--evaluations", 2, "--out", tmp_path)
    assert code == 0, errors
    assert "2 evaluations" in out
    for picture in ("landscape", "latent", "convergence", "paths"):
        assert (tmp_path / f"{picture}.png").stat().st_size > 10_000
    found = boirl.RewardSet.load(tmp_path / "rewards.npz")
    assert np.isfinite(found.nll).all()
    monkeypatch.setattr(VectorPPO, "solve_all", None)
    np.testing.assert_allclose(found.problem.nll_batch(found.thetas), found.nll, rtol=0.3)


@pytest.mark.usefixtures("_small")
def test_an_evaluation_tells_how_well_a_target_explains(command):
    code, out, _ = command("evaluate", "point-mass-maze", "0.2,0.1", "--seed", 3)
    assert code == 0
    expected = load_problem("point-mass-maze").evaluate((0.2, 0.1), seed=3)
    assert f"NLL   {expected.nll:.6f}" in out
    assert "ESOR" in out


@pytest.mark.usefixtures("_small")
def test_demonstrations_are_written_for_others_to_explain(command, tmp_path):
    out = tmp_path / "given.npz"
    code, told, _ = command("demonstrate", "point-mass-maze", "--seed", 1, "--out", out)
    assert (code, told) == (0, f"4 trajectories: {out}\n")
    given = Demonstrations.load(out)
    expected = load_problem("point-mass-maze", seed=1).demonstrations
    for name, array in expected.to_dict().items():
        np.testing.assert_array_equal(given.to_dict()[name], array, err_msg=name)
    assert given.start_states is not None
    code, told, _ = command("evaluate", "point-mass-maze", "0.2,0.1", "--demonstrations", out)
    assert code == 0
    assert "NLL" in told


def test_any_simulated_demonstrator_demonstrates_as_often_as_it_is_told(command, tmp_path):
    out = tmp_path / "deep" / "given.npz"
    code, told, _ = command("demonstrate", "gridworld", "--count", 3, "--seed", 7, "--out", out)
    assert (code, told) == (0, f"3 trajectories: {out}\n")
    expected = load_problem("gridworld", seed=7, n_demonstrations=3).demonstrations
    np.testing.assert_array_equal(Demonstrations.load(out).states, expected.states)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("demonstrate", "nowhere"), "there is no problem 'nowhere'"),
        (("demonstrate", "borlange-real"), "takes no option seed"),
        (("demonstrate", "gridworld", "--count", "0"), "--count"),
    ],
)
def test_what_cannot_demonstrate_is_refused(command, tmp_path, arguments, message):
    code, _, errors = command(*arguments, "--out", tmp_path / "given.npz")
    assert code == 2
    assert message in errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_small", "_no_learning")
def test_a_place_that_cannot_be_written_is_told_before_learning(command, tmp_path):
    (tmp_path / "taken").write_text("a file")
    out = tmp_path / "taken" / "given.npz"
    code, _, errors = command("demonstrate", "point-mass-maze", "--seed", 9, "--out", out)
    assert code == 2
    assert "could not be written" in errors
