"""Progress in a notebook, with IPython's display replaced."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from boirl.search import progress
from boirl.search.notebook_progress import NotebookBar, in_notebook
from boirl.search.progress import SearchProgress


@pytest.fixture
def shown(monkeypatch):
    """What a cell shows, line by line as it is rewritten."""
    written: list[str] = []
    module = ModuleType("IPython.display")
    module.HTML = lambda text: text  # type: ignore[attr-defined]

    def display(line, display_id):
        written.append(line)
        return SimpleNamespace(update=written.append)

    module.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return written


def test_this_is_no_notebook():
    assert not in_notebook()


def test_a_line_is_rewritten(shown):
    bar = NotebookBar(4, "evaluations")
    bar.show(1, "best NLL 3")
    bar.show(1, "best NLL 3", 0.5, "half <of> it")
    assert shown[0] == "<progress value='1.0' max='4'></progress> evaluations 1/4, best NLL 3"
    assert "value='1.5'" in shown[1]
    assert "(50%: half &lt;of&gt; it)" in shown[1]


def test_a_search_shows_its_progress_there(shown, monkeypatch, capsys):
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    with SearchProgress(2, enabled=True) as bar:
        bar.begin(0)
        bar.report(0.25, "training")
        bar.advance(5.0)
        bar.advance(None)
    assert "evaluations 0/2, best NLL - (25%: training)" in shown[0]
    assert shown[-1].endswith("evaluations 2/2, best NLL 5.0000")
    assert capsys.readouterr().err == ""
    with SearchProgress(2, enabled=False) as bar:
        bar.advance(1.0)
    assert len(shown) == 3
