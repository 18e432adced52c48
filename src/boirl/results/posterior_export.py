"""The posterior over rewards for the tools of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boirl.extras import needed
from boirl.types import Box, FloatArray

if TYPE_CHECKING:
    from boirl.results.result import Result


def arviz_data(
    samples: FloatArray, box: Box, name: str, log_likelihood: FloatArray | None = None
) -> Any:
    """An ArviZ `InferenceData` of samples of theta, `n x d`: one chain, one variable each.

    Args:
        samples: Of the posterior over rewards.
        box: Names of the parameters.
        name: Of the problem.
        log_likelihood: Of all demonstrations at each sample, `n`, if known.
    """
    arviz = needed("arviz", "to_arviz")
    posterior = {parameter: samples[None, :, column] for column, parameter in enumerate(box.names)}
    stats = None if log_likelihood is None else {"lp": log_likelihood[None]}
    facts = {"problem": name, "inference_library": "boirl"}
    return arviz.from_dict(posterior=posterior, sample_stats=stats, attrs=facts)


def total_log_likelihood(found: Result, nll: FloatArray) -> FloatArray:
    """Log-likelihood of all demonstrations, from NLLs, which are means over them."""
    return -len(found.problem.demonstrations) * nll
