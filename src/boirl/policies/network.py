"""Policies that are small networks: whatever trained them, they act, explain and are kept here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.errors import InvalidInputError, SolverError, StorageError
from boirl.policies.actions import ActionModel, action_model
from boirl.types import FloatArray

Arrays = Mapping[str, NDArray[Any]]

ACTIVATIONS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
}


@dataclass(frozen=True, eq=False, repr=False)
class NetworkPolicy:
    """A multilayer perceptron from observations to a distribution over actions.

    Args:
        weights: A matrix `inputs x outputs` for every layer.
        biases: A vector for every layer.
        activation: Between layers: `"tanh"` or `"relu"`.
        actions: What the outputs mean.
        log_sd: Log standard deviations that are the same everywhere, `m`; they follow the outputs
            of the last layer. None where the network computes them.
        centre: Subtracted from observations, `k`, before
        scale: they are divided by this, `k`.
    """

    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray, ...]
    activation: str
    actions: ActionModel
    log_sd: FloatArray | None = None
    centre: FloatArray | float = 0.0
    scale: FloatArray | float = 1.0

    def __repr__(self) -> str:
        sizes = [len(self.weights[0]), *(len(bias) for bias in self.biases)]
        return f"NetworkPolicy(layers {'-'.join(map(str, sizes))}, {type(self.actions).__name__})"

    def __post_init__(self) -> None:
        arrays = [*self.weights, *self.biases]
        if self.log_sd is not None:
            arrays.append(self.log_sd)
        if not all(np.isfinite(array).all() for array in arrays):
            raise SolverError(
                "training diverged: the policy has weights that are not finite; lower the "
                "learning rate, or scale observations and rewards to about one"
            )
        found = self.weights[-1].shape[1] + (0 if self.log_sd is None else len(self.log_sd))
        if found != self.actions.size:
            raise InvalidInputError(
                f"the policy has {found} outputs; {type(self.actions).__name__} expects "
                f"{self.actions.size}"
            )

    def check_shapes(self, shapes: Sequence[tuple[int, ...]], activation: str) -> None:
        """Refuse to be the start of a network with other layers."""
        found = [weight.shape for weight in self.weights]
        if found != list(shapes) or self.activation != activation:
            raise InvalidInputError(
                f"the policy to start from has {self.activation} layers of shapes {found}; "
                f"expected {activation} layers of shapes {list(shapes)}"
            )

    def outputs(self, observations: FloatArray) -> FloatArray:
        """Outputs `T x p` for observations `T x k`."""
        values = (np.asarray(observations, dtype=np.float64) - self.centre) / self.scale
        last = len(self.weights) - 1
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ weight + bias
            if layer < last:
                values = ACTIVATIONS[self.activation](values)
        if self.log_sd is None:
            return values
        return np.hstack([values, np.broadcast_to(self.log_sd, (len(values), len(self.log_sd)))])

    def log_prob(self, states: FloatArray, actions: Any) -> FloatArray:
        """Log probability of `T` actions at `T x k` observations."""
        return self.actions.log_prob(self.outputs(states), actions)

    def sample(self, states: FloatArray, rng: np.random.Generator) -> Any:
        """An action for each observation."""
        return self.actions.sample(self.outputs(states), rng)

    def mode(self, states: FloatArray) -> Any:
        """The typical action for each observation, without noise."""
        return self.actions.mode(self.outputs(states))

    def with_actions(self, actions: ActionModel) -> NetworkPolicy:
        """The same network, its outputs understood differently."""
        return replace(self, actions=actions)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Arrays by name, for a file."""
        facts = {
            "activation": self.activation,
            "actions": self.actions.describe(),
            "layers": len(self.weights),
            "computes_sd": self.log_sd is None,
        }
        arrays: dict[str, NDArray[Any]] = {
            "network": np.array(json.dumps(facts)),
            "centre": np.asarray(self.centre, dtype=np.float64),
            "scale": np.asarray(self.scale, dtype=np.float64),
        }
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays[f"weight_{layer}"], arrays[f"bias_{layer}"] = weight, bias
        if self.log_sd is not None:
            arrays["log_sd"] = self.log_sd
        return arrays

    @classmethod
    def from_dict(cls, arrays: Arrays) -> NetworkPolicy:
        """The inverse of `to_dict`."""
        try:
            facts = json.loads(str(arrays["network"]))
            layers = range(facts["layers"])
            if facts["activation"] not in ACTIVATIONS:
                raise ValueError(f"there is no activation {facts['activation']!r}")
            policy = cls(
                weights=tuple(arrays[f"weight_{layer}"] for layer in layers),
                biases=tuple(arrays[f"bias_{layer}"] for layer in layers),
                activation=facts["activation"],
                actions=action_model(facts["actions"]),
                log_sd=None if facts["computes_sd"] else arrays["log_sd"],
                centre=arrays["centre"],
                scale=arrays["scale"],
            )
            policy._check_kinds()
            at = np.zeros((1, len(policy.weights[0])))
            policy.log_prob(at, policy.mode(at))
            return policy
        except Exception as error:
            raise StorageError(f"this is no policy that boirl wrote ({error!r})") from error

    def _check_kinds(self) -> None:
        """Refuse anything but matrices and vectors of real numbers."""
        for arrays, ndim in ((self.weights, 2), (self.biases, 1)):
            if not all(array.ndim == ndim and array.dtype.kind == "f" for array in arrays):
                raise ValueError(
                    "weights or biases of a layer are no real numbers, or have no layer"
                )
