"""Files that are written in full or not at all."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from boirl.errors import InvalidInputError, StorageError
from boirl.files import (
    LIMIT_VARIABLE,
    TooLargeError,
    damage_reported,
    make_folder,
    prefixed,
    read_arrays,
    read_bounded,
    save_figure,
    without_prefix,
    write_arrays,
    write_bytes,
)

ARRAYS = {"numbers": np.arange(6.0).reshape(2, 3), "words": np.array("a few words")}


def test_arrays_survive_a_file(tmp_path):
    path = tmp_path / "deep" / "kept.npz"
    write_arrays(path, ARRAYS)
    found = read_arrays(str(path), "numbers")
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert list(path.parent.iterdir()) == [path]


def test_a_file_is_replaced_in_full_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "kept.npz"
    write_bytes(path, b"older")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        # Where a disk that is full is noticed at the latest.
        patch.setattr("os.fsync", full)
        with pytest.raises(StorageError, match=r"kept\.npz' could not be written \(No space left"):
            write_bytes(path, b"newer")
    assert path.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [path]
    write_bytes(path, b"newer")
    assert path.read_bytes() == b"newer"


def test_objects_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="allow_pickle=False"):
        write_arrays(tmp_path / "kept.npz", {"thing": np.array([object()])})
    assert not (tmp_path / "kept.npz").exists()


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InvalidInputError, match=r"there is no file '.*nothing\.npz' with numbers"):
        read_arrays(tmp_path / "nothing.npz", "numbers")


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 cut short"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_damaged_file_is_a_storage_error(tmp_path, content):
    path = tmp_path / "damaged.npz"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"cannot be read as an \.npz file with numbers"):
        read_arrays(path, "numbers")


def test_a_file_that_was_cut_short_is_a_storage_error(tmp_path):
    path = tmp_path / "damaged.npz"
    write_arrays(path, ARRAYS)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(StorageError, match="damaged"):
        read_arrays(path, "numbers")


def test_an_archive_that_expands_too_far_is_refused_before_it_does(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    write_arrays(path, {"zeros": np.zeros(200_000)})
    assert path.stat().st_size < 10_000
    monkeypatch.setattr("boirl.files.MAX_BYTES", 100_000)
    with monkeypatch.context() as patch:
        patch.setattr(np, "load", None)
        with pytest.raises(StorageError, match=r"bomb\.npz' is too large .*expand to 1600128 by"):
            read_arrays(path, "numbers")
    monkeypatch.setenv(LIMIT_VARIABLE, "2000000")
    assert len(read_arrays(path, "numbers")["zeros"]) == 200_000
    monkeypatch.setenv(LIMIT_VARIABLE, "many")
    with pytest.raises(InvalidInputError, match=r"BOIRL_MAX_BYTES is 'many'; expected a number"):
        read_arrays(path, "numbers")


def test_two_gigabytes_in_two_megabytes_are_refused_by_default(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.npy", bytes(1000))
    # What the directory of the archive claims; writing the zeros would take a while.
    content = path.read_bytes()
    at = content.index(b"PK\x01\x02") + 24
    path.write_bytes(content[:at] + (2_400_000_000).to_bytes(4, "little") + content[at + 4 :])
    with pytest.raises(StorageError, match="would expand to 2400000000 bytes"):
        read_arrays(path, "numbers")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless file here")
def test_a_file_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("boirl.files.MAX_BYTES", 100_000)
    with pytest.raises(StorageError, match=r"too large .there are more than 100000 bytes"):
        read_arrays("/dev/zero", "numbers")


@pytest.mark.parametrize("name", ["../outside.npy", "/outside.npy", "inside/../../outside.npy"])
def test_paths_outside_of_an_archive_are_refused(tmp_path, name):
    path = tmp_path / "kept.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, b"")
    with pytest.raises(StorageError, match="a path outside of the archive"):
        read_arrays(path, "numbers")


def test_arrays_that_claim_more_than_there_is_are_refused(tmp_path):
    path = tmp_path / "kept.npz"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    header = header.ljust(117) + b"\n"
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("numbers.npy", start + header + bytes(80))
    with pytest.raises(StorageError, match=r"cannot be read as an \.npz file"):
        read_arrays(path, "numbers")


def test_a_folder_in_the_way_of_a_file_is_a_storage_error(tmp_path):
    (tmp_path / "taken").write_text("in the way")
    with pytest.raises(StorageError, match="taken"):
        make_folder(tmp_path / "taken" / "deeper")
    with pytest.raises(StorageError, match="taken"):
        write_bytes(tmp_path / "taken" / "file", b"content")
    make_folder(tmp_path / "deep" / "deeper")
    make_folder(tmp_path / "deep" / "deeper")
    assert (tmp_path / "deep" / "deeper").is_dir()


def test_what_damage_makes_readers_raise_is_a_storage_error_of_one_line():
    message = r"'kept\.npz' cannot be read as numbers \(KeyError: 'a b'\); it is damaged"
    with pytest.raises(StorageError, match=message), damage_reported("kept.npz", "numbers"):
        raise KeyError("a b")
    purpose = pytest.raises(InvalidInputError, match="said on purpose")
    with purpose, damage_reported("kept.npz", "numbers"):
        raise InvalidInputError("said on purpose")


def test_a_stream_is_read_up_to_a_limit():
    assert read_bounded(io.BytesIO(b"12345"), 5) == b"12345"
    assert read_bounded(io.BytesIO(b""), 5) == b""
    with pytest.raises(TooLargeError, match="more than 4 bytes"):
        read_bounded(io.BytesIO(b"12345"), 4)


def test_prefixes_come_off_again():
    kept = {**prefixed("one", ARRAYS), **prefixed("one two", {"other": np.zeros(1)})}
    assert list(without_prefix("one", kept)) == list(ARRAYS)
    assert list(without_prefix("one two", kept)) == ["other"]
    assert without_prefix("three", kept) == {}
    nested = prefixed("outer", prefixed("inner", ARRAYS))
    assert list(without_prefix("inner", without_prefix("outer", nested))) == list(ARRAYS)


def test_pictures_are_written_in_formats_that_exist(tmp_path):
    figure = Figure()
    path = save_figure(figure, tmp_path / "deep" / "picture.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InvalidInputError, match=r"names no format of pictures.*\.png"):
        save_figure(figure, tmp_path / "picture.doc")
