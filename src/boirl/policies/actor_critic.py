"""An actor and a critic for small tasks, with their gradients written out.

On networks and batches this small, automatic differentiation and optimisers that visit one tensor
after another take several times as long as the sums themselves. Actor and critic have the same
hidden layers here, so that every operation works on both, and all their numbers are in one vector,
which one optimiser step changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from boirl.policies.network import NetworkPolicy
from boirl.types import FloatArray

Float32 = NDArray[np.float32]

ACTOR, CRITIC = 0, 1
ACTIVATION = "tanh"


class Parts(NamedTuple):
    """The numbers of both networks: views into one vector.

    Attributes:
        weights: `2 x inputs x outputs` for every layer, the actor's first. The critic uses the
            first column of the last layer alone; the others are 0 and stay so.
        biases: `2 x 1 x outputs` for every layer.
        log_sd: Log standard deviations of actions, `m`.
    """

    weights: list[Tensor]
    biases: list[Tensor]
    log_sd: Tensor

    @classmethod
    def of(cls, vector: Tensor, sizes: tuple[int, ...]) -> Parts:
        """The parts of a vector, for layers of these sizes."""
        shapes: list[tuple[int, ...]] = [
            (2, inputs, outputs) for inputs, outputs in pairwise(sizes)
        ]
        shapes += [(2, 1, outputs) for outputs in sizes[1:]]
        shapes.append((sizes[-1],))
        lengths = [math.prod(shape) for shape in shapes]
        *layers, log_sd = (
            part.view(shape) for part, shape in zip(vector.split(lengths), shapes, strict=True)
        )
        half = len(sizes) - 1
        return cls(layers[:half], layers[half:], log_sd)

    @staticmethod
    def length(sizes: tuple[int, ...]) -> int:
        """Of the vector."""
        weights = sum(2 * (inputs + 1) * outputs for inputs, outputs in pairwise(sizes))
        return weights + sizes[-1]


class ActorCritic:
    """A policy with Gaussian actions and a value of each state, float32.

    Args:
        sizes: Of the observation, of the hidden layers (tanh) and of the action.
        log_sd: To begin with.
        rng: Draws the weights: orthogonal matrices, the last layer of the actor close to 0.

    Attributes:
        vector: All parameters; its `grad` is what `backward` writes to.
    """

    def __init__(self, sizes: tuple[int, ...], log_sd: float, rng: np.random.Generator) -> None:
        self.sizes = sizes
        self.vector = torch.zeros(Parts.length(sizes))
        self.vector.grad = torch.zeros_like(self.vector)
        self.parts = Parts.of(self.vector, sizes)
        self.slopes = Parts.of(self.vector.grad, sizes)
        self.parts.log_sd.fill_(log_sd)
        for network, (outputs, last_gain) in enumerate(((sizes[-1], 0.01), (1, 1.0))):
            widths = (*sizes[:-1], outputs)
            for layer, (before, after) in enumerate(pairwise(widths)):
                gain = last_gain if layer == len(widths) - 2 else math.sqrt(2.0)
                u, _, v = np.linalg.svd(rng.standard_normal((before, after)), full_matrices=False)
                self.parts.weights[layer][network, :, :after] = torch.from_numpy(gain * (u @ v))

    def start_from(self, policy: NetworkPolicy) -> None:
        """Give the actor the weights of a policy; its standard deviations stay."""
        policy.check_shapes([tuple(weight.shape[1:]) for weight in self.parts.weights], ACTIVATION)
        for layer, (weight, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
            self.parts.weights[layer][ACTOR] = torch.from_numpy(weight)
            self.parts.biases[layer][ACTOR, 0] = torch.from_numpy(bias)

    def forward(self, observations: Tensor) -> list[Tensor]:
        """What each layer puts out for observations `T x k`: `2 x T x width` each."""
        values = observations.expand(2, *observations.shape)
        outputs = []
        for layer, (weight, bias) in enumerate(
            zip(self.parts.weights, self.parts.biases, strict=True)
        ):
            values = torch.bmm(values, weight).add_(bias)
            if layer < len(self.parts.weights) - 1:
                values = values.tanh_()
            outputs.append(values)
        return outputs

    def backward(self, observations: Tensor, outputs: list[Tensor], slope: Tensor) -> None:
        """Write the slopes of a loss, given those by the last layer's outputs, `2 x T x m`.

        Those of the standard deviations are the caller's.
        """
        once = torch.ones((2, 1, len(observations)))
        inputs = [observations.expand(2, *observations.shape), *outputs[:-1]]
        for layer in reversed(range(len(inputs))):
            torch.bmm(inputs[layer].mT, slope, out=self.slopes.weights[layer])
            torch.bmm(once, slope, out=self.slopes.biases[layer])
            if layer:
                behind = torch.bmm(slope, self.parts.weights[layer].mT)
                slope = torch.ops.aten.tanh_backward(behind, inputs[layer])

    def actor_in_numpy(self) -> Callable[[Float32], Float32]:
        """The actor as it is now, from observations `n x k` to means: quicker for a few rows."""
        weights = [weight[ACTOR].numpy() for weight in self.parts.weights]
        biases = [bias[ACTOR].numpy() for bias in self.parts.biases]

        def forward(values: Float32) -> Float32:
            for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
                values = np.tanh(values @ weight + bias)
            return values @ weights[-1] + biases[-1]

        return forward

    def actor_arrays(self) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]:
        """Weights and biases of the actor, float64."""
        return (
            tuple(weight[ACTOR].double().numpy() for weight in self.parts.weights),
            tuple(bias[ACTOR, 0].double().numpy() for bias in self.parts.biases),
        )
