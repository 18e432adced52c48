"""The projections that come with boirl, held to the contract."""

import pytest

import boirl.projections
from boirl.projections import PROJECTIONS, Canonical, Identity, LogRho, Projection, Rho
from tests.contracts.projection_contract import ProjectionContract, RolloutProjectionContract


class TestIdentity(ProjectionContract):
    @pytest.fixture
    def projection(self, problem):
        return Identity(problem.box)


class TestLogRho(RolloutProjectionContract):
    @pytest.fixture
    def projection(self, problem, log_rho):
        return LogRho(problem, log_rho.demonstrations, log_rho.rollouts)


class TestRho(RolloutProjectionContract):
    @pytest.fixture
    def projection(self, problem, log_rho):
        return Rho(problem, log_rho.demonstrations, log_rho.rollouts)


class TestCanonical(RolloutProjectionContract):
    @pytest.fixture
    def projection(self, problem, log_rho):
        return Canonical(problem, log_rho.demonstrations, log_rho.rollouts)


def test_every_public_projection_is_held_to_the_contract():
    public = [getattr(boirl.projections, name) for name in boirl.projections.__all__]
    classes = {one for one in public if isinstance(one, type) and issubclass(one, Projection)}
    held = {Identity, LogRho, Rho, Canonical}
    assert classes - {Projection} == held
    assert set(PROJECTIONS.values()) <= held
