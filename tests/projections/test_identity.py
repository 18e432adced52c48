"""No projection: the surrogate works on theta itself."""

import numpy as np
import torch

from boirl.projections import Identity
from boirl.types import Box

BOX = Box(("a", "b"), np.array([-1.0, 2.0]), np.array([3.0, 5.0]))


def test_theta_is_its_own_latent_point():
    identity = Identity(BOX)
    thetas = torch.tensor([[0.5, 3.0], [-1.0, 5.0]], dtype=torch.float64)
    assert identity.dimension == 2
    assert torch.equal(identity.transform(thetas), thetas)
    assert torch.equal(identity.project_many(thetas), thetas)


def test_its_range_is_the_box():
    low, high = Identity(BOX).range_over(BOX)
    assert low.tolist() == BOX.low.tolist()
    assert high.tolist() == BOX.high.tolist()


def test_it_has_no_opinion_and_no_compression():
    identity = Identity(BOX)
    assert identity.likeliest(BOX) is None
    latent = torch.tensor([[0.5, 3.0]])
    assert identity.compress(latent) is latent
    assert not identity.is_saturated(BOX)
    assert identity.fingerprint() == ""
