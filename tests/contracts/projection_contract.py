"""What every projection must do.

class TestMyProjection(ProjectionContract):
    @pytest.fixture
    def projection(self, problem, log_rho):
        return MyProjection(problem, log_rho.demonstrations, log_rho.rollouts)
"""

import numpy as np
import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import InputTransform

from boirl.projections import LogRho
from boirl.surrogate.kernels import KernelSpec
from boirl.surrogate.latent import LatentSpace

KERNELS = [
    KernelSpec(f"{smoothness}-{linear}", projected=True, smoothness=smoothness, linear=linear)
    for smoothness in (None, 1.5, 2.5)
    for linear in (False, True)
]


class ProjectionContract:
    """Tests of a projection of the rewards of Gridworld; a subclass has a fixture `projection`."""

    @pytest.fixture
    def problem(self, gridworld):
        return gridworld

    @pytest.fixture
    def log_rho(self, gridworld_log_rho):
        """Five demonstrations of the problem and their roll-outs."""
        return gridworld_log_rho

    @pytest.fixture
    def projection(self):
        raise NotImplementedError("a subclass gives the projection")

    @pytest.fixture
    def thetas(self, problem):
        return torch.tensor(problem.box.from_unit(np.random.default_rng(0).random((6, 3))))

    @pytest.mark.parametrize("batch", [(), (1,), (6,), (2, 3), (2, 1, 3)])
    def test_a_latent_point_for_every_theta(self, projection, thetas, batch):
        given = thetas[: int(np.prod(batch))].reshape(*batch, 3)
        latent = projection.transform(given)
        assert latent.shape == (*batch, projection.dimension)
        assert latent.dtype == torch.float64

    def test_thetas_do_not_influence_each_other(self, projection, thetas):
        singly = torch.stack([projection.transform(theta) for theta in thetas])
        torch.testing.assert_close(projection.transform(thetas), singly, rtol=1e-12, atol=1e-12)

    def test_arrays_lists_and_tensors_give_the_same(self, projection, thetas):
        expected = projection.transform(thetas)
        assert torch.equal(projection.transform(thetas.numpy()), expected)
        assert torch.equal(projection.transform(thetas.tolist()), expected)

    def test_many_thetas_in_parts_are_the_same(self, projection, thetas, monkeypatch):
        monkeypatch.setattr("boirl.projections.base.PROJECTED_AT_ONCE", 4)
        expected = projection.project(thetas)
        found = projection.project_many(thetas)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
        assert projection.project_many(thetas.clone()) is projection.project_many(thetas)
        before = expected.clone()
        thetas[0] += 0.1
        assert not torch.equal(projection.project_many(thetas)[0], before[0])

    def test_gradients_match_finite_differences(self, projection, thetas):
        assert torch.autograd.gradcheck(projection.transform, thetas.clone().requires_grad_())

    def test_it_is_finite_in_every_corner_of_the_box(self, projection, problem):
        corners = np.array(list(np.ndindex(2, 2, 2)), dtype=np.float64)
        assert torch.isfinite(projection.transform(problem.box.from_unit(corners))).all()

    def test_the_range_holds_almost_everything(self, projection, problem):
        low, high = projection.range_over(problem.box)
        drawn = problem.box.from_unit(np.random.default_rng(1).random((500, 3)))
        latent = projection.transform(drawn)
        margin = 0.05 * (high - low)
        assert (high > low).all()
        assert ((latent >= low - margin) & (latent <= high + margin)).all()

    def test_the_range_is_the_same_every_time(self, projection, problem):
        first, again = (projection.range_over(problem.box) for _ in range(2))
        assert torch.equal(first, again)

    def test_it_is_not_saturated(self, projection, problem):
        assert not projection.warn_if_saturated(problem.box)

    def test_compression_keeps_the_order(self, projection, problem):
        latent = projection.transform(
            problem.box.from_unit(np.random.default_rng(2).random((50, 3)))
        )
        compressed = projection.compress(latent)
        assert torch.isfinite(compressed).all()
        assert torch.equal(compressed.argsort(dim=0), latent.argsort(dim=0))

    def test_two_rewards_that_behave_differently_are_separated(self, projection):
        latent = projection.transform([[1.25, 5.0, 0.0], [-2.0, -5.0, 0.0]])
        assert float((latent[0] - latent[1]).abs().max()) > 1e-3

    def test_the_fingerprint_is_the_same_every_time(self, projection):
        assert projection.fingerprint() == projection.fingerprint()

    @pytest.mark.filterwarnings("ignore::botorch.exceptions.InputDataWarning")  # not scaled here
    def test_botorch_takes_it_as_an_input_transform(self, projection, thetas):
        assert isinstance(projection, InputTransform)
        outputs = torch.linspace(-1.0, 1.0, 6, dtype=torch.float64)[:, None]
        model = SingleTaskGP(thetas, outputs, input_transform=projection, outcome_transform=None)
        torch.testing.assert_close(model.eval().train_inputs[0], projection.transform(thetas))

    @pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
    def test_kernels_on_it_are_positive_semi_definite(self, projection, problem, kernel):
        unit = np.random.default_rng(2).random((30, 3))
        unit[20:] = unit[:10]  # the same theta twice
        unit[10:20, :2] = unit[:10, :2]  # the same behaviour twice: only the translation differs
        space = LatentSpace.of(
            projection, problem.box, "linear", projection.range_over(problem.box)
        )
        inputs = space.inputs(torch.tensor(unit))
        values = {
            prior.name: torch.full((prior.size,), prior.median, dtype=torch.float64)
            for prior in kernel.priors(3)
        }
        covariance = kernel.covariance(inputs.against(inputs), values)
        eigenvalues = torch.linalg.eigvalsh(covariance)
        assert float(eigenvalues.min()) >= -1e-10 * float(eigenvalues.max())
        torch.testing.assert_close(covariance, covariance.mT)


class RolloutProjectionContract(ProjectionContract):
    """Tests of a projection that compares demonstrations with roll-outs."""

    def test_it_keeps_what_it_was_made_of(self, projection, problem, log_rho):
        assert isinstance(projection, LogRho)
        assert projection.dimension == len(log_rho.demonstrations)
        again = type(projection)(problem, projection.demonstrations, projection.rollouts)
        assert again.fingerprint() == projection.fingerprint()
        thetas = problem.box.from_unit(np.random.default_rng(3).random((4, 3)))
        assert torch.equal(again.transform(thetas), projection.transform(thetas))

    def test_the_fingerprint_is_of_demonstrations_and_roll_outs(self, projection, problem):
        shown, rollouts = projection.demonstrations, projection.rollouts
        swapped = type(projection)(problem, shown, [rollouts[1], rollouts[0], *rollouts[2:]])
        fewer = type(projection)(problem, shown.subset([0, 1]), rollouts[:2])
        prints = {one.fingerprint() for one in (projection, swapped, fewer)}
        assert len(prints) == 3

    def test_a_constant_reward_more_changes_nothing(self, projection):
        translated = [[1.25, 5.0, -4.0], [1.25, 5.0, 0.0], [1.25, 5.0, 4.0]]
        latent = projection.transform(translated)
        torch.testing.assert_close(latent, latent[:1].expand(3, -1), rtol=0.0, atol=1e-8)

    def test_an_opinion_on_the_likeliest_theta_is_in_the_unit_cube(self, projection, problem):
        assert projection.likeliest(problem.box) is None
        opinionated = type(projection)(
            problem, projection.demonstrations, projection.rollouts, compares_policies=True
        )
        unit = opinionated.likeliest(problem.box)
        assert unit.shape == (3,)
        assert ((unit >= 0.0) & (unit <= 1.0)).all()
        best = opinionated.transform(problem.box.from_unit(unit)).mean()
        drawn = problem.box.from_unit(np.random.default_rng(4).random((200, 3)))
        assert best >= opinionated.transform(drawn).mean(dim=-1).max()
