"""Bus-engine problems in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from boirl.domains.bus_engines.problem import BusEngineProblem
from boirl.problem.saved import ProblemKind, tabular_fields, tabular_parts


def _load(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> BusEngineProblem:
    return BusEngineProblem(**tabular_fields(facts, arrays))


BUS_ENGINES = ProblemKind(BusEngineProblem, tabular_parts, _load)
