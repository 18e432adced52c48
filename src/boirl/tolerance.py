"""How much worse an NLL may be and still not be rejected."""

from __future__ import annotations

from scipy.stats import chi2


def likelihood_ratio_tolerance(
    n_demonstrations: float, dimension: int, confidence: float = 0.95
) -> float:
    """The difference from the best NLL, a mean over demonstrations, that a likelihood-ratio test
    does not reject for so many parameters."""
    return float(chi2.ppf(confidence, dimension)) / (2.0 * n_demonstrations)
