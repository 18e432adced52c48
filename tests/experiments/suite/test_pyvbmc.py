"""The optional PyVBMC."""

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments.suite import pyvbmc
from boirl.experiments.suite.catalogue import suite_problem


def test_too_few_evaluations_are_refused():
    with pytest.raises(InvalidInputError, match=r"evaluations is 4; PyVBMC needs at least 10"):
        pyvbmc.run(suite_problem("mdp-few", 1000), 4, 0, 10)


@pytest.mark.skipif(not pyvbmc.installed(), reason="needs the extra boirl[suite]")
@pytest.mark.filterwarnings("ignore")
def test_it_samples_the_posterior(capsys):
    problem = suite_problem("mdp-few", 1000)
    fitted = pyvbmc.run(problem, 15, 0, 200)
    assert fitted.samples.shape == (200, problem.box.dimension)
    assert ((fitted.samples >= problem.box.low) & (fitted.samples <= problem.box.high)).all()
    assert 10 <= len(fitted.nll) <= 20
    again = pyvbmc.run(problem, 15, 0, 200)
    np.testing.assert_array_equal(fitted.nll, again.nll)
    assert capsys.readouterr().out == ""
