"""The page of the documentation that result files make."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

from boirl.errors import InvalidInputError
from boirl.files import write_bytes
from boirl.reproduction import ITEMS
from boirl.reproduction.agreement import describe_agreement
from boirl.reproduction.facts import TABLE as PROBLEMS
from boirl.reproduction.findings import FINDINGS
from boirl.reproduction.plan import not_run
from boirl.reproduction.run import picture
from boirl.reproduction.store import CELLS, PACKAGES, Store
from boirl.reproduction.table1 import TABLE as TRIALS

INTRODUCTION = """\
# Reproduction of the paper

Every table and figure of the paper (Balakrishnan, Nguyen, Low and Soh, NeurIPS 2020), which of its
results hold here, and why others do not. `boirl reproduce page` writes this page from result files:
none of our numbers on it is typed by hand.

    boirl reproduce table1            # or figure1 to figure11, video
    boirl reproduce all --workers 2   # everything; an interrupted run goes on where it was
    boirl reproduce all --quick       # small versions, to see that everything runs
    boirl reproduce figure2 --draw    # draw again from the files, compute nothing
    boirl reproduce table1 --environment gridworld --method rho-rbf --seeds 7 --out elsewhere

The last line computes single cells again, which gives the same numbers. Results go to
`reproduction/` (`--out`): one tidy table per kind of result (CSV compressed by gzip), keyed by
environment, method and seeds, and `cells.csv.gz` with settings, versions and seconds of every
computation. Borlange needs its data (`boirl data borlange --from FOLDER`, or `--data FOLDER`).

**Two protocols.** *Paper's*: the demonstrations that come with each problem, the paper's budgets,
`K` and `M` where a method is marked *as published*, and its rule: the sampled ESOR (expected sum of
true rewards) of the best reward so far against the mean return of the demonstrations. *Exact*:
demonstrations of ten seeds, expected ESOR against that of the true reward, 95 % intervals, and the
exact sign test against random search on the same trials. Where the reward of maximum likelihood is
itself worse than the true one, the exact rule is an NLL no higher than the true reward's. All
searches start from one reward of high NLL, which is iteration 0; baselines start as they do by
themselves.

**Figures.** Colours are the logarithm of the NLL above the lowest there is, on one scale for all
kernels of an environment; white lines enclose the rewards that the demonstrations do not reject at
95 % (solid), and those within 1 % (dashed) and 10 % (dotted). Colours, marks and
line styles suit colour-blind readers.
"""

QUICK_WARNING = """\
> Some of the results below are of small versions (`--quick`): they show that everything runs, and
> nothing else.
"""


def write_page(folder: Path, page: Path) -> Path:
    """Write the page of the results in a folder, see `page_text`."""
    write_bytes(page, page_text(folder, page).encode())
    return page


def page_text(folder: Path, page: Path) -> str:
    """The page of the results in a folder, in Markdown.

    Args:
        folder: With result files, and figures drawn.
        page: The file that it is for; links to figures are relative to it.

    Raises:
        InvalidInputError: The folder holds no results.
    """
    store = Store(folder)
    if not store.table(CELLS):
        raise InvalidInputError(
            f"there are no results in {str(folder)!r} to write a page of; run boirl reproduce first"
        )
    source = Path(os.path.relpath(folder, page.parent)).as_posix()
    origin = (
        f"This page is of the result files in `{source}`. To add what is not run, give "
        "the commands below that folder with `--out`, then `boirl reproduce page` likewise.\n"
    )
    parts = [INTRODUCTION, origin, _provenance(store)]
    if _some_quick(store):
        parts.append(QUICK_WARNING)
    agreement = describe_agreement(store) or not_run("table1")
    parts.append(f"## What agrees, what does not, and why\n\n{agreement}\n\n{_findings(store)}\n")
    for name, item in ITEMS.items():
        title = name.replace("table", "Table ").replace("figure", "Figure ").capitalize()
        lines = [f"## {title}: {item.title}", "", f"*Paper:* {item.paper}", ""]
        drawn = picture(folder, name)
        if drawn.exists():
            path = os.path.relpath(drawn, page.parent)
            lines += [f"![{title}]({path})", ""]
        lines += [item.describe(store), "", f"`boirl reproduce {name}`", ""]
        parts.append("\n".join(lines))
    return "\n".join(parts)


def _findings(store: Store) -> str:
    found = [finding(store) for finding in FINDINGS]
    return "\n".join(f"- {text}" for text in found if text)


def _some_quick(store: Store) -> bool:
    return any(json.loads(row["settings"]).get("quick") for row in store.table(CELLS))


def _provenance(store: Store) -> str:
    """How much was run, with which seeds and versions."""
    cells = store.table(CELLS)
    kinds = Counter(row["kind"] for row in cells)
    counted = ", ".join(f"{count} of kind *{kind}*" for kind, count in sorted(kinds.items()))
    used = {
        name: sorted({str(row[name]) for row in cells if row.get(name)})
        for name in ("python", *PACKAGES)
    }
    versions = ", ".join(f"{name}=={' and '.join(found)}" for name, found in used.items())
    seeds = sorted({row["seed"] for row in store.table(TRIALS)})
    shown = sorted(
        {
            row["demonstrations"]
            for row in store.table(PROBLEMS)
            if row["demonstrations"] is not None
        }
    )
    hours = sum(float(row["seconds"]) for row in cells) / 3600.0
    trials = f"trials of Table 1 have seeds {_ranges(seeds)}" if seeds else "Table 1 was not run"
    return (
        f"**What was run.** {len(cells)} cells ({counted}), {hours:.1f} hours in all; {trials}; "
        f"demonstrations of seeds {_ranges(shown)}. Versions: {versions}.\n"
    )


def _ranges(numbers: list[int]) -> str:
    """Whole numbers in order, runs of them as `a-b`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(one[0]) if len(one) == 1 else f"{one[0]}-{one[-1]}" for one in parts)
