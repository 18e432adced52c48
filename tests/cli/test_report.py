"""`boirl report`: what it writes, opens and refuses."""

import webbrowser

import pytest

import boirl
from boirl.errors import CodeNeededError


@pytest.fixture
def opened(monkeypatch):
    addresses: list[str] = []

    def remember(address):
        addresses.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", remember)
    return addresses


@pytest.fixture
def written(monkeypatch):
    """Results that reports were asked for; the page itself is tested elsewhere."""
    asked = []

    def page(results):
        asked.append(results)
        return "<html>"

    monkeypatch.setattr("boirl.report.page.report_page", page)
    return asked


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("results")
    problem = boirl.load_problem("gridworld2d")
    boirl.explore(problem, evaluations=2, kernel="rbf").save(where / "rewards.npz")
    return where


def test_a_report_is_written_beside_the_result_and_opened(command, folder, opened, written):
    code, out, _ = command("report", folder)
    assert (code, out) == (0, f"report: {folder / 'report.html'}\n")
    assert (folder / "report.html").read_text() == "<html>"
    assert opened == [(folder / "report.html").as_uri()]
    assert [len(one) for one in written[0]] == [2]


def test_it_may_be_written_elsewhere_of_two_results_and_left_closed(
    command, folder, tmp_path, opened, written
):
    result, out = folder / "rewards.npz", tmp_path / "both.html"
    assert command("report", result, result, "--out", out, "--no-open")[0] == 0
    assert out.exists()
    assert opened == []
    assert len(written[0]) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--out", "report.pdf"], "expected a name that ends in .html"),
        (["--port", "8000"], "--port belongs to --live"),
        (["--live", "--out", "report.html"], "--live serves the report"),
        (["--bellman", "max"], "belong to --problem"),
    ],
)
def test_options_that_do_not_fit_are_refused(command, folder, written, given, message):
    code, _, errors = command("report", folder, *given)
    assert code == 2
    assert message in errors
    assert len(errors.splitlines()) == 1


def test_what_is_not_there_is_one_line(command, tmp_path):
    code, _, errors = command("report", tmp_path / "nothing.npz")
    assert code == 2
    assert "there is no" in errors
    assert "boirl run --out" in errors


def test_a_result_that_needs_code_names_the_option(command, folder, opened, monkeypatch):
    def refuse(self):
        raise CodeNeededError("a file cannot carry it")

    monkeypatch.setattr("boirl.report.sources.FileSource.result", refuse)
    code, out, told = command("report", folder)
    assert (code, out) == (2, "")
    assert "on the command line: --problem problem.py:name" in told


def test_a_live_report_is_served_until_interrupted(command, folder, opened, monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("boirl.report.live.LiveReport.wait", interrupt)
    monkeypatch.setattr("boirl.report.live.report_page", lambda results, live: "<html>")
    code, out, _ = command("report", folder, "--live")
    assert code == 130
    assert opened[0].startswith("http://127.0.0.1:")
    assert opened[0] in out


def test_a_missing_extra_is_one_line_with_the_command(command, folder, monkeypatch):
    import sys

    from boirl.report.page import vega_bundle

    vega_bundle.cache_clear()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    code, _, errors = command("report", folder)
    assert code == 2
    assert "pip install 'boirl[report]'" in errors
    assert len(errors.splitlines()) == 1
