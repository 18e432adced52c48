"""Descents one after another, handed out by steps."""

from dataclasses import dataclass

import pytest

from boirl.baselines.descents import MAX_DESCENTS, DescentBaseline, DescentState
from boirl.evaluation import Evaluation


@dataclass(frozen=True)
class Stairs(DescentBaseline):
    """As many evaluations as the number of the descent."""

    name, summary = "stairs", "nothing else"

    def check(self, problem):
        pass

    def descend(self, problem, seed, number):
        theta = tuple(problem.box.low.tolist())
        return [Evaluation(theta, float(10 * number + n), seconds=2.0) for n in range(number)]


def test_a_descent_is_made_when_the_last_one_is_used_up(random_problem):
    run = Stairs().run(random_problem(0), 6, seed=1)
    assert run.nll.tolist() == [10.0, 20.0, 21.0, 30.0, 31.0, 32.0]
    assert run.seconds.tolist() == [2.0] * 6


def test_a_state_returns_from_its_parts(random_problem):
    state = Stairs().begin(random_problem(0), 3)
    for _ in range(2):
        Stairs().advance(random_problem(0), state, lambda *_: None)
    again = Stairs().unpack(random_problem(0), Stairs().pack(state))
    assert isinstance(again, DescentState)
    assert (again.seed, again.descents) == (3, 2)
    assert [one.nll for one in again.waiting] == [21.0]


@pytest.mark.parametrize(
    "change",
    [{"descents": -1}, {"descents": MAX_DESCENTS + 1}, {"waiting": [1.0]}, {"seed": "three"}],
)
def test_parts_of_something_else_are_refused(change, random_problem):
    packed = {"seed": 3, "descents": 1, "waiting": [], **change}
    with pytest.raises((ValueError, TypeError)):
        Stairs().unpack(random_problem(0), packed)
