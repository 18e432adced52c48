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


@pytest.fixture
def vectors():
    """Observations of three numbers, actions of two; the end of the second is unknown."""
    rng = np.random.default_rng(0)
    return Demonstrations.from_trajectories(
        [(rng.normal(size=(length, 3)), rng.normal(size=(steps, 2))) for length, steps in SIZES],
        start_states=np.arange(12.0).reshape(3, 4),
    )


SIZES = [(4, 3), (2, 2), (2, 1)]


def test_vectors_follow_one_another(vectors):
    assert vectors.states.shape == vectors.next_states.shape == (6, 3)
    assert vectors.actions.shape == (6, 2)
    assert vectors.lengths.tolist() == [3, 2, 1]
    np.testing.assert_array_equal(vectors[0].next_states[:-1], vectors[0].states[1:])
    assert vectors.unknown_ends.tolist() == [False, False, False, False, True, False]
    assert np.isnan(vectors[1].next_states[-1]).all()
    assert repr(vectors) == "Demonstrations(3 trajectories of 1 to 3 steps)"


def test_whole_numbers_stay_whole_beside_vectors():
    mixed = Demonstrations.from_trajectories([([[0.5], [1.5]], [1, 0])])
    assert mixed.actions.dtype == np.int64
    assert mixed.states.dtype == np.float64
    assert mixed.states.shape == (2, 1)


def test_start_states_say_where_trajectories_start(vectors):
    np.testing.assert_array_equal(vectors.starts, np.arange(12.0).reshape(3, 4))
    plain = Demonstrations.from_trajectories(list(vectors))
    assert plain.start_states is None
    np.testing.assert_array_equal(plain.starts, vectors.states[[0, 3, 5]])


@pytest.mark.parametrize("steps", [3, 4])
def test_arrays_of_vectors(steps):
    states, actions = np.arange(16.0).reshape(2, 4, 2)[:, :steps], np.zeros((2, 3, 1))
    made = Demonstrations.from_arrays(states, actions)
    np.testing.assert_array_equal(made[1].states, states[1, :3])
    assert made.unknown_ends.tolist() == [False, False, steps == 3] * 2
    given = Demonstrations.from_arrays(states[:, :3], actions, states[:, :3] + [[[2.0, 2.0]]])
    assert not given.unknown_ends.any()


def test_a_row_of_nan_is_an_unknown_end():
    states, following = np.zeros((2, 2)), np.array([[0.0, 0.0], [np.nan, np.nan]])
    made = Demonstrations.from_trajectories([(states, [0, 0], following)])
    assert made.unknown_ends.tolist() == [False, True]


def test_vectors_survive_a_file(vectors, tmp_path):
    vectors.save(tmp_path / "vectors.npz")
    loaded = Demonstrations.load(tmp_path / "vectors.npz")
    assert_same(loaded, vectors)
    np.testing.assert_array_equal(loaded.start_states, vectors.start_states)


def test_a_file_of_plain_vectors_is_read_too(tmp_path):
    states, actions = np.arange(12.0).reshape(2, 3, 2), np.zeros((2, 2, 1))
    np.savez(tmp_path / "plain.npz", states=states, actions=actions)
    expected = Demonstrations.from_arrays(states, actions)
    assert_same(Demonstrations.load(tmp_path / "plain.npz"), expected)


def test_start_states_of_plain_files_are_read(tmp_path):
    starts = np.array([[5.0], [6.0]])
    arrays = {"states": np.zeros((2, 3, 2)), "actions": np.zeros((2, 2, 1))}
    np.savez(tmp_path / "plain.npz", **arrays, start_states=starts)
    np.testing.assert_array_equal(Demonstrations.load(tmp_path / "plain.npz").starts, starts)


def test_a_subset_keeps_its_start_states(vectors):
    for chosen in ([2, 0], np.array([2, 0]), [-1, 0]):
        some = vectors.subset(chosen)
        np.testing.assert_array_equal(some.start_states, vectors.start_states[[2, 0]])
        np.testing.assert_array_equal(some[0].states, vectors[2].states)
    masked = vectors.subset([False, True, True])
    np.testing.assert_array_equal(masked.start_states, vectors.start_states[1:])
    assert masked.unknown_ends.tolist() == [False, True, False]


def test_vectors_put_together(vectors):
    together = Demonstrations.concatenate([vectors.subset([0]), vectors.subset([1, 2])])
    assert_same(together, vectors)
    np.testing.assert_array_equal(together.start_states, vectors.start_states)
    plain = Demonstrations.from_trajectories(list(vectors.subset([1, 2])))
    assert Demonstrations.concatenate([vectors.subset([0]), plain]).start_states is None


def test_vectors_of_different_widths_are_not_put_together(vectors):
    other = Demonstrations.from_trajectories([(np.zeros((2, 5)), np.zeros((2, 2)))])
    with pytest.raises(DemonstrationError, match="shape"):
        Demonstrations.concatenate([vectors, other])


def test_vectors_cannot_be_changed_afterwards(vectors):
    for array in (vectors.states, vectors.start_states):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9.0


def two(states=0.0, actions=0.0, following=None):
    """Two trajectories of two steps, with numbers in the second step of the second."""
    first = (np.zeros((2, 2)), np.zeros((2, 1)), np.zeros((2, 2)))
    second = [np.zeros((2, 2)), np.zeros((2, 1)), np.zeros((2, 2))]
    second[0][1, 1], second[1][1, 0] = states, actions
    second[2][0, 1] = states
    if following is not None:
        second[2][1, 0] = following
    return [first, tuple(second)]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["states", "actions"])
def test_vectors_that_are_not_finite_are_named(name, value):
    with pytest.raises(DemonstrationError, match=f"trajectory 1, step 1: {name} is .*finite"):
        Demonstrations.from_trajectories(two(**{name: value}))


@pytest.mark.parametrize(
    ("trajectories", "message"),
    [
        (two(following=np.inf), "trajectory 1, step 1: next_states is .*finite"),
        ([(np.zeros((2, 2)), [0, 0]), (np.zeros((2, 3)), [0, 0])], r"trajectory 1 has states of"),
        (
            [(np.zeros((2, 2)), np.zeros((2, 1))), (np.zeros((2, 2)), np.zeros((2, 2)))],
            r"trajectory 1 has actions of shape \(2, 2\), trajectory 0 of shape \(2, 1\)",
        ),
        ([(np.zeros((2, 2)), [0, 0], np.zeros((2, 3)))], "expected the same"),
        ([(np.zeros((2, 2, 2)), [0, 0])], r"holds an array of shape \(2, 2, 2\)"),
        ([(np.zeros((2, 0)), [0, 0])], r"holds an array of shape \(2, 0\)"),
        ([(np.zeros((2, 2)), [0.5, 0])], "step 0: found 0.5; expected a whole number"),
        ([(np.zeros((4, 2)), np.zeros((2, 1)))], "has 4 states and 2 actions"),
        (
            [(np.zeros((2, 2)), [0, 0]), (np.zeros((2, 2)), [0, 0], np.ones((2, 2)))],
            "trajectory 1, step 0: next_states is .*the state of the step that follows",
        ),
    ],
)
def test_vectors_that_do_not_fit_are_named(trajectories, message):
    with pytest.raises(DemonstrationError, match=message):
        Demonstrations.from_trajectories(trajectories)


def test_there_is_a_start_state_for_every_trajectory():
    with pytest.raises(DemonstrationError, match="there are 3 start states for 2 trajectories"):
        Demonstrations.from_trajectories(two(), start_states=np.zeros((3, 4)))


def test_start_states_are_finite():
    with pytest.raises(DemonstrationError, match="trajectory 1"):
        Demonstrations.from_trajectories(two(), start_states=[[0.0, 0.0], [0.0, np.nan]])


def test_only_an_end_can_be_unknown():
    following = np.array([[np.nan, np.nan], [0.0, 0.0]])
    with pytest.raises(DemonstrationError, match="trajectory 0, step 0"):
        Demonstrations.from_trajectories([(np.zeros((2, 2)), [0, 0], following)])


def test_vectors_do_not_fit_a_problem_of_whole_numbers(vectors):
    with pytest.raises(DemonstrationError, match="expected one whole number"):
        vectors.check_fits(n_states=6, n_actions=3)


def assert_same(found, expected):
    for name, array in expected.to_dict().items():
        np.testing.assert_array_equal(found.to_dict()[name], array, err_msg=name)
