"""What a person sees while a search runs."""

import io
from functools import partial

import pytest
from rich.console import Console
from rich.progress import Progress

from boirl.search import progress
from boirl.search.progress import SearchProgress


@pytest.fixture
def screen(monkeypatch):
    """What a terminal would be sent."""
    text = io.StringIO()
    terminal = Console(file=text, force_terminal=True, width=120, color_system=None)
    monkeypatch.setattr(progress, "Console", lambda **options: terminal)
    # No thread that draws in between.
    monkeypatch.setattr(progress, "Progress", partial(Progress, auto_refresh=False))
    return text


def shown(bar):
    """The lines on the screen now."""
    text = io.StringIO()
    Console(file=text, width=120).print(bar._progress.get_renderable())
    return text.getvalue().splitlines()


def test_a_line_counts_evaluations_and_has_the_best_nll(screen):
    with SearchProgress(3, enabled=True) as bar:
        (line,) = shown(bar)
        assert line.startswith("evaluations")
        assert "0/3" in line
        assert "best NLL -" in line
        for nll, expected in ((4.0, "4.0000"), (None, "4.0000"), (2.5, "2.5000")):
            bar.advance(nll)
            assert f"best NLL {expected}" in shown(bar)[0]
        assert "3/3" in shown(bar)[0]
    assert "3/3" in screen.getvalue()


def test_failed_evaluations_count_and_are_not_the_best(screen):
    with SearchProgress(2, enabled=True) as bar:
        bar.advance(None)
        assert "1/2" in shown(bar)[0]
        assert "best NLL -" in shown(bar)[0]


def test_a_second_line_shows_how_far_an_evaluation_is(screen):
    with SearchProgress(3, enabled=True) as bar:
        bar.begin(0)
        assert len(shown(bar)) == 1
        bar.report(0.25, "mean return -3")
        first = shown(bar)[1]
        assert first.startswith("  number 0")
        assert "mean return -3" in first
        bar.report(0.75, "mean return -1")
        second = shown(bar)[1]
        assert "mean return -1" in second
        assert second.count("━") >= first.count("━") > 0
        bar.advance(2.0)
        # The next one says nothing yet.
        bar.begin(1)
        assert len(shown(bar)) == 1
        bar.report(0.1, "")
        assert shown(bar)[1].startswith("  number 1")
        assert "mean return" not in shown(bar)[1]
    assert len(shown(bar)) == 1


def test_the_second_line_goes_when_a_search_breaks_off(screen):
    bar = SearchProgress(3, enabled=True)

    def break_off():
        with bar:
            bar.begin(0)
            bar.report(0.5, "half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert len(shown(bar)) == 1


def test_evaluations_of_an_earlier_run_are_there_from_the_start(screen):
    with SearchProgress(5, enabled=True) as bar:
        for nll in (3.0, None, 1.0):
            bar.advance(nll, resumed=True)
        assert "3/5" in shown(bar)[0]
        assert "best NLL 1.0000" in shown(bar)[0]
        # They took no time now, so that nothing is known about the time left.
        assert "-:--:--" in shown(bar)[0]


def test_nothing_is_shown_when_it_is_off(screen):
    with SearchProgress(1, enabled=False) as bar:
        bar.begin(0)
        bar.report(0.5, "half")
        bar.advance(1.0)
    assert screen.getvalue() == ""
