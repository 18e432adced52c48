"""What holds of every figure."""

from __future__ import annotations

import pytest

from boirl.errors import InvalidInputError
from boirl.reproduction import ITEMS
from boirl.reproduction.plan import Plan
from boirl.reproduction.store import Store


def check_figure(name: str, results: Store, nothing: Store) -> None:
    """It has cells with names of their own, draws and describes what is there, and says what is
    missing."""
    item = ITEMS[name]
    cells = item.cells(Plan())
    assert cells
    assert len({cell.name for cell in cells}) == len(cells)
    names = {cell.name for cell in item.cells(Plan(quick=True))}
    assert len(names) <= len(cells)
    assert item.draw is not None
    figure = item.draw(results)
    labelled = [axes for axes in figure.axes if axes.get_title()]
    assert labelled
    assert item.describe(results)
    assert item.describe(nothing)
    with pytest.raises(InvalidInputError, match="there are no results of"):
        item.draw(nothing)
