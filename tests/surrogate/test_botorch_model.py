"""A surrogate as a BoTorch model."""

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement

from boirl.surrogate.botorch_model import MarginalModel


def test_the_posterior_is_that_of_the_surrogate(surrogate, evaluations, elsewhere):
    fitted = surrogate.fit(*evaluations)
    unit = torch.tensor(surrogate.box.to_unit(elsewhere))
    with torch.no_grad():
        found = MarginalModel(fitted).posterior(unit)
        mean, sd = fitted.marginals(unit)
    torch.testing.assert_close(found.mean[:, 0], mean)
    torch.testing.assert_close(found.variance[:, 0].sqrt(), sd, rtol=1e-3, atol=1e-4)


def test_acquisitions_of_botorch_work_on_it(surrogate, evaluations):
    model = MarginalModel(surrogate.fit(*evaluations, draws=1))
    points = torch.tensor(np.random.default_rng(0).random((4, 1, 3)))
    best = float(evaluations[1].min())
    analytic = LogExpectedImprovement(model, best, maximize=False)(points)
    sampled = qLogExpectedImprovement(model, best)(points.reshape(2, 2, 3))
    assert torch.isfinite(analytic).all()
    assert torch.isfinite(sampled).all()
