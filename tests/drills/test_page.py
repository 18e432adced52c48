"""What the documentation says of the drills is what their files say."""

import json

import pytest

from drills import page


def test_the_documentation_is_up_to_date():
    text = page.PAGE.read_text()
    assert page.BEGIN in text
    assert page.updated(text) == text


def test_a_file_that_is_missing_is_left_out(tmp_path):
    assert len(page.results(tmp_path).splitlines()) == 2
    row = {"evaluations": 9, "ask": {"total": 0.1}, "refit": {"total": 2.0}, "answer": 3.0}
    (tmp_path / "long_study.json").write_text(json.dumps([{**row, "megabytes": 500.0}]))
    assert "at 9 evaluations: ask 0.10 s" in page.results(tmp_path)


def test_lines_of_the_table_show_before_and_now(tmp_path):
    assert page.lines(tmp_path) == ""
    after = {"died": 0, "2 at once": {"died": 0, "clean": True}, "said": ["no"], "clean": True}
    line = {"before": "5 of 32 died", "after": after, "seconds": 1.0}
    (tmp_path / "drill_table.json").write_text(json.dumps({"lines": {"sharing": line}}))
    expected = "| sharing | 5 of 32 died | died 0; 2 at once: died 0 | yes |"
    assert page.lines(tmp_path).splitlines()[-1] == expected


def test_lines_that_are_messages_or_many_cases_are_said_in_words(tmp_path):
    cases = {f"case {n}": {"raised": "boirl.errors AnError", "megabytes": n} for n in (3, 5)}
    lines = {
        "memory corruption": {**cases, "clean": True},
        "damaged and locked databases": {"cut": "storage x (malformed); bring back", "clean": True},
    }
    content = {name: {"before": "", "after": after} for name, after in lines.items()}
    (tmp_path / "drill_table.json").write_text(json.dumps({"lines": content}))
    said = [row.split("|")[3].strip() for row in page.lines(tmp_path).splitlines()[-2:]]
    assert said == ["2 such numbers: AnError, 5 MB at most", "cut: malformed"]


@pytest.mark.parametrize("name", ["drill_cluster", "drill_postgres"])
def test_the_fault_drills_were_passed(name):
    found = json.loads((page.RESULTS / f"{name}.json").read_text())
    assert found["passed"]
    assert found["evaluations"] == 200
