"""The answer in words."""

from dataclasses import replace

import numpy as np

from boirl.results.findings import Finding, Health
from boirl.results.report import describe, parameter_lines
from boirl.types import Difference


def test_it_leads_with_the_likelihood_ratio_set(found):
    lines = describe(found, 2000).splitlines()
    tolerance = found.likelihood_ratio_tolerance()
    count = len(found.within(tolerance, absolute=True))
    assert lines[0] == "gridworld: 25 evaluations"
    assert lines[1].startswith(f"not rejected at 95 % by a likelihood-ratio test: {count} of them")
    assert f"{found.best_nll + tolerance:.4f} ({tolerance:.3g} above the best)" in lines[1]
    assert "needs attention:" not in lines


def test_rejected_groups_are_marked(found):
    text = describe(found, 2000).splitlines()
    limit = found.best_nll + found.likelihood_ratio_tolerance()
    first = next(n for n, line in enumerate(text) if "of the box" in line) + 1
    groups = found.groups()
    rows = text[first : first + len(groups)]
    assert [row.endswith("rejected") for row in rows] == [group.nll > limit for group in groups]
    assert any(group.nll > limit for group in groups)


def test_all_that_is_not_rejected_is_shown_where_the_test_rejects_little(found, monkeypatch):
    assert f"{len(found.groups())} distinct behaviours within 10 %" in describe(found, 2000)
    wide = 0.5 * found.best_nll
    monkeypatch.setattr(type(found), "likelihood_ratio_tolerance", lambda self: wide)
    groups = found.groups(wide, absolute=True)
    text = describe(found, 2000)
    assert f"{len(groups)} distinct behaviours not rejected, best reward of each:" in text
    assert "  rejected" not in text
    monkeypatch.setattr("boirl.results.report.SHOWN_ROWS", 1)
    assert f"\n    and {len(groups) - 1} more\n" in describe(found, 2000)


def test_what_needs_attention_stands_before_the_table(found, monkeypatch):
    bad = Finding("region unsearched", True, "half of the posterior")
    monkeypatch.setattr(type(found), "health", lambda self: Health([bad]))
    lines = describe(found, 2000).splitlines()
    place = lines.index("needs attention:")
    assert lines[place + 1] == "  ! region unsearched: half of the posterior"
    assert place < next(n for n, line in enumerate(lines) if "distinct behaviour" in line)


def test_every_parameter_has_its_line(found):
    summary = found.parameter_summary()
    text = describe(found, 2000)
    for line, one in zip(parameter_lines(summary), summary, strict=True):
        assert line in text
        assert line.split()[0] == one.name
        assert f"{one.low:.4g} to {one.high:.4g}, {one.median:.4g}" in line
        assert one.verdict in line


def test_ties_are_named(found):
    assert "rewards tied: changing translation by 8" in describe(found, 2000)


def test_verification_is_suggested_where_it_is_quick(found):
    quick = replace(
        found, evaluations=tuple(replace(one, seconds=2e-3) for one in found.evaluations)
    )
    text = describe(quick, 2000)
    assert "an evaluation takes 2 ms: found.verify()" in text
    assert "about 4 s" in text
    assert "verify()" not in describe(quick, 10**6)
    unknown = replace(
        found, evaluations=tuple(replace(one, seconds=0.0) for one in found.evaluations)
    )
    assert "verify()" not in describe(unknown, 2000)


def test_failed_evaluations_are_counted(found, made_up):
    failed = made_up(np.where(np.arange(25) < 2, np.nan, found.nll))
    assert "25 evaluations, 2 of them failed" in describe(failed, 2000)


def test_reasons_of_failures_are_told_the_commonest_first(found):
    reasons = ["diverges"] * 2 + ["crashed"] * 3 + ["a", "b", "c"]
    failed = [
        replace(one, nll=np.nan, failure=reason, log_likelihoods=None, gradient=None)
        for one, reason in zip(found.evaluations, reasons, strict=False)
    ]
    told = describe(replace(found, evaluations=(*failed, *found.evaluations[8:])), 2000)
    assert told.splitlines()[1:5] == [
        "  failed, 3 of them: crashed",
        "  failed, 2 of them: diverges",
        "  failed, 1 of them: a",
        "  and for 2 further reasons",
    ]


def test_behaviours_differ_at_places_with_names(found, monkeypatch):
    lines = describe(found, 2000).splitlines()
    assert not any("differs from 1" in line for line in lines)
    count = len(found.groups())
    assert count > 1
    apart = Difference(3, 0, 1, 0.5, names=("house 3", "left", "right"))
    monkeypatch.setattr(type(found), "differences", lambda *given, n: [apart])
    named = [line.strip() for line in describe(found, 2000).splitlines() if "differs from" in line]
    assert named[0] == "2 differs from 1 most at house 3: left, not right"
    assert len(named) == count - 1
    apart = Difference(3, 0, 0, 0.5, names=("house 3", "left", "left"))
    assert "2 differs from 1 most at house 3: mostly left in both, choices 50% apart" in (
        describe(found, 2000)
    )
