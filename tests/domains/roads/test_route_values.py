"""The linear systems of route choice, against dense matrices without a trick."""

import numpy as np
import pytest
import scipy.sparse as sp

from boirl.domains.roads.route_values import (
    Absorbing,
    Passing,
    Separate,
    dot_rows,
    factorise,
    solve_system,
)
from boirl.errors import SolverError

N, LINKS = 12, ((3,), (0, 5, 7), (7, 3), (11,))


@pytest.fixture(scope="module", params=range(3))
def weights(request):
    rng = np.random.default_rng(request.param)
    dense = rng.random((N, N)) * (rng.random((N, N)) < 0.4)
    return sp.csr_array(0.9 * dense / np.abs(np.linalg.eigvals(dense)).max())


@pytest.fixture(scope="module")
def leads_to():
    dense = np.zeros((N, len(LINKS)))
    for number, links in enumerate(LINKS):
        dense[list(links), number] = 1.0
    return sp.csc_array(dense)


def dense_system(weights, absorbing):
    for links in LINKS:
        own = weights.toarray()
        if absorbing:
            own[list(links)] = 0.0
        yield np.linalg.inv(np.eye(N) - own), list(links)


@pytest.mark.parametrize("kind", [Passing, Absorbing, Separate])
def test_values_and_visits_are_those_of_dense_matrices(weights, leads_to, kind):
    first = weights if kind is Separate else factorise(weights)
    system = kind(first, leads_to)
    rng = np.random.default_rng(5)
    origins, numbers = rng.integers(N, size=30), rng.integers(len(LINKS), size=30)
    counts = rng.random(30)
    visits = system.visits(origins, numbers, counts)
    for number, (inverse, links) in enumerate(dense_system(weights, kind is not Passing)):
        z = inverse[:, links].sum(axis=1)
        np.testing.assert_allclose(system.z[:, number], z, rtol=1e-10)
        own = numbers == number
        sources = np.bincount(origins[own], counts[own], N)
        expected = sources @ inverse
        if kind is not Passing:
            # What is left of a link that absorbs is nothing.
            expected[links] = 0.0
        np.testing.assert_allclose(visits[:, number], expected, rtol=1e-9, atol=1e-12)


def test_a_sum_that_diverges_has_no_factors(weights):
    assert factorise(weights) is not None
    assert factorise(sp.csr_array(weights * 1.2)) is None


def test_destinations_that_absorb_are_solved_for_one_by_one_where_circles_lead_over_them():
    # Links 0 and 1 in a circle that gains, which a trip to link 1 cannot close.
    gains = sp.csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))
    to_one = sp.csc_array(np.array([[0.0], [1.0]]))
    assert type(solve_system(gains, to_one, absorbing=True)) is Separate
    np.testing.assert_array_equal(solve_system(gains, to_one, True).z, [[2.0], [1.0]])
    with pytest.raises(SolverError, match=r"diverges: .* mean utility of a turn is 0.693"):
        solve_system(gains, to_one, absorbing=False)
    aside = sp.csr_array(np.array([[0.0, 2.0, 0.1], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    with pytest.raises(SolverError, match="diverges"):
        solve_system(aside, sp.csc_array(np.array([[0.0], [0.0], [1.0]])), absorbing=True)


def test_shared_and_separate_solutions_agree(weights, leads_to):
    shared = solve_system(weights, leads_to, absorbing=True)
    assert type(shared) is Absorbing
    np.testing.assert_allclose(shared.z, Separate(weights, leads_to).z, rtol=1e-10)


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_rows_are_multiplied_in_chunks(monkeypatch, chunk):
    monkeypatch.setattr("boirl.domains.roads.route_values.CHUNK", chunk)
    rng = np.random.default_rng(0)
    one, other = rng.random((2, 5, 3))
    rows, others = rng.integers(5, size=(2, 11))
    expected = (one[rows] * other[others]).sum(axis=1)
    np.testing.assert_allclose(dot_rows(one, other, rows, others), expected)
