"""Whether the demonstrations say anything about the reward at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm, qmc

from boirl.results.findings import Finding

if TYPE_CHECKING:
    from boirl.results.reward_set import RewardSet

BOX_POINTS = 1024
ONE_IN_TWENTY = 0.05
"""What a statement at 95 % leaves open."""


def check_informative(found: RewardSet) -> Finding:
    """Which share of the box the demonstrations reject, by a likelihood-ratio test at 95 %.

    Predicted at points all over the box. Where less than one in twenty may be rejected, as far as
    the predictions are known (at 95 %), the answer is what was assumed beforehand: there are too
    few demonstrations, or rewards of this family make nobody behave differently.
    """
    box = found.problem.box
    unit = qmc.Sobol(box.dimension, rng=np.random.default_rng(0)).random(BOX_POINTS)
    mean, sd = found.predict_nll(box.from_unit(unit))
    limit = found.best_nll + found.likelihood_ratio_tolerance()
    share = float((mean > limit).mean())
    possible = float((mean + norm.ppf(1.0 - ONE_IN_TWENTY) * sd > limit).mean())
    count = len(found.problem.demonstrations)
    plural = "" if count == 1 else "s"
    text = f"{count} demonstration{plural} reject {share:.0%} of the box of rewards"
    little = possible < ONE_IN_TWENTY
    if little:
        text += (
            "; record more demonstrations, or check that the features differ between the states "
            "that the demonstrator chooses between"
        )
    data = {"rejected": share, "possible": possible, "count": count}
    return Finding("demonstrations say little", little, text, data)
