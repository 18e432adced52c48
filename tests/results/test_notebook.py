"""Results as a notebook shows them."""

from boirl.baselines import BaselineRun
from boirl.results.findings import Finding, Health


def test_a_search_shows_groups_and_parameters(found):
    page = found._repr_html_()
    assert f"best NLL {found.best_nll:.4f}" in page
    assert page.count("<tr>") == 2 + len(found.groups()) + len(found.names)
    for name in found.names:
        assert f"<td style='text-align:right'>{name}</td>" in page


def test_what_needs_attention_comes_first(found, monkeypatch):
    health = Health([Finding("edge <of> the box", True, "widen it")])
    monkeypatch.setattr(type(found), "health", lambda self: health)
    page = found._repr_html_()
    assert page.index("edge &lt;of&gt; the box: widen it") < page.index("best NLL")


def test_a_baseline_shows_its_best(found):
    run = BaselineRun(found.problem, found.evaluations[:3], "random")
    assert "random: 3 evaluations" in run._repr_html_()


def test_problems_show_their_parameters(found):
    page = found.problem._repr_html_()
    assert page.startswith("<p><strong>TabularProblem(")
    assert page.count("<tr>") == 1 + len(found.problem.reward.parameters)
