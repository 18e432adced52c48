"""The rewards that count in the worst case: those that a likelihood-ratio test does not reject."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boirl.constraints import NO_CONSTRAINTS
from boirl.decisions.ensemble import Ensemble, policies_to_solve, solved_ensemble, verified_rewards
from boirl.results.feasible import exact_nll
from boirl.types import FloatArray

if TYPE_CHECKING:
    from boirl.results import RewardSet

PLAUSIBLE_STREAM = 40
MOST_JOINING = 128
"""Rewards that join an ensemble, beside the evaluations of the search."""


def with_plausible(
    found: RewardSet, ensemble: Ensemble, alone: bool, policies: int | None = None, seed: int = 0
) -> Ensemble:
    """An ensemble with the rewards that a likelihood-ratio test at 95 % does not reject.

    Those that join have no weight. The best is among them.

    Args:
        found: The answer of a search.
        ensemble: Rewards that stand for its posterior.
        alone: Whether rewards of the ensemble that are rejected are left out.
        policies: See `boirl.decisions.ensemble`.
        seed: Of everything random.
    """
    number = policies_to_solve(found, policies)
    if number:
        return _solved(found, ensemble, alone, number, seed)
    return _kept(found, ensemble, alone)


def _solved(
    found: RewardSet, ensemble: Ensemble, alone: bool, policies: int, seed: int
) -> Ensemble:
    """By exact NLLs: of the ensemble, of the evaluations, and of rewards that were verified."""
    measurable = found.constraints.is_measurable
    known = found if measurable else replace(found, constraints=NO_CONSTRAINTS)
    own = exact_nll(known, ensemble.thetas)
    thetas, nll = [found.thetas[found.feasible]], [found.nll[found.feasible]]
    verified = verified_rewards(found, policies, seed)
    if verified is not None:
        order = np.random.default_rng([seed, PLAUSIBLE_STREAM]).permutation(len(verified.nll))
        thetas.append(verified.thetas[order])
        nll.append(verified.nll[order])
    joining, theirs = np.concatenate(thetas), np.concatenate(nll)
    limit = float(np.nanmin(np.concatenate([own, theirs]))) + found.likelihood_ratio_tolerance()
    kept = own <= limit if alone else np.ones(len(own), dtype=bool)
    most = len(thetas[0]) + MOST_JOINING
    joining = _new(joining[theirs <= limit], ensemble.thetas[kept])[:most]
    weights = np.concatenate([ensemble.weights[kept], np.zeros(len(joining))])
    everything = np.concatenate([ensemble.thetas[kept], joining])
    return solved_ensemble(found.problem, everything, _shares(weights))


def _kept(found: RewardSet, ensemble: Ensemble, alone: bool) -> Ensemble:
    """By the evaluations that kept their policies, of which the ensemble consists."""
    plausible = found.indices_within(found.likelihood_ratio_tolerance(), absolute=True)
    usable = [int(number) for number in plausible if found.evaluations[number].policies]
    inside = {tuple(theta) for theta in found.thetas[usable].tolist()}
    own = [tuple(theta) for theta in ensemble.thetas.tolist()]
    kept = [number for number, theta in enumerate(own) if theta in inside or not alone]
    known = {own[number] for number in kept}
    joining = [number for number in usable if tuple(found.thetas[number].tolist()) not in known]
    weights = np.concatenate([ensemble.weights[kept], np.zeros(len(joining))])
    return Ensemble(
        ensemble.problem,
        np.concatenate([ensemble.thetas[kept], found.thetas[joining]]),
        _shares(weights),
        (*(ensemble.policies[number] for number in kept), *found.policies(joining)),
    )


def _new(thetas: FloatArray, known: FloatArray) -> FloatArray:
    """Those of some thetas that are not known yet."""
    taken = {tuple(theta) for theta in known.tolist()}
    return thetas[[tuple(theta) not in taken for theta in thetas.tolist()]]


def _shares(weights: FloatArray) -> FloatArray:
    total = float(weights.sum())
    return weights / total if total > 0.0 else np.full(len(weights), 1.0 / len(weights))
