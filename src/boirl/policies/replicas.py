"""Several networks of one shape, trained side by side: a replica axis before all others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from boirl.policies.network import NetworkPolicy
from boirl.types import FloatArray

ACTIVATION = "relu"


class Replicas:
    """`r` multilayer perceptrons in float32, with rectified layers.

    Args:
        weights: A tensor `r x inputs x outputs` for every layer.
        biases: A tensor `r x 1 x outputs` for every layer.
    """

    def __init__(self, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> None:
        self.weights, self.biases = list(weights), list(biases)

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

    @property
    def parameters(self) -> list[Tensor]:
        return [*self.weights, *self.biases]

    def __call__(self, values: Tensor) -> Tensor:
        """Outputs `r x T x p` of inputs `r x T x k`."""
        last = len(self.weights) - 1
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = torch.baddbmm(bias, values, weight)
            if layer < last:
                values = torch.relu(values)
        return values

    def copy(self) -> Replicas:
        """The same networks, which nobody trains."""
        return Replicas(
            [weight.detach().clone() for weight in self.weights],
            [bias.detach().clone() for bias in self.biases],
        )

    @torch.no_grad()
    def follow(self, others: Replicas, rate: float) -> None:
        """Move towards other networks by a share `rate` of the way."""
        torch._foreach_lerp_(self.parameters, others.parameters, rate)

    @torch.no_grad()
    def overwrite(self, index: int, policy: NetworkPolicy) -> None:
        """Give one replica the weights of a policy."""
        policy.check_shapes([tuple(weight.shape[1:]) for weight in self.weights], ACTIVATION)
        for layer, (weight, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
            self.weights[layer][index] = torch.as_tensor(weight)
            self.biases[layer][index, 0] = torch.as_tensor(bias)

    def arrays(self, index: int) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]:
        """Weights and biases of one replica, float64."""
        return (
            tuple(weight[index].detach().double().numpy() for weight in self.weights),
            tuple(bias[index, 0].detach().double().numpy() for bias in self.biases),
        )
