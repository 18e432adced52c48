"""The tables and figures of the paper, one module each, by the paper's numbering."""

from __future__ import annotations

from boirl.reproduction import (
    figure1,
    figure2,
    figure3,
    figure4,
    figure5,
    figure6,
    figure7,
    figure8,
    figure9,
    figure10,
    figure11,
    table1,
    video,
)
from boirl.reproduction.plan import Item

ITEMS: dict[str, Item] = {
    "table1": table1.ITEM,
    "figure1": figure1.ITEM,
    "figure2": figure2.ITEM,
    "figure3": figure3.ITEM,
    "figure4": figure4.ITEM,
    "figure5": figure5.ITEM,
    "figure6": figure6.ITEM,
    "figure7": figure7.ITEM,
    "figure8": figure8.ITEM,
    "figure9": figure9.ITEM,
    "figure10": figure10.ITEM,
    "figure11": figure11.ITEM,
    "video": video.ITEM,
}
"""By the paper's numbering."""
