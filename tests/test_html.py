"""Tables for notebooks."""

from boirl.html import heading, lines, table


def test_everything_is_escaped():
    for made in (heading("<b>"), lines(["<b>"]), table(["<b>"], [["<b>"]])):
        assert "<b>" not in made
        assert "&lt;b&gt;" in made


def test_no_lines_are_no_list():
    assert lines([]) == ""


def test_a_table_has_its_rows():
    assert table(["a"], [["1"], ["2"]]).count("<tr>") == 3
