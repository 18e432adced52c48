"""Findings: what needs attention comes first."""

from boirl.results.findings import Finding, Health

GOOD = Finding("predictions", False, "all were right", {"coverage": 1.0})
BAD = Finding("region unsearched", True, "half of the posterior")


def test_what_needs_attention_comes_first():
    health = Health([GOOD, BAD, GOOD])
    assert list(health) == [BAD, GOOD, GOOD]
    assert health.attention == (BAD,)
    assert not health.is_good
    assert Health([GOOD]).is_good
    assert Health().is_good


def test_findings_are_found_by_name():
    health = Health([GOOD, BAD])
    assert health.named("predictions") is GOOD
    assert health.named("weather") is None


def test_findings_print_one_line_each():
    assert str(Health([GOOD, BAD])).splitlines() == [
        "! region unsearched: half of the posterior",
        "  predictions: all were right",
    ]
    assert repr(Health([GOOD, BAD])) == "Health(2 findings, 1 need attention)"
