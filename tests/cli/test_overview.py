"""The order of commands in the help."""

import pytest
import typer

from boirl.cli import app
from boirl.cli.overview import PANELS, _name, arrange


def test_every_command_is_in_one_panel():
    listed = [name for names in PANELS.values() for name in names]
    known = [_name(one) for one in app.registered_commands]
    groups = [str(one.name) for one in app.registered_groups]
    assert sorted(listed) == sorted([*known, *groups])
    assert known == [name for name in listed if name not in groups]


def test_a_command_without_a_panel_is_refused():
    other = typer.Typer()
    other.command(name="stranger")(lambda: None)
    with pytest.raises(KeyError, match="stranger"):
        arrange(other)


def test_help_starts_with_what_to_do_first(command):
    _, out, _ = command("--help")
    places = [out.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
    assert places[0] < out.index("│ init") < out.index("│ run") < places[1]


def test_paragraphs_of_help_are_filled(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = command("compare", "--help")
    assert "held-out log-likelihood per step (and in bits per decision)" in out
