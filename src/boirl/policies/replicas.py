"""Several networks of one shape, trained side by side: a replica axis before all others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.policies.network import ACTIVATIONS, NetworkPolicy
from boirl.types import FloatArray

Float32 = NDArray[np.float32]


Activation = Literal["relu", "tanh"]


class Replicas:
    """`r` multilayer perceptrons in float32.

    Args:
        weights: A tensor `r x inputs x outputs` for every layer.
        biases: A tensor `r x 1 x outputs` for every layer.
        activation: Between layers.
    """

    def __init__(
        self, weights: Sequence[Tensor], biases: Sequence[Tensor], activation: Activation = "relu"
    ) -> None:
        self.weights, self.biases = list(weights), list(biases)
        self.activation: Activation = activation

    @classmethod
    def create(cls, sizes: Sequence[int], generators: Sequence[torch.Generator]) -> Replicas:
        """A network for every generator, with random weights and biases as torch draws them."""
        weights, biases = [], []
        for inputs, outputs in pairwise(sizes):
            bound = 1.0 / math.sqrt(inputs)
            drawn = [
                bound * (2.0 * torch.rand(inputs + 1, outputs, generator=generator) - 1.0)
                for generator in generators
            ]
            layer = torch.stack(drawn)
            weights.append(layer[:, :-1].clone().requires_grad_())
            biases.append(layer[:, -1:].clone().requires_grad_())
        return cls(weights, biases)

    @classmethod
    def orthogonal(
        cls, sizes: Sequence[int], last_gain: float, generators: Sequence[np.random.Generator]
    ) -> Replicas:
        """A network for every generator, of orthogonal matrices, with tanh between layers."""
        weights, biases = [], []
        for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
            gain = last_gain if layer == len(sizes) - 2 else math.sqrt(2.0)
            drawn = np.stack([rng.standard_normal((inputs, outputs)) for rng in generators])
            u, _, v = np.linalg.svd(drawn, full_matrices=False)
            weights.append(torch.tensor(gain * (u @ v), dtype=torch.float32).requires_grad_())
            biases.append(torch.zeros(len(generators), 1, outputs).requires_grad_())
        return cls(weights, biases, "tanh")

    @property
    def parameters(self) -> list[Tensor]:
        return [*self.weights, *self.biases]

    def __call__(self, values: Tensor) -> Tensor:
        """Outputs `r x T x p` of inputs `r x T x k`."""
        last = len(self.weights) - 1
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = torch.baddbmm(bias, values, weight)
            if layer < last:
                values = torch.relu(values) if self.activation == "relu" else torch.tanh(values)
        return values

    def in_numpy(self) -> Callable[[Float32], Float32]:
        """The networks as they are now as a function on arrays: quicker for a few rows."""
        layers = [
            (weight.detach().numpy(), bias.detach().numpy())
            for weight, bias in zip(self.weights, self.biases, strict=True)
        ]
        activate = ACTIVATIONS[self.activation]

        def forward(values: Float32) -> Float32:
            for layer, (weight, bias) in enumerate(layers):
                values = values @ weight + bias
                if layer < len(layers) - 1:
                    values = activate(values)
            return values

        return forward

    def copy(self) -> Replicas:
        """The same networks, which nobody trains."""
        return Replicas(
            [weight.detach().clone() for weight in self.weights],
            [bias.detach().clone() for bias in self.biases],
            self.activation,
        )

    @torch.no_grad()
    def follow(self, others: Replicas, rate: float) -> None:
        """Move towards other networks by a share `rate` of the way."""
        torch._foreach_lerp_(self.parameters, others.parameters, rate)

    @torch.no_grad()
    def overwrite(self, index: int, policy: NetworkPolicy) -> None:
        """Give one replica the weights of a policy."""
        found = [weight.shape for weight in policy.weights]
        expected = [tuple(weight.shape[1:]) for weight in self.weights]
        if found != expected or policy.activation != self.activation:
            raise InvalidInputError(
                f"the policy to start from has {policy.activation} layers of shapes {found}; "
                f"expected {self.activation} layers of shapes {expected}"
            )
        for layer, (weight, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
            self.weights[layer][index] = torch.as_tensor(weight)
            self.biases[layer][index, 0] = torch.as_tensor(bias)

    def arrays(self, index: int) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]:
        """Weights and biases of one replica, float64."""
        return (
            tuple(weight[index].detach().double().numpy() for weight in self.weights),
            tuple(bias[index, 0].detach().double().numpy() for bias in self.biases),
        )
