"""The page that result files make."""

from pathlib import Path

import pytest

from boirl.errors import InvalidInputError
from boirl.reproduction import ITEMS
from boirl.reproduction.page import page_text, write_page
from boirl.reproduction.run import chosen_items, redraw
from boirl.reproduction.store import Cell

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_has_every_item_its_command_and_its_picture(results, tmp_path):
    redraw(chosen_items("figure3"), results.folder)
    text = write_page(results.folder, tmp_path / "docs" / "page.md").read_text()
    for name, item in ITEMS.items():
        assert item.title in text
        assert f"`boirl reproduce {name}`" in text
    link = text.split("![Figure 3](")[1].split(")")[0]
    assert (tmp_path / "docs" / link).resolve() == results.folder / "figures" / "figure3.png"
    assert "trials of Table 1 have seeds 0-3" in text
    assert "small versions" not in text.split("## What agrees")[0].split("**What was run")[1]


def test_quick_results_are_called_so(nothing, tmp_path):
    cell = Cell("roads", {"environment": "borlange wide"}, {"quick": True}, dict)
    nothing.add(cell, {}, 1.0)
    text = write_page(nothing.folder, tmp_path / "page.md").read_text()
    assert "they show that everything runs, and" in text
    assert "Not run: `boirl reproduce table1`." in text
    for name in ("figure1", "figure2", "figure3", "figure5", "figure7", "figure10", "figure11"):
        assert f"Not run: `boirl reproduce {name}`." in text
    assert "not run: `boirl reproduce figure6 --environment fetch`" in text


def test_the_page_of_the_documentation_is_that_of_its_results():
    page = DOCS / "reproduction.md"
    assert page_text(DOCS / "results" / "reproduction", page) == page.read_text()


def test_no_results_no_page(tmp_path):
    with pytest.raises(InvalidInputError, match="no results in"):
        write_page(tmp_path, tmp_path / "page.md")
