"""Names of a package that are imported when they are first used."""

import sys

import pytest

from boirl import lazy


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one public name and one public folder."""
    folder = tmp_path / "slowpoke"
    (folder / "parts").mkdir(parents=True)
    (folder / "__init__.py").write_text(
        "from boirl.lazy import lazy_names\n"
        "__getattr__ = lazy_names(__name__, {'Thing': 'parts.things', 'parts': ''})\n"
    )
    (folder / "parts" / "__init__.py").write_text("")
    (folder / "parts" / "things.py").write_text("class Thing:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "slowpoke"
    for name in [name for name in sys.modules if name.partition(".")[0] == "slowpoke"]:
        del sys.modules[name]


def test_nothing_is_imported_before_it_is_used(package):
    slowpoke = __import__(package)
    assert "slowpoke.parts" not in sys.modules
    thing = slowpoke.Thing
    assert "slowpoke.parts.things" in sys.modules
    assert thing is sys.modules["slowpoke.parts.things"].Thing
    assert slowpoke.Thing is thing


def test_a_public_folder_is_a_module(package):
    slowpoke = __import__(package)
    assert slowpoke.parts is sys.modules["slowpoke.parts"]


def test_a_name_that_is_not_public_is_refused(package):
    slowpoke = __import__(package)
    with pytest.raises(AttributeError, match="module 'slowpoke' has no attribute 'secret'"):
        _ = slowpoke.secret
    assert not hasattr(slowpoke, "things")


def test_a_target_is_loaded_by_module_and_name(package):
    assert lazy.load("slowpoke.parts.things:Thing").__name__ == "Thing"
    with pytest.raises(ModuleNotFoundError, match=r"slowpoke\.nowhere"):
        lazy.load("slowpoke.nowhere:Thing")
    with pytest.raises(AttributeError, match="Nothing"):
        lazy.load("slowpoke.parts.things:Nothing")
