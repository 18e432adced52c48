"""The page: one file, nothing from outside, and nothing that users name is ever run."""

import html
import json
import re

import pytest

from boirl.errors import InvalidInputError
from boirl.report import page
from boirl.report.page import render, report_page, script_json, vega_bundle, write_report

from .conftest import HOSTILE, QUOTED

TABULAR_LIMIT = 5_000_000
ORDER = [
    "What was found",
    "The landscape of rewards",
    "The posterior over rewards",
    "Behaviours, and how they differ",
    "What is pinned down, free and tied",
    "Where to look next",
    "From the set to a decision",
    "How the search went",
    "How to repeat it",
]


@pytest.fixture(scope="module")
def text(content):
    return render([content])


def test_sections_come_in_their_order(text):
    titles = re.findall(r"<h2 id=.*?</span>(.*?)</h2>", text)
    assert [html.unescape(title) for title in titles] == ORDER


def test_nothing_comes_from_outside(text):
    own = text.replace(vega_bundle(), "")
    tags = re.findall(r"<(?:script|link|img|iframe|object|embed|style)\b[^>]*>", own)
    assert not [tag for tag in tags if re.search(r'(src|href)=(?!"data:)', tag)]
    assert "default-src 'none'" in text
    assert "connect-src" not in text
    assert len(text.encode()) < TABULAR_LIMIT


def test_names_are_escaped_everywhere(text):
    assert HOSTILE not in text
    assert QUOTED not in text
    assert html.escape(HOSTILE) in text


def test_json_cannot_end_its_script():
    data = {"name": "</script><!-- &"}
    written = script_json(data)
    assert not set("<>&") & set(written)
    assert json.loads(written) == data


def test_two_answers_have_a_column_each_and_a_comparison(content):
    both = render([content, content], {"rows": [("best NLL", "1", "2")], "note": "same"})
    columns = re.findall(r'<div class="column" data-answer="(\d)">', both)
    assert columns == ["0", "1"] * len(ORDER)
    assert "<td>1</td><td>2</td>" in both
    title, method = content["text"]["title"], content["text"]["method"]
    assert f"<th>B: {html.escape(title)}, {method}</th>" in both
    assert f"<h1>{html.escape(title)}</h1>" in both


def test_a_live_page_may_ask_its_server_alone(content):
    served = render([content], live=3)
    assert "connect-src 'self'" in served
    assert '"live":3' in served


def test_reports_are_of_one_or_two_results(found):
    for results in ([], [found] * 3):
        with pytest.raises(InvalidInputError, match="expected one or two"):
            report_page(results)


def test_a_report_is_written(found, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "report_page", lambda results: f"a report of {len(results)}")
    path = write_report([found], tmp_path / "new" / "report.html")
    assert path.read_text() == "a report of 1"
