"""Write what the drills found, from their files, into the documentation.

    python -m drills.page

A table in `docs/parallel.md`, between two comments, is made from `docs/results/*.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from drills.table.lines import BEFORE

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "docs" / "results", ROOT / "docs" / "parallel.md"
BEGIN, END = "<!-- results of drills -->", "<!-- end of results of drills -->"


def cluster(found: Any) -> str:
    study, killed = found["disturbed"], found["killed"]
    return (
        f"{killed['worker']} workers and {killed['search']} searches killed: {study['completed']} "
        f"of {found['evaluations']} completed, {study['different_thetas']} different thetas, NLLs "
        f"off by at most {study['largest_error']:.0e}; best NLL {study['best_nll']:.6f}, "
        f"undisturbed {found['undisturbed_best_nll']:.6f}"
    )


def postgres(found: Any) -> str:
    study = found["study"]
    return (
        f"{found['searches']} searches on one study, {_killed(found)}: {study['completed']} "
        f"of {found['evaluations']} completed, {study['different_thetas']} different thetas; best "
        f"NLL {study['best_nll']:.6f}"
    )


def _killed(found: Any) -> str:
    if "killed" not in found:
        return f"{len(found['events'])} disturbances"
    killed = found["killed"]
    return (
        f"{killed['worker']} workers and {killed['search']} searches killed, the server restarted "
        f"{found['server_restarts']} time"
    )


def table(found: Any) -> str:
    lines = found["lines"]
    clean = sum(one["after"]["clean"] for one in lines.values())
    missing = [name for name in BEFORE if name not in lines]
    later = f"; not run yet: {', '.join(missing)}" if missing else ""
    return f"{clean} of {len(lines)} lines clean{later}"


def speedup(found: Any) -> str:
    said = []
    for acquisition, faster in found["faster"].items():
        times = ", ".join(f"{value:.2f}" for value in faster.values())
        said.append(f"{acquisition}: {times} times faster on {', '.join(faster)} workers")
    missing = [name for name in found["times"] if name not in found["faster"]]
    said += [f"{acquisition}: not measured" for acquisition in missing]
    for name, one in found["quality"].items():
        alone, many = (f"{one[key]['mean']:.4f}" for key in ("one_at_a_time", "eight_pending"))
        said.append(f"{name.replace('_', ' ')} {alone} one at a time, {many} with 8 pending")
    return "; ".join([*said, f"{found['seeds']} seeds"])


def overhead(found: Any) -> str:
    by_workers = {name: found[name] for name in ("this_process", "two_workers")}
    times = "; ".join(
        f"{name.replace('_', ' ')}: {one['milliseconds']:.1f} ms ({one['cpu_milliseconds']:.1f} ms "
        "of the processor)"
        for name, one in by_workers.items()
    )
    return f"at {found['evaluations']} evaluations, {times}"


def fuzz(found: Any) -> str:
    total = sum(one["mutations"] for one in found.values())
    wrong = sum(len(one["failures"]) for one in found.values())
    return f"{total} damaged files of {len(found)} kinds, {wrong} neither accepted nor refused"


def long_study(found: Any) -> str:
    last = found[-1]
    return (
        f"at {last['evaluations']} evaluations: ask {last['ask']['total']:.2f} s, with a fit from "
        f"scratch {last['refit']['total']:.1f} s, answer {last['answer']:.1f} s, "
        f"{last['megabytes']:.0f} MB"
    )


def federation(found: Any) -> str:
    rows = {row["method"]: row for row in found}
    over_http = rows["two sites, HTTP"]
    return (
        f"two sites against all demonstrations at one: thetas apart by "
        f"{over_http['thetas_apart']:g}, NLLs by {over_http['nll_apart']:g}"
    )


ROWS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "drill_cluster": ("python -m drills.cluster", cluster),
    "drill_postgres": ("python -m drills.postgres", postgres),
    "drill_table": ("python -m drills.table", table),
    "drill_speedup": ("python -m drills.speedup", speedup),
    "drill_overhead": ("python -m drills.overhead", overhead),
    "fuzz": ("python -m drills.fuzz", fuzz),
    "long_study": ("python benchmarks/long_study.py", long_study),
    "federation": ("boirl experiment federation", federation),
}
"""The command behind each file, and what is said of it."""


def results(folder: Path = RESULTS) -> str:
    """A Markdown table of what the files say, those that are there."""
    lines = ["| command | found | load |", "| --- | --- | --- |"]
    for name, (command, describe) in ROWS.items():
        file = folder / f"{name}.json"
        if file.exists():
            found = json.loads(file.read_text())
            machine = found.get("machine", {}) if isinstance(found, dict) else {}
            load = f"{machine['load']:.0f} on {machine['cores']} cores" if machine else ""
            lines.append(f"| `{command}` | {describe(found)} | {load} |")
    return "\n".join(lines)


def lines(folder: Path = RESULTS) -> str:
    """A Markdown table of what happened before and what happens now; empty without the file."""
    file = folder / "drill_table.json"
    if not file.exists():
        return ""
    rows = ["| drill | before | now | clean |", "| --- | --- | --- | --- |"]
    for name, one in json.loads(file.read_text())["lines"].items():
        clean = "yes" if one["after"]["clean"] else "no"
        short = IN_WORDS.get(name, _in_short)
        rows.append(f"| {name} | {one['before']} | {short(one['after'])} | {clean} |")
    return "\n".join(["", *rows])


def _memory(after: dict[str, Any]) -> str:
    """What numbers of links that once took all memory come to, in all columns of all files."""
    cases = [one for one in after.values() if isinstance(one, dict)]
    raised = " or ".join(sorted({one["raised"].split()[-1] for one in cases}))
    most = max(one["megabytes"] for one in cases)
    return f"{len(cases)} such numbers: {raised}, {most} MB at most"


def _messages(after: dict[str, Any]) -> str:
    """What is said of each kind of damage, without what to do about it."""
    said = {name: value for name, value in after.items() if isinstance(value, str)}
    reasons = {name: re.search(r"\((.*?)\)", value) for name, value in said.items()}
    return "; ".join(f"{name}: {found[1]}" for name, found in reasons.items() if found)


IN_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "memory corruption": _memory,
    "damaged and locked databases": _messages,
}
"""Drills whose numbers say little, or are too many for a table."""


def _in_short(after: dict[str, Any]) -> str:
    """What a drill found, without the messages themselves."""
    said = []
    for key, value in after.items():
        if isinstance(value, dict):
            inner = ", ".join(f"{name} {one}" for name, one in value.items() if name != "clean")
            said.append(f"{key}: {inner}")
        elif isinstance(value, bool | int | float) and key != "clean":
            said.append(f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}")
    return "; ".join(said).replace("_", " ")


def updated(page: str) -> str:
    """The page with the table of now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = "\n".join(one for one in (results(), lines()) if one)
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}"


def main() -> None:
    PAGE.write_text(updated(PAGE.read_text()))


if __name__ == "__main__":
    main()
