"""What agrees and what does not, from result files."""

from boirl.reproduction import findings
from boirl.reproduction.findings import FINDINGS
from tests.reproduction.conftest import add_facts, add_trial


def test_every_claim_names_its_command(results):
    texts = [finding(results) for finding in FINDINGS]
    assert all(texts)
    assert all("`boirl reproduce " in text for text in texts[:-1])


def test_claims_without_results_are_left_out(nothing):
    kept = [finding for finding in FINDINGS if finding(nothing)]
    assert kept == [findings.simulated_trips, findings.other_differences]


def test_methods_are_ranked_on_the_trials_that_they_share(nothing):
    for seed in (0, 1):
        add_trial(nothing, "gridworld", "exact", "random", seed, 20)
        add_trial(nothing, "gridworld", "exact", "rho-rbf", seed, 1)
    add_trial(nothing, "gridworld", "exact", "rho-rbf", 2, None)
    text = findings.order_of_methods(nothing)
    assert "in 67% of 3 trials after 1.0 evaluations" in text
    assert "In the 2 trials that 2 methods have in common it is number 1" in text
    add_trial(nothing, "gridworld", "exact", "rbf", 7, 1)
    assert findings.order_of_methods(nothing) is None


def test_trials_are_told_apart_by_what_the_exact_rule_asks_for(nothing):
    for seed, hit in ((0, 1), (1, 3)):
        add_trial(nothing, "gridworld", "exact", "rho-rbf", seed, hit)
    assert findings.two_kinds_of_demonstrations(nothing) is None
    add_trial(nothing, "gridworld", "exact", "rho-rbf", 2, None, attainable=False)
    add_facts(nothing, "gridworld", 2, attainable=False)
    text = findings.two_kinds_of_demonstrations(nothing)
    assert "the expert's ESOR in 100% of 2 trials after 2.0 evaluations" in text
    assert "NLL, which is 0.63 to 0.63 tolerances of a likelihood-ratio test" in text
    assert "in 0% of 1 trials." in text


def test_numbers_come_from_the_files(results):
    assert "`rho-rbf` reaches the expert in 100% of 4 trials" in findings.order_of_methods(results)
    assert "97% of the box" in findings.saturation(results)
    assert "2 of 2 sets of demonstrations have" in findings.unreachable_thresholds(results)
    assert "Borlange, box of the text 4%, about 25" in findings.flat_box(results)
    assert "For 1 of 2 sets" in findings.chosen_demonstrations(results)
