"""States of baselines as JSON and arrays: reading them back never runs code from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from boirl.baselines.learned_reward import state_inputs
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.rewards import LinearReward, RewardFamily
from boirl.rewards.absent import NoReward
from boirl.rewards.network import NetworkReward
from boirl.rewards.saved import reward_from_parts, reward_parts

Arrays = dict[str, NDArray[Any]]

BIT_GENERATORS = {
    one.__name__: one
    for one in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}


def to_plain(value: Any, arrays: Arrays) -> Any:
    """A value ready for JSON; its arrays are added to `arrays` under numbered names.

    Values are None, numbers, strings, arrays, generators, evaluations, and lists and dictionaries
    of these. Every dictionary of the answer has one key, which says what it stands for.

    Raises:
        TypeError: The value is something else.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        name = str(len(arrays))
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.random.Generator):
        return {"generator": to_plain(value.bit_generator.state, arrays)}
    if isinstance(value, Evaluation):
        parts = {"numbers": value.numbers(), "arrays": value.arrays(), "reward": _reward(value)}
        return {"evaluation": to_plain(parts, arrays)}
    if isinstance(value, list | tuple):
        return [to_plain(one, arrays) for one in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"mapping": {key: to_plain(one, arrays) for key, one in value.items()}}
    raise TypeError(f"it holds a {type(value).__name__}")


def from_plain(plain: Any, arrays: Mapping[str, NDArray[Any]], problem: Problem[Any]) -> Any:
    """The inverse of `to_plain`; the problem says what networks of evaluations see of states."""
    if isinstance(plain, list):
        return [from_plain(one, arrays, problem) for one in plain]
    if not isinstance(plain, dict):
        return plain
    ((kind, content),) = plain.items()
    if kind == "array":
        return arrays[content]
    if kind == "mapping":
        return {key: from_plain(one, arrays, problem) for key, one in content.items()}
    inner = from_plain(content, arrays, problem)
    if kind == "generator":
        bits = BIT_GENERATORS[inner["bit_generator"]]()
        bits.state = inner
        return np.random.Generator(bits)
    if kind == "evaluation":
        reward = None if inner["reward"] is None else _family(inner["reward"], problem)
        return Evaluation.from_parts(inner["numbers"], inner["arrays"], reward)
    raise ValueError(f"there is no kind of value {kind!r}")


def pack_optimiser(optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """All parameters that an optimiser changes, and what it remembers of each."""
    parameters = [one for group in optimiser.param_groups for one in group["params"]]
    memory = optimiser.state_dict()["state"]
    return {
        "parameters": [one.detach().numpy().copy() for one in parameters],
        "memory": {
            str(number): {name: values.numpy().copy() for name, values in own.items()}
            for number, own in memory.items()
        },
    }


def unpack_optimiser(optimiser: torch.optim.Optimizer, packed: Mapping[str, Any]) -> None:
    """Bring an optimiser of the same settings, and its parameters, to where another one was."""
    parameters = [one for group in optimiser.param_groups for one in group["params"]]
    with torch.no_grad():
        for parameter, values in zip(parameters, packed["parameters"], strict=True):
            if parameter.shape != values.shape:
                raise ValueError(f"a parameter has shape {values.shape}")
            parameter.copy_(torch.as_tensor(values))
    memory = {
        int(number): {name: torch.as_tensor(values) for name, values in own.items()}
        for number, own in packed["memory"].items()
    }
    optimiser.load_state_dict({**optimiser.state_dict(), "state": memory})


def _reward(evaluation: Evaluation) -> dict[str, Any] | None:
    """What is not of the problem's own family: weights of a network, a table, or no reward."""
    reward = evaluation.reward
    if reward is None:
        return None
    if isinstance(reward, NoReward):
        return {"absent": True}
    if isinstance(reward, NetworkReward):
        return {"layers": reward.layers()}
    if isinstance(reward, LinearReward) and reward.table is not None:
        facts, arrays = reward_parts(reward)
        return {"facts": facts, "arrays": arrays}
    raise TypeError(f"it holds a reward that is a {type(reward).__name__}")


def _family(parts: Mapping[str, Any], problem: Problem[Any]) -> RewardFamily:
    """The inverse of `_reward`."""
    if "absent" in parts:
        return NoReward()
    if "layers" not in parts:
        return reward_from_parts(parts["facts"], parts["arrays"])
    inputs = state_inputs(problem)
    return NetworkReward.from_layers(parts["layers"], inputs, problem.is_model_free)
