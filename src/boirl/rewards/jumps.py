"""Whether the derivative of a reward says what the reward does: no thresholds, roundings or parts
that are cut off from the graph.

Where a reward jumps along a parameter, its derivative is 0 or says nothing of the jump, and so is
the gradient of the NLL: no curvature, standard error or tied direction follows from it. By the
fundamental theorem of calculus, the derivative integrated along the parameter is what the reward
changes by, if it does not jump.
"""

from __future__ import annotations

import numpy as np
import torch

from boirl.rewards.family import RewardFamily, Transitions
from boirl.types import FloatArray

LINES, CELLS, NODES = 2, 16, 32
"""Lines along each parameter, cells of a line, and points of a cell at which the derivative is
taken: a change within a five-hundredth of the range counts as a jump."""

MOST_TRANSITIONS = 32
"""Transitions whose rewards are looked at."""

LEFT_OUT = 0.05
"""Share of a change that a derivative may leave out: one in twenty."""

SMALLEST_CHANGE = 1e-9
"""Share of the reward below which a change is one of rounding."""

STREAM = 27


def jumping_parameters(reward: RewardFamily, transitions: Transitions) -> tuple[str, ...]:
    """Names of the parameters along which a reward changes and its derivative does not say so.

    None where the reward has no derivative at all, which cannot mislead.

    Args:
        reward: The family.
        transitions: Whose rewards matter, `T`; some of them are looked at.
    """
    box, rng = reward.box, np.random.default_rng(STREAM)
    chosen = _some(transitions, rng)
    weights = torch.tensor(rng.standard_normal(len(chosen)))
    middle = torch.tensor(box.from_unit(np.full((1, box.dimension), 0.5)), requires_grad=True)
    if not reward(middle, chosen).requires_grad:
        return ()
    jumping = []
    for column, name in enumerate(box.names):
        starts = np.repeat(rng.random((LINES, 1, box.dimension)), CELLS * NODES, axis=1)
        edges, middles = starts[:, : CELLS + 1].copy(), starts.copy()
        edges[..., column] = np.linspace(0.0, 1.0, CELLS + 1)
        middles[..., column] = (np.arange(CELLS * NODES) + 0.5) / (CELLS * NODES)
        paid, _ = _weighted(reward, box.from_unit(edges), chosen, weights)
        _, slopes = _weighted(reward, box.from_unit(middles), chosen, weights)
        changes = np.diff(paid, axis=1)
        step = (box.high[column] - box.low[column]) / (CELLS * NODES)
        explained = step * slopes[..., column].reshape(LINES, CELLS, NODES).sum(axis=2)
        change = float(np.abs(changes).sum())
        if not np.isfinite(change) or change <= SMALLEST_CHANGE * float(np.abs(paid).max()):
            continue
        if not np.abs(changes - explained).sum() <= LEFT_OUT * change:
            jumping.append(name)
    return tuple(jumping)


def _some(transitions: Transitions, rng: np.random.Generator) -> Transitions:
    rows = np.sort(rng.permutation(len(transitions))[:MOST_TRANSITIONS])
    actions, ends = transitions.actions, transitions.next_states
    return Transitions(
        transitions.states[rows],
        None if actions is None else actions[rows],
        None if ends is None else ends[rows],
    )


def _weighted(
    reward: RewardFamily, thetas: FloatArray, transitions: Transitions, weights: torch.Tensor
) -> tuple[FloatArray, FloatArray]:
    """Weighted sums of rewards, `...`, and their derivatives by theta, `... x d`."""
    leaf = torch.tensor(thetas, requires_grad=True)
    sums = reward(leaf, transitions) @ weights
    (slopes,) = torch.autograd.grad(sums.sum(), leaf)
    return sums.detach().numpy(), slopes.numpy()
