"""How far to trust the answer of a search: all checks, from what was evaluated alone.

Nothing is solved. Every threshold is that of a test at 95 %, or one in twenty samples.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import chi2

from boirl.projections import Identity
from boirl.results.findings import Finding, Health
from boirl.results.inference import ParameterSummary, summarise_parameters
from boirl.results.informativeness import ONE_IN_TWENTY, check_informative
from boirl.results.optimality import Slopes, check_edge, check_jumps, check_stalled, check_ties
from boirl.results.predictions import check_predictions
from boirl.types import FloatArray

if TYPE_CHECKING:
    from boirl.results.reward_set import RewardSet

HALF = 0.5


def examine(found: RewardSet, seed: int = 0) -> Health:
    """All findings; see `RewardSet.health`."""
    samples, slopes = found.sample(seed=seed), Slopes.of(found)
    unsearched = check_unsearched(found, found.sample(seed=seed, possible=True))
    predictions = check_predictions(found)
    doubtful = unsearched.needs_attention or (
        predictions is not None and predictions.needs_attention
    )
    # Where constraints cut the optimum off, slopes do not vanish at the best solution.
    findings = [
        None if found.constraints else check_stalled(found, slopes, samples),
        None if found.constraints else check_edge(found, slopes),
        unsearched,
        predictions,
        check_projection(found, doubtful),
        None if len(slopes.numbers) else check_noise(found),
        check_failures(found, samples),
        check_informative(found),
        check_ties(found, slopes),
        check_jumps(slopes),
    ]
    return Health(one for one in findings if one is not None)


def known_well(found: RewardSet, thetas: FloatArray) -> np.ndarray:
    """At which thetas `n x d` the NLL is known to within the likelihood-ratio tolerance, `n`."""
    return found.predict_nll(thetas)[1] <= found.likelihood_ratio_tolerance()


def check_unsearched(found: RewardSet, samples: FloatArray) -> Finding:
    """Whether rewards are possible, by samples of what is, because nobody looked.

    Where the predicted standard deviation exceeds the likelihood-ratio tolerance, the surrogate
    does not know whether a reward is rejected. One in twenty samples there is too many.
    """
    share = float(1.0 - known_well(found, samples).mean())
    data = {"share": share, "tolerance": found.likelihood_ratio_tolerance()}
    text = (
        f"{share:.0%} of the possible rewards lie where the NLL is not known well enough to reject"
    )
    if share <= ONE_IN_TWENTY:
        return Finding("region unsearched", False, text, data)
    return Finding("region unsearched", True, f"{text}; run more evaluations, or verify", data)


def check_projection(found: RewardSet, doubtful: bool) -> Finding | None:
    """Over which share of the box rewards look alike to the projection.

    Blind over half of the box, a projection is no help; that needs attention if the surrogate did
    not make up for it.
    """
    projection = found.surrogate.projection
    if isinstance(projection, Identity):
        return None
    share = projection.blind_share(found.problem.box)
    text = f"the projection is blind over {share:.0%} of the box"
    blind = share > HALF and doubtful
    if blind:
        text += "; search with rollouts='solved', or with kernel='rbf'"
    return Finding("projection blind", blind, text, {"share": share})


def check_noise(found: RewardSet) -> Finding | None:
    """Whether NLLs differ by more than evaluations of one and the same reward would.

    A chi-square test at 95 % of their variance against that of the noise. None where evaluations
    are exact.
    """
    if not found.fitted.noisy:
        return None
    best = found.thetas[[found.expected_best_index]]
    smooth, noisy = (found.predict_nll(best, observed)[1][0] for observed in (False, True))
    noise = float(np.sqrt(max(0.0, noisy**2 - smooth**2)))
    nll = found.nll[np.isfinite(found.nll)]
    spread, tolerance = float(nll.std()), found.likelihood_ratio_tolerance()
    data = {"noise": noise, "spread": spread, "tolerance": tolerance}
    limit = chi2.ppf(0.95, len(nll) - 1) * noise**2 if len(nll) > 1 else np.inf
    text = (
        f"an evaluation has a standard error of {noise:.3g}, the NLLs spread by {spread:.3g} and "
        f"the likelihood-ratio tolerance is {tolerance:.3g}"
    )
    if len(nll) * spread**2 > limit:
        return Finding("noise", False, text, data)
    text += "; raise the repeats or the training steps of an evaluation"
    return Finding("noise above signal", True, text, data)


def check_failures(found: RewardSet, samples: FloatArray) -> Finding | None:
    """How many evaluations failed, and whether the posterior reaches where they did.

    That is where the evaluation nearest to a sample failed; one in twenty is too many.
    """
    failed = np.isnan(found.nll)
    if not failed.any():
        return None
    box = found.problem.box
    units = box.to_unit(found.thetas)
    nearest = cdist(box.to_unit(samples), units).argmin(axis=1)
    share = float(failed[nearest].mean())
    gaps = units[failed].mean(axis=0) - units[~failed].mean(axis=0)
    column = int(np.abs(gaps).argmax())
    side = "high" if gaps[column] > 0.0 else "low"
    count = int(failed.sum())
    data = {"count": count, "share": count / len(found), "samples": share}
    text = (
        f"{count} of {len(found)} evaluations failed, mostly at {side} {box.names[column]}; "
        f"{share:.0%} of the posterior is nearest to one of them"
    )
    needs = share > ONE_IN_TWENTY
    if needs:
        text += f"; narrow the bounds of {box.names[column]}"
    return Finding("failed evaluations", needs, text, data)


def mark_unsearched(
    found: RewardSet, possible: FloatArray, summary: list[ParameterSummary]
) -> list[ParameterSummary]:
    """The summary, which tells parameters that were not searched enough.

    They are those that samples of what is possible, `n x d`, would say more of, were there only
    samples whose NLL is known well; and all, where most samples are not known well.
    """
    known = known_well(found, possible)
    if known.mean() <= HALF:
        return [replace(one, searched=False) for one in summary]
    whole = summarise_parameters(possible, found.problem.box)
    certain = summarise_parameters(possible[known], found.problem.box)
    rows = zip(summary, whole, certain, strict=True)
    return [replace(one, searched=a.verdict == b.verdict) for one, a, b in rows]
