"""Small tables for notebooks; everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def heading(text: str) -> str:
    return f"<p><strong>{escape(text)}</strong></p>"


def lines(items: Iterable[str]) -> str:
    """A list, or nothing where there are no items."""
    listed = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<ul>{listed}</ul>" if listed else ""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a header, the numbers to the right."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>"
        + "".join(f"<td style='text-align:right'>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
