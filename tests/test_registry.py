"""Things that are known by name, registered in a script or declared as entry points."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from boirl import registry as module
from boirl.errors import InvalidInputError
from boirl.registry import Registry


@pytest.fixture
def declared(monkeypatch):
    """Entry points of a package that is not installed, by group."""
    groups = {
        "boirl.shapes": [
            EntryPoint("square", "tests.test_registry:SQUARE", "boirl.shapes"),
            EntryPoint("circle", "tests.test_registry:CIRCLE", "boirl.shapes"),
        ]
    }
    monkeypatch.setattr(module, "entry_points", lambda group: groups.get(group, []))
    return groups


SQUARE, CIRCLE = ["square"], ["circle"]


@pytest.fixture
def shapes(declared):
    return Registry("shape", "boirl.shapes")


@pytest.mark.usefixtures("declared")
def test_what_was_registered_is_found():
    plain: Registry[Any] = Registry("shape", "boirl.nothing")
    line = plain.register("line", ["line"])
    assert line == ["line"]
    assert plain["line"] is line
    assert "line" in plain
    assert "point" not in plain
    assert (list(plain), len(plain)) == (["line"], 1)


def test_what_was_declared_is_found_when_it_is_asked_for(shapes):
    assert list(shapes) == ["square", "circle"]
    assert len(shapes) == 2
    assert "circle" in shapes
    assert shapes["circle"] is CIRCLE
    assert list(shapes.values()) == [SQUARE, CIRCLE]
    assert dict(shapes.items()) == {"square": SQUARE, "circle": CIRCLE}


def test_looking_things_up_does_not_change_their_order(shapes):
    shapes.register("line", ["line"])
    before = list(shapes)
    assert before == ["line", "square", "circle"]
    _ = shapes["circle"]
    assert list(shapes) == before
    assert [name for name, _ in shapes.items()] == before


def test_listing_names_imports_nothing(declared):
    declared["boirl.shapes"].append(EntryPoint("ghost", "no_such_module:GHOST", "boirl.shapes"))
    shapes: Registry[Any] = Registry("shape", "boirl.shapes")
    assert "ghost" in shapes
    assert list(shapes)[-1] == "ghost"
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _ = shapes["ghost"]


def test_an_unknown_name_is_answered_with_the_known_ones(shapes):
    shapes.register("line", ["line"])
    message = "there is no shape 'cube'; expected one of line, square, circle"
    with pytest.raises(InvalidInputError, match=message):
        _ = shapes["cube"]


def test_a_name_stands_for_one_thing(shapes):
    line = shapes.register("line", ["line"])
    assert shapes.register("line", line) is line
    for name in ("line", "square"):
        with pytest.raises(InvalidInputError, match=f"there is a shape '{name}' already"):
            shapes.register(name, ["another"])
    assert shapes["line"] is line
    assert shapes["square"] is SQUARE
