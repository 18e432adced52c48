"""`boirl reproduce`: result files, figures and the page."""

import pytest


def test_a_figure_its_drawing_and_the_page(command, tmp_path):
    out = ("--out", tmp_path / "results")
    code, text, errors = command("reproduce", "figure4", "--quick", *out)
    assert code == 0, errors
    drawn = tmp_path / "results" / "figures" / "figure4.png"
    assert f"written: {drawn}" in text
    drawn.unlink()
    code, _, errors = command("reproduce", "figure4", "--draw", *out)
    assert code == 0, errors
    assert drawn.exists()
    page = tmp_path / "page.md"
    code, text, errors = command("reproduce", "page", "--page", page, *out)
    assert code == 0, errors
    assert "figures/figure4.png" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("figure99",), "the paper has no 'figure99'; expected one of table1, figure1"),
        (("figure2", "--draw"), "to draw; run the same command without --draw first"),
        (("figure2", "--draw", "--seeds", "3"), "--draw draws whatever the folder holds"),
        (("table1", "--seeds", "x"), "--seeds is 'x'; expected numbers or ranges"),
        (("table1", "--environment", "mars"), "there is no environment mars"),
        (("table1", "--method", "luck"), "there is no method luck"),
        (("page",), "no results in"),
    ],
)
def test_wrong_input_is_one_clear_line_and_exit_code_2(command, tmp_path, arguments, message):
    code, out, errors = command("reproduce", *arguments, "--out", tmp_path / "results")
    assert (code, out) == (2, "")
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
