"""From a set of rewards to a decision: what to ask, how to act, what would happen elsewhere."""

from boirl.lazy import lazy_names

_HOMES = {
    "ComparisonQuestion": "comparisons",
    "Decision": "acting",
    "Ensemble": "ensemble",
    "Mixture": "mixtures",
    "StartQuestion": "questions",
    "Transfer": "transfer",
    "act": "acting",
    "ask": "questions",
    "changed_problem": "changed",
    "ask_comparisons": "comparisons",
    "fit_temperatures": "temperatures",
    "Temperatures": "temperatures",
    "fit_mixture": "mixtures",
    "transfer": "transfer",
}

__all__ = list(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES)
