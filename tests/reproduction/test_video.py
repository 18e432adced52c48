"""The film of the best rewards of Fetch-Reach."""

import pytest
from PIL import Image

from boirl.errors import InvalidInputError
from boirl.reproduction.video import ITEM, save_film


def test_one_frame_per_evaluation(results, tmp_path):
    with Image.open(save_film(results, tmp_path / "film.gif")) as film:
        assert 1 < getattr(film, "n_frames", 1) <= 6
    assert ITEM.describe(results) == "One frame per evaluation."


def test_nothing_to_film(nothing, tmp_path):
    with pytest.raises(InvalidInputError, match="no results of Fetch-Reach"):
        save_film(nothing, tmp_path / "film.gif")
    assert ITEM.describe(nothing) == "Not run: `boirl reproduce video`."
