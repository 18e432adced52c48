"""The page: one HTML file that holds everything it needs and asks nobody for anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from boirl.errors import InvalidInputError
from boirl.extras import needed
from boirl.files import write_bytes
from boirl.report.answer import answer_of
from boirl.report.comparison import compare_answers
from boirl.report.content import content_of
from boirl.results import Result

MOST_ANSWERS = 2


def write_report(results: Sequence[Result], path: str | Path) -> Path:
    """Write the report of one result, or of two side by side, and return its path.

    Args:
        results: Searches or baselines, one or two.
        path: The `.html` file; an older one stays whole if writing fails.
    """
    target = Path(path)
    write_bytes(target, report_page(results).encode())
    return target


def report_page(results: Sequence[Result], live: int | None = None) -> str:
    """The report as HTML.

    Args:
        results: Searches or baselines, one or two.
        live: Of a report that is served while a search runs, the number of this version.
    """
    if not 1 <= len(results) <= MOST_ANSWERS:
        raise InvalidInputError(f"there are {len(results)} results; expected one or two")
    answers = [answer_of(result) for result in results]
    comparison = compare_answers(*answers) if len(answers) > 1 else None
    return render([content_of(answer) for answer in answers], comparison, live)


def render(
    contents: Sequence[dict[str, Any]],
    comparison: dict[str, Any] | None = None,
    live: int | None = None,
) -> str:
    """The page of some contents, see `boirl.report.content`."""
    from jinja2 import Environment
    from markupsafe import Markup

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    texts = [content["text"] for content in contents]
    data = {"answers": [content["data"] for content in contents], "live": live}
    return environment.from_string(_asset("page.html")).render(
        title=" and ".join(dict.fromkeys(text["title"] for text in texts)),
        answers=texts,
        comparison=comparison,
        live=live is not None,
        data=Markup(script_json(data)),
        style=Markup(_asset("page.css")),
        library=Markup(vega_bundle()),
        script=Markup("{" + _asset("drawing.js") + _asset("page.js") + "}"),
    )


def script_json(data: Any) -> str:
    """JSON that cannot end the script that it stands in, whatever names users give."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script."""
    vl_convert = needed("vl_convert", "a report")
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle


@cache
def _asset(name: str) -> str:
    return (files("boirl.report") / "assets" / name).read_text(encoding="utf-8")
