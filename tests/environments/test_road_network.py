"""Road networks: from files, made up, and as decision problems."""

import numpy as np
import pytest

import boirl
from boirl.environments.road_files import load_road_network
from boirl.environments.town import generate_town
from boirl.errors import InvalidInputError

# Two streets that meet: 10 and 11 are one street in both directions, 12 leads off to the left and
# 13 back from it. Destination 99 lies at the end of 12.
FILES = {
    "links.csv": "link,time\n10,0.5\n11,0.5\n12,0.2\n13,0.3\n",
    "turns.csv": "from,to,angle\n10,11,3.14\n11,10,3.14\n10,12,-1.5\n12,13,3.14\n13,11,1.5\n",
    "destinations.csv": "destination,link\n99,12\n",
    "trips.csv": "trip,destination,position,link\n1,99,1,11\n1,99,2,10\n1,99,3,12\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_a_town_in_csv_is_read(folder):
    network, trips = load_road_network(folder)
    assert network.n_links == 4
    assert trips.links[0].tolist() == [1, 0, 2]
    mdp = network.mdp(99, gamma=0.99)
    assert mdp.n_states == 5 + 1 + 1
    assert mdp.n_actions == 2 + 1
    arrival, sink = 5, 6
    at_12 = int(network.turn_number(np.array([0]), np.array([2]))[0])
    assert mdp.next_states[at_12, -1] == arrival
    assert (mdp.next_states[arrival:] == sink).all()
    # On link 10 the left turn onto 12 has the smaller angle and is action 0.
    at_10 = int(network.turn_number(np.array([1]), np.array([0]))[0])
    assert mdp.next_states[at_10, 0] == at_12
    np.testing.assert_array_equal(network.features[at_12], [0.2, 1.0, 1.0, 0.0])
    np.testing.assert_array_equal(network.features[at_10], [0.5, 0.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("links.csv", "14,-1", r"links.csv, line 6: the travel time is -1"),
        ("links.csv", "10,1", r"links.csv, line 6: link 10 stands in the file before"),
        ("turns.csv", "10,77,0", r"turns.csv, line 7: unknown link 77"),
        ("turns.csv", "10,x,0", r"turns.csv, line 7: found '10 x 0'; expected 3 numbers"),
        ("trips.csv", "2,99,1,55", r"trips.csv, line 5: unknown link 55"),
        ("trips.csv", "2,99,1,11\n2,99,2,12", r"trips.csv, line 6: trip 2 has a gap"),
        ("trips.csv", "2,99,1,11\n2,99,2,10", r"trips.csv, line 6: trip 2 ends .* no route"),
        ("destinations.csv", "98,1.5", r"destinations.csv, line 3: found 1.5"),
    ],
)
def test_a_wrong_line_is_named(folder, name, line, message):
    with (folder / name).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InvalidInputError, match=message):
        load_road_network(folder)


def test_missing_files_and_columns_are_named(folder, tmp_path):
    (folder / "turns.csv").write_text("a,b,c\n1,2,3\n")
    with pytest.raises(InvalidInputError, match="expected from, to, angle"):
        load_road_network(folder)
    (folder / "turns.csv").unlink()
    with pytest.raises(InvalidInputError, match=r"there is no file .*turns.csv"):
        load_road_network(folder)
    with pytest.raises(InvalidInputError, match="holds no road network"):
        load_road_network(tmp_path / "nowhere")


@pytest.mark.parametrize("seed", range(3))
def test_a_generated_town_can_be_driven_through(seed):
    network = generate_town(300, seed)
    assert 200 < network.n_links < 450
    assert network.times.min() > 0
    assert np.abs(network.angles).max() <= np.pi
    assert (network.features[:, 3] == (np.abs(network.angles) > 3.1)).all()
    mdp = network.mdp(0, gamma=0.99)
    # Everything leads to the destination: with a cost of 1 a step values are finite path lengths.
    costs = np.append(-np.ones(mdp.n_states - 1), 0.0)[:, None]
    values = boirl.TabularSolver("max").solve(mdp, costs).values
    assert values.min() > -(1 - 0.99**200) / 0.01
    again = generate_town(300, seed)
    np.testing.assert_array_equal(again.turns, network.turns)


def test_trips_become_states_and_actions(folder):
    problem = boirl.problems.roads.road_problem(
        *_network_and_trips(folder), bounds=(-2.5, 0.0), bellman="logsumexp"
    )
    states, actions, following = problem.demonstrations[0]
    assert len(states) == 2
    np.testing.assert_array_equal(problem.mdp.next_states[states, actions], following)
    assert following[-1] == 5
    assert problem.evaluate((-1, -1, -1)).nll > 0


def _network_and_trips(folder):
    network, trips = load_road_network(folder)
    return network, 99, trips.to(99)


def test_the_generated_town_is_a_problem(monkeypatch, tmp_path):
    problem = boirl.load_problem("road-network", n_links=300, seed=1, n_demonstrations=20)
    assert problem.truth == (-2.0, -1.0, -1.0)
    assert problem.box.names == ("time", "left", "constant")
    assert problem.evaluate(problem.truth).nll < problem.evaluate((2.0, 2.0, 2.0)).nll
    with pytest.raises(InvalidInputError, match="expected narrow or wide"):
        boirl.load_problem("road-network", box="huge")
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    with pytest.raises(InvalidInputError, match="boirl data borlange --from"):
        boirl.load_problem("borlange-virtual")
