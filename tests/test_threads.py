"""How many threads the numerical libraries work on."""

import numpy as np
import pytest
import torch
from threadpoolctl import ThreadpoolController

from boirl.threads import single_thread


@pytest.fixture(autouse=True)
def _several_threads():
    """Two threads everywhere to begin with; what there was is restored."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with ThreadpoolController().limit(limits=2):
        yield
    torch.set_num_threads(before)


def pools():
    """Threads of each numerical library that is loaded."""
    np.ones((2, 2)) @ np.ones((2, 2))
    return {one["filepath"]: one["num_threads"] for one in ThreadpoolController().info()}


class OddError(Exception):
    pass


def test_inside_there_is_one_thread_and_afterwards_as_many_as_before():
    before = pools()
    assert before
    assert max(before.values()) == 2
    with single_thread():
        assert torch.get_num_threads() == 1
        assert set(pools().values()) == {1}
    assert torch.get_num_threads() == 2
    assert pools() == before


def test_an_error_restores_the_threads_too():
    before = pools()
    with pytest.raises(OddError), single_thread():
        raise OddError
    assert torch.get_num_threads() == 2
    assert pools() == before


def test_it_may_be_used_inside_itself():
    with single_thread():
        with single_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
        assert set(pools().values()) == {1}
    assert torch.get_num_threads() == 2


def test_evaluations_and_searches_restore_the_threads(random_problem):
    problem = random_problem(1000)
    before = pools()
    problem.evaluate((1.0, -1.0))
    problem.nll_batch([(1.0, -1.0), (0.5, 0.5)])
    assert torch.get_num_threads() == 2
    assert pools() == before
