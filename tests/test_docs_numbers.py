"""The numbers of README and documentation are those of the result files."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from boirl.cli.experiment import parse_seeds

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS))
import make_numbers  # noqa: E402
import print_examples  # noqa: E402
from measured import blocks, commands  # noqa: E402

sys.path.remove(str(DOCS))
RESULTS = sorted(path.stem for path in blocks.RESULTS.glob("*.json"))
MARK = re.compile(r"^<!-- numbers: (.*) -->$", re.MULTILINE)
LABELS = re.compile(r"earlier version|earlier state|the search of|boirl 0\.\d|measured with 0")


@pytest.mark.parametrize("page", make_numbers.PAGES, ids=lambda page: page.name)
def test_pages_say_what_result_files_say(page):
    text = page.read_text()
    assert blocks.fill(text) == text, "run make docs-numbers"


@pytest.mark.parametrize("page", make_numbers.PAGES, ids=lambda page: page.name)
def test_no_page_quotes_numbers_of_an_earlier_version(page):
    assert LABELS.findall(page.read_text()) == []


def test_another_number_in_a_result_file_changes_the_page(monkeypatch, tmp_path):
    for name in RESULTS:
        text = (blocks.RESULTS / f"{name}.json").read_text()
        (tmp_path / f"{name}.json").write_text(text)
    rows = json.loads((tmp_path / "suite.json").read_text())
    rows[0]["tolerances_worst"] = 0.77
    (tmp_path / "suite.json").write_text(json.dumps(rows))
    monkeypatch.setattr(blocks, "RESULTS", tmp_path)
    page = (DOCS / "suite.md").read_text()
    assert "0.77" in blocks.fill(page)
    assert blocks.fill(page) != page


def test_a_changed_page_is_mended():
    page = (DOCS / "suite.md").read_text()
    wrong = page.replace("At worst, the best reward", "At best, the worst reward")
    assert wrong != page
    assert blocks.fill(wrong) == page


def test_every_block_is_on_a_page():
    calls = [call for page in make_numbers.PAGES for call in MARK.findall(page.read_text())]
    unused = [name for name in blocks.BLOCKS if not any(call.startswith(name) for call in calls)]
    assert unused == []


def test_a_block_that_nobody_wrote_is_named():
    with pytest.raises(SystemExit, match="there is no block 'nothing at all'"):
        blocks.fill("<!-- numbers: nothing at all -->\n<!-- end of numbers -->")


def seeds_in(content):
    """The seeds that a result file names, at any depth."""
    if isinstance(content, dict):
        own = {content["seed"]} if "seed" in content else set()
        own |= {int(seed) for seed in content.get("held_out_by_seed", ())}
        return own.union(*(seeds_in(value) for value in content.values()))
    return set().union(*(seeds_in(one) for one in content)) if isinstance(content, list) else set()


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_file_has_its_command(name):
    assert name in commands.COMMANDS, "add the command to docs/measured/commands.py"
    command = commands.COMMANDS[name]
    rows = json.loads((blocks.RESULTS / f"{name}.json").read_text())
    given = re.search(r"--seeds (\S+)", command)
    if given is None:
        return
    seeds = parse_seeds(given[1])
    trials = {row["trials"] for row in rows if "trials" in row}
    assert not trials or len(seeds) in trials, f"{command}: the file has {trials} trials"
    assert seeds_in(rows) in (set(), set(seeds)), f"{command}: the file has other seeds"


def test_examples_that_are_shown_are_those_that_can_be_run_again():
    printed = json.loads((blocks.RESULTS / "printed.json").read_text())
    assert set(printed) == set(print_examples.EXAMPLES)
