"""Two answers side by side."""

from dataclasses import replace

from boirl.report.comparison import compare_answers


def test_the_same_problem_is_recognised(answer):
    compared = compare_answers(answer, answer)
    assert "neither best reward is rejected" in compared["note"]
    assert all(one == other for _, one, other in compared["rows"])
    assert ("evaluations", "14", "14") in compared["rows"]


def test_a_worse_best_is_rejected(answer, found):
    worse = replace(
        found, evaluations=tuple(replace(one, nll=one.nll + 5.0) for one in found.evaluations)
    )
    compared = compare_answers(answer, replace(answer, result=worse))
    assert "the best reward of B is rejected against that of A" in compared["note"]


def test_other_problems_are_told_apart(answer, found, street):
    fewer = street.with_demonstrations(street.demonstrations.subset([0]))
    other = replace(answer, result=replace(found, problem=fewer))
    assert "different problems" in compare_answers(answer, other)["note"]
