"""Every imitator goes on from what it packed as if nothing had happened."""

import numpy as np
import pytest

from boirl.baselines.imitation_networks import NetworkImitator
from boirl.baselines.imitation_tables import TableImitator
from boirl.problem.likelihood import negative_log_likelihood


@pytest.fixture(params=["tables", "networks"])
def build(request, random_problem):
    if request.param == "tables":
        problem = random_problem(0)
        return problem, lambda seed: TableImitator(problem, steps=2)
    pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")
    from tests.baselines.small_maze import small_maze

    problem = small_maze()
    return problem, lambda seed: NetworkImitator(problem, seed, steps=2, hidden=(4,))


def test_what_is_packed_goes_on_alike(build):
    problem, make = build
    one, rng = make(0), np.random.default_rng(0)
    one.improve(rng)
    other = make(1)
    packed = one.pack()
    other.unpack({**packed, "rng": np.random.default_rng(5)})
    if hasattr(one, "experience"):
        one.experience.rng = np.random.default_rng(5)
    for imitator in (one, other):
        imitator.improve(np.random.default_rng(3))
    nll = [negative_log_likelihood(each.policy(), problem.demonstrations) for each in (one, other)]
    assert nll[0] == nll[1]


def test_what_does_not_fit_is_refused(build):
    _, make = build
    one = make(0)
    packed = one.pack()
    name = "logits" if "logits" in packed else "states"
    with pytest.raises(ValueError, match="shape"):
        one.unpack({**packed, name: np.zeros((2, 2))})
