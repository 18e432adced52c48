"""The cache: where it is, and arrays that are made once."""

import numpy as np
import pytest

from boirl.cache import cache_folder, cached_arrays, interrupted_path
from boirl.errors import StorageError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of its own, and the folder in it that these tests use."""
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "expert"


def test_the_cache_is_where_the_user_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("BOIRL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "boirl"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "boirl"


class Maker:
    """Makes arrays, and counts how often."""

    times = 0

    def __call__(self):
        self.times += 1
        return {"numbers": np.arange(3) + self.times, "text": np.array("a word")}


@pytest.fixture
def make():
    return Maker()


def test_arrays_are_made_once_for_a_key(make, tmp_path):
    first = cached_arrays("expert", ("PPO()", 3, 0.5), make)
    again = cached_arrays("expert", ("PPO()", 3, 0.5), make)
    assert make.times == 1
    for name, array in first.items():
        np.testing.assert_array_equal(again[name], array)
    (path,) = (tmp_path / "cache" / "expert").iterdir()
    assert path.suffix == ".npz"


def test_arrays_of_another_key_or_name_are_others(make):
    keys = [("expert", 1), ("expert", 2), ("expert", "1"), ("expert", (1,)), ("anchor", 1)]
    found = [cached_arrays(*key, make)["numbers"][0] for key in keys]
    assert found == [1, 2, 3, 4, 5]
    assert [cached_arrays(*key, make)["numbers"][0] for key in keys] == found


def test_nothing_is_kept_of_arrays_that_could_not_be_made(make, folder):
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cached_arrays("expert", 1, fail)
    assert not folder.exists()
    assert cached_arrays("expert", 1, make)["numbers"][0] == 1


@pytest.mark.parametrize("content", [b"", b"no arrays"])
def test_damaged_arrays_are_named_and_not_made_again(make, folder, content):
    cached_arrays("expert", 1, make)
    (path,) = folder.iterdir()
    path.write_bytes(content)
    with pytest.raises(StorageError, match="remove it, and it is made again") as caught:
        cached_arrays("expert", 1, make)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    path.unlink()
    assert cached_arrays("expert", 1, make)["numbers"][0] == 2


def test_arrays_that_cannot_be_kept_are_reported(make, tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(StorageError, match="could not be written"):
        cached_arrays("expert", 1, make)


def test_what_was_interrupted_has_a_place_of_its_own(tmp_path):
    first, second = interrupted_path("search"), interrupted_path("search")
    assert first != second
    assert first.parent == second.parent == tmp_path / "cache" / "interrupted"
