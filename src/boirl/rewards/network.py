"""Rewards that a neural network computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import skip_init

from boirl.errors import CodeNeededError
from boirl.files import prefixed, without_prefix
from boirl.rewards.family import RewardFamily, Transitions
from boirl.types import FloatArray, Parameter

SCALE = Parameter("scale", 0.0, 2.0)
Inputs = Callable[[NDArray[Any]], Tensor]
"""What a network sees of `T` states: `T x k`, float64."""


class NetworkReward(RewardFamily):
    """`scale * network(state)`, a family of one parameter; learned rewards have scale 1.

    Args:
        network: From inputs `T x k` to rewards `T x 1`, float64.
        inputs: What the network sees of states.
        of_next: Whether a step is paid for the state that it leads to, not for the one that it
            starts from.
    """

    def __init__(self, network: nn.Module, inputs: Inputs, of_next: bool = False) -> None:
        super().__init__([SCALE], "transition" if of_next else "state")
        self.network, self.inputs, self.of_next = network, inputs, of_next

    def evaluate(self, theta: Tensor, transitions: Transitions) -> Tensor:
        states = transitions.next_states if self.of_next else transitions.states
        assert states is not None
        return theta[..., :1] * self.network(self.inputs(states))[:, 0]

    def frozen(self) -> NetworkReward:
        """A copy that further training does not change."""
        network = deepcopy(self.network).requires_grad_(False)
        return NetworkReward(network, self.inputs, self.of_next)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Weights and inputs as arrays, for a file; of a `perceptron` on `ScaledInputs`."""
        if not isinstance(self.inputs, ScaledInputs):
            raise CodeNeededError(f"a network on {type(self.inputs).__name__} cannot be written")
        return {
            **prefixed("layers", self.layers()),
            "centre": self.inputs.centre,
            "scale": self.inputs.scale,
            "of_next": np.array(self.of_next),
        }

    @classmethod
    def from_dict(cls, arrays: Mapping[str, NDArray[Any]]) -> NetworkReward:
        """The inverse of `to_dict`."""
        inputs = ScaledInputs(arrays["centre"], arrays["scale"])
        return cls.from_layers(without_prefix("layers", arrays), inputs, bool(arrays["of_next"]))

    def layers(self) -> dict[str, NDArray[Any]]:
        """Weights of the network, by name."""
        return {name: values.detach().numpy() for name, values in self.network.state_dict().items()}

    @classmethod
    def from_layers(
        cls,
        layers: Mapping[str, NDArray[Any]],
        inputs: TableInputs | ScaledInputs,
        of_next: bool = False,
    ) -> NetworkReward:
        """A `perceptron` with weights from `layers`, which further training does not change."""
        widths = [len(values) for name, values in layers.items() if name.endswith("bias")]
        network = perceptron(inputs.size, tuple(widths[:-1]), torch.Generator())
        network.load_state_dict({name: torch.as_tensor(one) for name, one in layers.items()})
        return cls(network.requires_grad_(False), inputs, of_next)


class TableInputs:
    """The row of a state in a table of features, each of them scaled to unit deviation."""

    def __init__(self, features: FloatArray) -> None:
        deviation = features.std(axis=0)
        varying = deviation > 0.0
        scaled = (features - features.mean(axis=0))[:, varying] / deviation[varying]
        self.table = torch.as_tensor(np.ascontiguousarray(scaled))

    @property
    def size(self) -> int:
        return self.table.shape[1]

    def __call__(self, states: NDArray[Any]) -> Tensor:
        return self.table[torch.as_tensor(states)]


class ScaledInputs:
    """An observation, centred and scaled, `T x k`."""

    def __init__(self, centre: FloatArray, scale: FloatArray) -> None:
        self.centre, self.scale = centre, scale

    @property
    def size(self) -> int:
        return len(self.centre)

    def __call__(self, states: NDArray[Any]) -> Tensor:
        return torch.as_tensor((states - self.centre) / self.scale, dtype=torch.float64)


def perceptron(inputs: int, hidden: tuple[int, ...], generator: torch.Generator) -> nn.Module:
    """A network with tanh layers and one output, float64, its weights drawn from `generator`."""
    layers: list[nn.Module] = []
    for size in hidden:
        layers += [_layer(inputs, size), nn.Tanh()]
        inputs = size
    network = nn.Sequential(*layers, _layer(inputs, 1))
    with torch.no_grad():
        for name, values in network.named_parameters():
            if name.endswith("bias"):
                values.zero_()
            else:
                spread = values.shape[1] ** -0.5
                values.normal_(0.0, spread, generator=generator)
    return network


def _layer(inputs: int, outputs: int) -> nn.Module:
    """A linear layer that is not filled yet: torch would draw from its global random numbers."""
    return skip_init(nn.Linear, inputs, outputs, dtype=torch.float64)
