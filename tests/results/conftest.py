"""One search that the tests of results share, and made-up variants of it."""

from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.evaluation import Evaluation


@pytest.fixture(scope="session")
def found(gridworld):
    """A search of 25 evaluations."""
    return boirl.explore(gridworld, evaluations=25, seed=1003)


@pytest.fixture(scope="session")
def made_up(found):
    """Builder of the same search with other evaluations; an NLL of NaN stands for a failed one."""

    def build(nll, thetas=None, nll_se=None):
        given = found.thetas[: len(nll)] if thetas is None else thetas
        errors = np.zeros(len(nll)) if nll_se is None else nll_se
        rows = zip(found.problem.box.check(given).tolist(), nll, errors, strict=True)
        evaluations = tuple(Evaluation(tuple(theta), *numbers) for theta, *numbers in rows)
        return replace(found, evaluations=evaluations)

    return build
