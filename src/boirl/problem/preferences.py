"""Comparisons of trajectories: "this one is better than that one", as evidence about rewards.

Somebody who compares two trajectories prefers the one of higher return, the more surely the more it
is higher (Bradley and Terry, 1952):

    P(a is better than b) = sigmoid(beta (R_theta(a) - R_theta(b))),

with discounted returns `R_theta`. It depends on theta through the reward alone, so that no policy
has to be solved for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.files import prefixed, read_arrays, without_prefix, write_arrays
from boirl.rewards import RewardFamily, Transitions
from boirl.types import FloatArray

if TYPE_CHECKING:
    from boirl.problem.base import Problem


@dataclass(frozen=True, eq=False)
class Preferences:
    """`M` comparisons: trajectory `m` of `better` was preferred to trajectory `m` of `worse`.

    Args:
        better: The preferred ones.
        worse: The others, as many.
        inverse_temperature: `beta`; larger for somebody who hardly ever errs.

    Example:
        >>> Preferences(problem.demonstrations.subset([0]), problem.demonstrations.subset([3]))
    """

    better: Demonstrations
    worse: Demonstrations
    inverse_temperature: float = 1.0

    def __post_init__(self) -> None:
        for name in ("better", "worse"):
            given = getattr(self, name)
            if not isinstance(given, Demonstrations):
                raise InvalidInputError(
                    f"{name} is a {type(given).__name__}; expected boirl.Demonstrations with one "
                    "trajectory per comparison"
                )
        if len(self.better) != len(self.worse):
            raise InvalidInputError(
                f"there are {len(self.better)} better and {len(self.worse)} worse trajectories; "
                "expected as many of each, one pair per comparison"
            )
        if not (self.inverse_temperature > 0.0 and np.isfinite(self.inverse_temperature)):
            raise InvalidInputError(
                f"inverse_temperature is {self.inverse_temperature}; expected a positive number"
            )

    def __len__(self) -> int:
        return len(self.better)

    def __repr__(self) -> str:
        return f"Preferences({len(self)} comparisons)"

    @classmethod
    def concatenate(cls, several: Sequence[Preferences]) -> Preferences:
        """All comparisons of all `several`, in order."""
        betas = {one.inverse_temperature for one in several}
        if len(betas) > 1:
            raise InvalidInputError(
                f"comparisons have the inverse temperatures {sorted(betas)}; expected one for all"
            )
        return cls(
            Demonstrations.concatenate([one.better for one in several]),
            Demonstrations.concatenate([one.worse for one in several]),
            betas.pop(),
        )

    def fitted_to(self, problem: Problem[Any]) -> Preferences:
        """The same, checked against the environment, with the ends that it determines."""
        return replace(
            self, better=problem.complete(self.better), worse=problem.complete(self.worse)
        )

    def log_likelihoods(self, problem: Problem[Any], thetas: FloatArray) -> FloatArray:
        """Of each comparison under each theta, `n x M`."""
        with torch.no_grad():
            given = torch.tensor(np.atleast_2d(thetas))
            return np.asarray(self._log_likelihoods(problem.reward, problem.gamma, given).numpy())

    def _log_likelihoods(self, reward: RewardFamily, gamma: float, thetas: Tensor) -> Tensor:
        better, worse = (
            discounted_returns(reward, gamma, thetas, one) for one in (self.better, self.worse)
        )
        return torch.nn.functional.logsigmoid(self.inverse_temperature * (better - worse))

    def scored(self, problem: Problem[Any], evaluation: Evaluation) -> Evaluation:
        """An evaluation of demonstrations with these comparisons as evidence beside them.

        Its NLL, which is per demonstration, rises by the negative log-likelihood of all comparisons
        over the number of demonstrations; so does its gradient.
        """
        if not evaluation.ok:
            return evaluation
        theta = torch.tensor([evaluation.theta], dtype=torch.float64, requires_grad=True)
        total = self._log_likelihoods(problem.reward, problem.gamma, theta).sum()
        share, gradient = 1.0 / len(problem.demonstrations), evaluation.gradient
        if gradient is not None:
            # Without a gradient of its own, the reward family has none for demonstrations either.
            (slopes,) = torch.autograd.grad(total, theta)
            gradient = gradient - share * slopes[0].numpy()
        nll = evaluation.nll - share * float(total.detach())
        return replace(evaluation, nll=nll, gradient=gradient)

    def answered(self, first_is_better: Sequence[bool | None]) -> Preferences:
        """The same pairs with their answers, `M`: those of False are turned, of None left out."""
        pairs = zip(first_is_better, range(len(self)), strict=True)
        parts = [(answer, number) for answer, number in pairs if answer is not None]
        better = [(self.better if one else self.worse).subset([number]) for one, number in parts]
        worse = [(self.worse if one else self.better).subset([number]) for one, number in parts]
        return replace(
            self,
            better=Demonstrations.concatenate(better),
            worse=Demonstrations.concatenate(worse),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an `.npz` file."""
        write_arrays(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Preferences:
        """Read what `save` wrote."""
        arrays = read_arrays(path, "comparisons")
        if "facts" not in arrays:
            raise InvalidInputError(
                f"{os.fspath(path)!r} holds {sorted(arrays)}; expected comparisons that "
                "Preferences.save wrote"
            )
        return cls.from_dict(arrays)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Arrays by name, for a file."""
        facts = {"inverse_temperature": self.inverse_temperature}
        return {
            "facts": np.array(json.dumps(facts)),
            **prefixed("better", self.better.to_dict()),
            **prefixed("worse", self.worse.to_dict()),
        }

    @classmethod
    def from_dict(cls, arrays: Mapping[str, NDArray[Any]]) -> Preferences:
        """The inverse of `to_dict`."""
        return cls(
            Demonstrations.from_dict(without_prefix("better", arrays)),
            Demonstrations.from_dict(without_prefix("worse", arrays)),
            **json.loads(str(arrays["facts"])),
        )


def discounted_returns(
    reward: RewardFamily, gamma: float, thetas: Tensor, trajectories: Demonstrations
) -> Tensor:
    """Discounted return of each of `N` trajectories under thetas `n x d`: `n x N`, torch."""
    steps = Transitions(trajectories.states, trajectories.actions, trajectories.next_states)
    discounts = torch.tensor(gamma**trajectories.step_numbers)
    paid = reward(thetas, steps) * discounts
    numbers = torch.tensor(trajectories.trajectory_numbers)
    return paid.new_zeros(len(thetas), len(trajectories)).index_add(1, numbers, paid)
