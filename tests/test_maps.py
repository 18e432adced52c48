"""Maps of roads, and the visits that they show."""

import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl import cli, maps
from boirl.environments.road_files import Trips
from boirl.errors import InvalidInputError, StorageError
from boirl.files import save_figure
from boirl.problems.recursive_logit import recursive_logit_problem

THETA, OTHER = (-2.0, -1.0, -1.0), (-1.0, 1.0, -1.0)


@pytest.fixture(scope="module", params=["max", "logsumexp"])
def road_problem(request):
    return boirl.load_problem("road-network", n_links=200, bellman=request.param)


@pytest.fixture(scope="module")
def problem():
    return boirl.load_problem("road-network", n_links=200)


def passages(problem, demonstrations):
    """How often each trajectory passes each link, `N x n_links`; to wait is to pass once."""
    entered = problem.network.turns[:, 1]
    counts = np.zeros((len(demonstrations), problem.network.n_links))
    for number, (states, _, _) in enumerate(demonstrations):
        before = None
        for state in states.tolist():
            if state != before and state < len(entered):
                counts[number, entered[state]] += 1
            before = state
    return counts


def test_demonstrated_visits_are_counts(road_problem):
    expected = passages(road_problem, road_problem.demonstrations).mean(axis=0)
    np.testing.assert_allclose(road_problem.demonstrated_visits(), expected, atol=1e-12)


def test_a_demonstration_that_starts_where_another_ended_counts_as_well(problem):
    twice = boirl.Demonstrations.from_trajectories([([5], [0]), ([5], [0])])
    visits = problem.with_demonstrations(twice).demonstrated_visits()
    assert visits[problem.network.turns[5, 1]] == visits.sum() == 1.0


@pytest.mark.parametrize("horizon", [1, 4, 100])
@pytest.mark.parametrize("theta", [THETA, OTHER])
def test_expected_visits_are_what_sampling_gives(road_problem, theta, horizon):
    visits = replace(road_problem, horizon=horizon).expected_visits(theta)
    starts = np.repeat(road_problem.demonstrations.starts, 10)
    policy, rng = road_problem.policy(theta), np.random.default_rng(0)
    counts = passages(road_problem, road_problem.roll_out(policy, starts, horizon, rng))
    # Of links that hardly anybody passes, the sample may know nothing.
    error = np.sqrt(np.maximum(counts.var(axis=0), visits) / len(starts))
    assert (np.abs(counts.mean(axis=0) - visits) <= 4.5 * error + 3.0 / len(starts)).all()
    total = counts.sum(axis=1)
    assert abs(total.mean() - visits.sum()) <= 4.5 * total.std() / np.sqrt(len(starts))


def test_three_kinds_of_pictures_are_written(problem, tmp_path):
    figures = {
        "trips": maps.trips_map(problem),
        "visits": maps.visits_map(problem, THETA),
        "difference": maps.difference_map(problem, THETA, OTHER),
    }
    for name, figure in figures.items():
        path = save_figure(figure, tmp_path / "pictures" / f"{name}.png")
        assert path.stat().st_size > 10_000


def test_the_map_shows_the_visits_of_the_most_visited_links(problem):
    visits = problem.expected_visits(THETA)
    lines = maps.visits_map(problem, THETA).axes[0].collections[1]
    shown = lines.get_array()
    assert shown.max() == visits.max()
    np.testing.assert_array_equal(shown, np.sort(visits[visits >= 1e-3 * visits.max()]))


def test_what_one_reward_passes_more_is_what_the_other_passes_less(problem):
    one, other = (
        maps.difference_map(problem, *pair).axes[0].collections[1].get_array()
        for pair in ((THETA, OTHER), (OTHER, THETA))
    )
    np.testing.assert_allclose(np.sort(one), np.sort(-other))


def test_rewards_that_do_not_differ_are_drawn_too(problem, tmp_path):
    figure = maps.difference_map(problem, THETA, THETA)
    assert len(figure.axes[0].collections[1].get_array()) == 0
    assert save_figure(figure, tmp_path / "same.png").stat().st_size > 10_000


def test_trips_to_many_destinations_have_maps(problem, tmp_path):
    network = problem.network
    feeder = int(network.feeders(0)[0])
    before = int(network.turns[network.turns[:, 1] == feeder][0, 0])
    logit = recursive_logit_problem(network, Trips(np.array([0]), (np.array([before, feeder]),)))
    assert maps.has_map(logit)
    for figure in (
        maps.trips_map(logit),
        maps.visits_map(logit, (-2.0, -1.0, -1.0, -4.0)),
        maps.difference_map(logit, (-2.0, -1.0, -1.0, -4.0), (-1.0, -1.0, -2.0, -4.0)),
    ):
        assert save_figure(figure, tmp_path / "map.png").stat().st_size > 10_000


@pytest.fixture(scope="module")
def found(problem):
    """The second reward behaves much like the first, the third does not."""
    thetas = [THETA, (-2.01, -1.0, -1.0), OTHER]
    return boirl.explore(problem, kernel="rbf", evaluations=3, initial=thetas)


@pytest.mark.parametrize(
    ("nll", "pictures"),
    [
        ((10.0, 10.1, 99.0), ["trips.png", "visits.png", "difference.png"]),
        ((10.0, 99.0, 10.1), ["trips.png", "visits.png", "difference.png"]),
        ((10.0, 99.0, 99.0), ["trips.png", "visits.png"]),
    ],
)
def test_a_search_shows_where_its_best_rewards_differ(found, tmp_path, nll, pictures):
    paths = maps.save_maps(replace(found, nll=np.array(nll)), tmp_path / "maps")
    assert [path.name for path in paths] == pictures
    assert all(path.stat().st_size > 10_000 for path in paths)


def test_only_roads_have_maps(problem, gridworld):
    assert maps.has_map(problem)
    assert not maps.has_map(gridworld)


@pytest.mark.parametrize(
    ("theta", "message"), [((9.0, 0.0, 0.0), "time = 9"), ((-1.0, -1.0), "expected 3 numbers")]
)
def test_a_wrong_theta_is_told(problem, theta, message):
    with pytest.raises(InvalidInputError, match=message):
        maps.visits_map(problem, theta)
    with pytest.raises(InvalidInputError, match=message):
        maps.difference_map(problem, THETA, theta)


def test_a_place_that_cannot_be_written_is_told(problem, tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StorageError, match="could not be written"):
        save_figure(maps.trips_map(problem), tmp_path / "taken" / "map.png")


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Runs `boirl map` in this process: exit code, output and errors."""

    def run(name, *arguments):
        argv = ["boirl", "map", name, "--out", str(tmp_path / "map.png"), *arguments]
        monkeypatch.setattr(sys, "argv", argv)
        with pytest.raises(SystemExit) as exited, warnings.catch_warnings():
            cli.main()
        return exited.value.code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("thetas", [(), ("--theta=-2,-1,-1",), ("--theta=-2,-1,-1",) * 2])
def test_the_command_writes_a_picture(command, thetas, tmp_path):
    code, out, _ = command("road-network", *thetas)
    assert (code, out) == (0, f"picture: {tmp_path / 'map.png'}\n")
    assert (tmp_path / "map.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("road-network", *["--theta=-2,-1,-1"] * 3), "there are 3 thetas; expected at most two"),
        (("gridworld",), "problem 'gridworld' is not on roads"),
        (("road-network", "--theta=-2,-1"), "expected 3 numbers"),
        (("road-network", "--theta=a,b,c"), "numbers with commas"),
        (("road-network", "--theta=9,0,0"), "time = 9"),
    ],
)
def test_the_command_tells_errors_in_one_line(command, arguments, message, tmp_path):
    code, out, errors = command(*arguments)
    assert (code, out) == (2, "")
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (tmp_path / "map.png").exists()


def test_a_format_that_no_picture_has_is_told(command, tmp_path):
    code, _, errors = command("road-network", "--out", str(tmp_path / "map.xyz"))
    assert code == 2
    assert "xyz" in errors
    assert "Traceback" not in errors
