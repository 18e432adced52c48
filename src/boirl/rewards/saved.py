"""Reward families as plain numbers, strings and arrays, for a file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from boirl.errors import CodeNeededError
from boirl.files import prefixed, without_prefix
from boirl.rewards.family import CallableReward, RewardFamily
from boirl.rewards.linear import LinearReward
from boirl.rewards.logistic import LogisticReward
from boirl.rewards.shaped import ShapedReward
from boirl.types import Parameter

Arrays = dict[str, NDArray[Any]]


def reward_parts(reward: RewardFamily) -> tuple[dict[str, Any], Arrays]:
    """Facts, ready for JSON, and arrays that `reward_from_parts` makes the family of.

    Raises:
        CodeNeededError: The family is computed by a function; names it.
    """
    facts: dict[str, Any] = {"parameters": [asdict(one) for one in reward.parameters]}
    if type(reward) is LinearReward and reward.table is not None:
        return {**facts, "kind": "linear", "of_next": reward.of_next}, {"features": reward.table}
    if type(reward) is LogisticReward:
        return {**facts, "kind": "logistic"}, reward.tables
    if type(reward) is ShapedReward:
        base, arrays = reward_parts(reward.base)
        facts |= {"kind": "shaped", "base": base, "gamma": reward.gamma}
        return facts, {**prefixed("base", arrays), "potentials": reward.potentials}
    function = reward.function if isinstance(reward, CallableReward) else None
    code = _with_a_name(getattr(reward, "features_function", None) or function or reward)
    raise CodeNeededError(f"its reward is computed by code: {import_line(code)}")


def import_line(code: Any) -> str:
    """The statement that imports a function or a class; of a script, by the name of its file."""
    module = code.__module__
    if module == "__main__":
        module = Path(getattr(sys.modules["__main__"], "__file__", module)).stem
    return f"from {module} import {code.__qualname__.partition('.')[0]}"


def _with_a_name(code: Any) -> Any:
    """The function or class behind something that is called."""
    if isinstance(code, partial):
        return _with_a_name(code.func)
    return code if hasattr(code, "__qualname__") else type(code)


def reward_from_parts(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> RewardFamily:
    """The inverse of `reward_parts`."""
    parameters = [Parameter(**one) for one in facts["parameters"]]
    if facts["kind"] == "linear":
        return LinearReward(arrays["features"], parameters, of_next=facts.get("of_next", False))
    if facts["kind"] == "logistic":
        return LogisticReward.from_tables(parameters, arrays)
    base = reward_from_parts(facts["base"], without_prefix("base", arrays))
    shaped = ShapedReward(base, arrays["potentials"], facts["gamma"])
    shaped.parameters = tuple(parameters)
    return shaped
