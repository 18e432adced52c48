import numpy as np
import pytest

from boirl.demonstrations import UNKNOWN, Demonstrations
from boirl.errors import DemonstrationError, InvalidInputError, StorageError


@pytest.fixture
def ragged():
    """Lengths 3, 1 and 2; the end of the second trajectory was not recorded."""
    return Demonstrations.from_trajectories(
        [([0, 1, 2, 3], [0, 1, 0]), ([5], [2]), ([4, 4], [1, 1], [4, 0])]
    )


def test_next_states_follow_from_the_states(ragged):
    assert [one.next_states.tolist() for one in ragged] == [[1, 2, 3], [UNKNOWN], [4, 0]]


def test_every_step_knows_its_trajectory_and_its_number(ragged):
    assert ragged.trajectory_numbers.tolist() == [0, 0, 0, 1, 2, 2]
    assert ragged.step_numbers.tolist() == [0, 1, 2, 0, 0, 1]
    assert ragged.starts.tolist() == [0, 5, 4]


def test_indexing_from_the_end_and_beyond_it(ragged):
    assert ragged[-1].states.tolist() == [4, 4]
    assert ragged[-3].actions.tolist() == [0, 1, 0]
    with pytest.raises(IndexError, match="trajectory 3 of 3"):
        ragged[3]


def test_subset_keeps_the_order_asked_for(ragged):
    chosen = ragged.subset([2, 0])
    assert chosen.lengths.tolist() == [2, 3]
    assert chosen[0].next_states.tolist() == [4, 0]


def test_concatenating_the_trajectories_gives_the_whole_back(ragged):
    together = Demonstrations.concatenate([ragged.subset([0]), ragged.subset([1, 2])])
    assert_same(together, ragged)


def test_round_trip_through_a_file(ragged, tmp_path):
    ragged.save(tmp_path / "demonstrations.npz")
    assert_same(Demonstrations.load(tmp_path / "demonstrations.npz"), ragged)


def test_a_file_of_plain_arrays_is_read_too(tmp_path):
    states, actions = np.array([[0, 1], [2, 3]]), np.array([[1, 0], [0, 1]])
    np.savez(tmp_path / "plain.npz", states=states, actions=actions)
    expected = Demonstrations.from_arrays(states, actions)
    assert_same(Demonstrations.load(tmp_path / "plain.npz"), expected)


def test_arrays_cannot_be_changed_afterwards(ragged):
    with pytest.raises(ValueError, match="read-only"):
        ragged.states[0] = 9


def test_later_changes_of_the_given_arrays_do_not_matter():
    states, actions = np.array([[0, 1]]), np.array([[0, 0]])
    demonstrations = Demonstrations.from_arrays(states, actions)
    states[:] = 7
    assert demonstrations.states.tolist() == [0, 1]


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut short"])
# numpy does not close a file that begins like a zip and is none.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_corrupt_file_is_a_storage_error(content, tmp_path):
    path = tmp_path / "corrupt.npz"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"corrupt\.npz"):
        Demonstrations.load(path)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InvalidInputError, match=r"there is no file .*gone\.npz"):
        Demonstrations.load(tmp_path / "gone.npz")


def test_a_file_without_actions_says_what_it_lacks(tmp_path):
    np.savez(tmp_path / "half.npz", states=np.zeros((2, 3)))
    with pytest.raises(InvalidInputError, match=r"lacks \['actions'\]"):
        Demonstrations.load(tmp_path / "half.npz")


def test_a_file_with_lengths_and_without_next_states_is_completed(tmp_path):
    states, actions = np.array([4, 5, 6]), np.zeros(3, dtype=int)
    np.savez(tmp_path / "half.npz", states=states, actions=actions, lengths=np.array([1, 2]))
    loaded = Demonstrations.load(tmp_path / "half.npz")
    assert loaded.next_states.tolist() == [UNKNOWN, 6, UNKNOWN]


def test_rows_of_next_states_are_counted():
    with pytest.raises(DemonstrationError, match="next_states have shape"):
        Demonstrations.from_arrays([[0, 1]], [[0, 0]], [[1, 1], [1, 1]])


@pytest.mark.parametrize(
    ("trajectories", "message"),
    [
        ([], "no trajectories"),
        ([([0], [0]), ([], [])], "trajectory 1 has no steps"),
        ([([0], [0]), ([0, 1, 2], [0])], "trajectory 1 has 3 states and 1 actions"),
        ([([0], [0], [1]), ([0], [0], [1, 1])], "trajectory 1 has 2 next states and 1 actions"),
        ([([0], [0]), ([0],)], "trajectory 1 has 1 parts"),
        ([([0], [0]), ([[0]], [0])], r"trajectory 1 has states of shape \(1, 1\)"),
        ([([0], [0]), (["left"], [0])], "trajectory 1 holds something that is not a number"),
        ([([0], [0]), ([0, np.nan], [0, 0])], "trajectory 1, step 1: found nan"),
        ([([0], [0]), ([0, 1], [0, np.inf])], "trajectory 1, step 1: found inf"),
        ([([0], [0]), ([0, 1], [0, 0.5])], "trajectory 1, step 1: found 0.5"),
        ([([0], [0]), ([0, -1], [0, 0])], "trajectory 1, step 1: states is -1"),
        ([([0], [0]), ([0, 1], [0, -3])], "trajectory 1, step 1: actions is -3"),
        ([([0], [0]), ([0], [0], [-2])], "trajectory 1, step 0: next_states is -2"),
    ],
)
def test_errors_name_the_trajectory_and_the_step(trajectories, message):
    with pytest.raises(DemonstrationError, match=message):
        Demonstrations.from_trajectories(trajectories)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ((5, 3), "trajectory 1, step 0: states is 5; expected a number below 5"),
        ((6, 2), "trajectory 1, step 0: actions is 2; expected a number below 2"),
    ],
)
def test_steps_outside_the_problem_are_named(ragged, size, message):
    with pytest.raises(DemonstrationError, match=message):
        ragged.check_fits(*size)


def test_demonstrations_that_fit_pass(ragged):
    ragged.check_fits(n_states=6, n_actions=3)


@pytest.mark.parametrize(
    ("states", "actions", "message"),
    [
        ([0, 1], [0, 1], "expected two-dimensional arrays"),
        ([[0, 1]], [[0, 1], [0, 1]], "1 rows of states and 2 of actions"),
    ],
)
def test_arrays_that_do_not_match_are_refused(states, actions, message):
    with pytest.raises(DemonstrationError, match=message):
        Demonstrations.from_arrays(states, actions)


def assert_same(found, expected):
    for name, array in expected.to_dict().items():
        np.testing.assert_array_equal(found.to_dict()[name], array, err_msg=name)
