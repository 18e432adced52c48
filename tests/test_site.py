"""The documentation site: its code runs or at least compiles, its links lead somewhere, and every
page is on it. Slow pages run in `make docs-test`."""

from __future__ import annotations

import re
import runpy
from fnmatch import fnmatch
from pathlib import Path

import pytest
import typer.main

from boirl.cli import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
QUICK = [*sorted((DOCS / "concepts").glob("*.md")), DOCS / "guides" / "own_problem.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def named(page: Path) -> str:
    return str(page.relative_to(DOCS))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_code_compiles(page: Path) -> None:
    for block in BLOCK.findall(page.read_text()):
        compile(block, named(page), "exec")


@pytest.mark.parametrize("page", QUICK, ids=named)
def test_code_runs(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With sybil, as `make docs-test` does."""
    sybil = pytest.importorskip("sybil", reason="needs sybil")
    parsers = pytest.importorskip("sybil.parsers.myst")
    monkeypatch.chdir(tmp_path)
    run = sybil.Sybil([parsers.PythonCodeBlockParser()])
    examples = list(run.parse(page))
    assert examples
    for example in examples:
        example.evaluate()


def test_code_of_every_page_runs_somewhere() -> None:
    pytest.importorskip("sybil", reason="needs sybil")
    runs = runpy.run_path(str(DOCS / "conftest.py"))
    patterns = [*runs["GENERAL"], *runs["ON_DATA"], "roads"]
    # Programs of `examples/` and of `boirl init`, which other tests run.
    elsewhere = {"model_free.md", "own_problem.md"}
    with_code = {named(page) for page in PAGES if BLOCK.search(page.read_text())}
    left = {page for page in with_code if not any(fnmatch(page, f"{one}.md") for one in patterns)}
    assert left == elsewhere


def anchors(page: Path) -> set[str]:
    """Of headings, as the site makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", title.lower()) for title in titles]
    return {title.replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(page.read_text()):
        if "://" in link or link.startswith("mailto:"):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_command_is_on_the_page_of_commands() -> None:
    page = (DOCS / "command_line.md").read_text()
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert [name for name in commands if f"`boirl {name}" not in page] == []


def test_every_page_is_on_the_site() -> None:
    listed = re.findall(r"^([\w/]+)$", (DOCS / "index.md").read_text(), re.MULTILINE)
    expected = {named(page).removesuffix(".md") for page in PAGES} - {"index"}
    assert expected == set(listed)


def test_broken_links_of_a_built_site_are_named(tmp_path: Path) -> None:
    check = runpy.run_path(str(DOCS / "check_links.py"))["check"]
    (tmp_path / "a.html").write_text('<a href="b.html#here">x</a><a href="https://far.away">y</a>')
    (tmp_path / "b.html").write_text('<p id="here"><a href="a.html#gone">x</a><img src="no.png">')
    count, broken = check(tmp_path)
    assert count == 3
    assert broken == ["b.html: a.html#gone", "b.html: no.png"]
