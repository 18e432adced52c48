"""Everything that decides which thetas a search proposes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.problem import Problem
from boirl.projections import (
    PROJECTIONS,
    Identity,
    Projection,
    choose_demonstrations,
    sample_rollouts,
)
from boirl.projections.elsewhere import ProjectsElsewhere
from boirl.search.acquisitions import ACQUISITIONS
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import get_kernel
from boirl.surrogate.warping import SCALES

PROJECTION_STREAM, INITIAL_STREAM = 1, 2
"""A proposal draws from the stream (seed, number); the roll-outs and the initial design draw from
(seed, 0, this)."""

PROJECTED, PROJECTED_IF_LEARNED = 40, 10
"""Demonstrations in the projection. Learned behaviour has no state twice, so that each
demonstration makes a projection slower."""

LARGEST = 2**63
"""No seed, and no number of anything, is as large."""


class SearchOptions(TypedDict, total=False):
    """The fields of `SearchSettings`, as keyword arguments."""

    kernel: str
    acquisition: str
    projection: str
    n_demonstrations: int | None
    n_rollouts: int
    rollouts: str
    scale: str
    drop: tuple[str, ...]
    smoothness: float | None
    linear: bool | None
    seed: int


@dataclass(frozen=True)
class SearchSettings:
    """Everything that decides which thetas a search proposes; kept with the study.

    Args:
        kernel: `"rho-matern"`, `"rho-rbf"` as in the paper, `"rbf"` or `"matern"`.
        acquisition: `"resolve"`, `"log-ei"` or `"random"`, see `boirl.search.acquisitions`; or
            `"two-step"`, see `boirl.search.lookahead`.
        projection: `"log-rho"`, `"rho"` as in the text of the paper, or `"canonical"`, which no
            potential shaping changes (for known dynamics); used by the first two.
        n_demonstrations: `K`, the demonstrations in the projection; by default 40, or 10 where
            policies are learned.
        n_rollouts: `M`, the roll-outs that each is compared with.
        rollouts: `"uniform"`: of the uniform policy (or those of `rollout_policies`); `"solved"`:
            of the policies of rewards evaluated, too; `"auto"`: the latter where policies are
            learned (they are expensive, so reuse them), and elsewhere where the NLLs and gradients
            so far are more probable with them than without.
        drop: Names of fixed parameters that the projection takes for 0, in place of their value.
            The authors' code does so with the u-turns of Borlange.
        smoothness: `nu` of the Matern kernel, 1.5 (default) or 2.5.
        scale: Scale of the NLL and of log rho in the surrogate: `"linear"`, `"log"`, or `"auto"`:
            averaged over by how probable each makes the evaluations.
        linear: Whether a linear kernel is added; by default for kernels on the projection.
        seed: Seeds every random choice.
    """

    kernel: str = "rho-matern"
    acquisition: str = "resolve"
    projection: str = "log-rho"
    n_demonstrations: int | None = None
    n_rollouts: int = 5
    rollouts: str = "auto"
    scale: str = "auto"
    drop: tuple[str, ...] = ()
    smoothness: float | None = None
    linear: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        self._check_kinds()
        # Each of these refuses an unknown name.
        _ = get_kernel(self.kernel, self.smoothness, self.linear)
        _ = ACQUISITIONS[self.acquisition], PROJECTIONS[self.projection]
        if self.rollouts not in ("auto", "uniform", "solved"):
            raise InvalidInputError(
                f"rollouts is {self.rollouts!r}; expected 'auto', 'uniform' or 'solved'"
            )
        if self.scale not in ("auto", *SCALES):
            raise InvalidInputError(
                f"scale is {self.scale!r}; expected 'auto', {' or '.join(map(repr, SCALES))}"
            )
        for name, least in (("seed", 0), ("n_demonstrations", 1), ("n_rollouts", 1)):
            value = getattr(self, name)
            if value is None and name == "n_demonstrations":
                continue
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not number or not least <= value < LARGEST or int(value) != value:
                raise InvalidInputError(
                    f"{name} is {value!r}; expected a whole number from {least} on"
                )
            object.__setattr__(self, name, int(value))
        object.__setattr__(self, "drop", tuple(self.drop))

    def _check_kinds(self) -> None:
        """Settings may come from a file that anybody wrote."""
        for name in ("kernel", "acquisition", "projection", "rollouts", "scale"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise InvalidInputError(f"{name} is {value!r}; expected a name")
        names = self.drop
        if not (isinstance(names, list | tuple) and all(isinstance(one, str) for one in names)):
            raise InvalidInputError(f"drop is {names!r}; expected names of fixed parameters")
        if self.smoothness is not None and not isinstance(self.smoothness, int | float):
            raise InvalidInputError(f"smoothness is {self.smoothness!r}; expected 1.5 or 2.5")
        if self.linear is not None and not isinstance(self.linear, bool):
            raise InvalidInputError(f"linear is {self.linear!r}; expected True or False")

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> SearchSettings:
        """Settings by name; an unknown name is an error that lists the known ones."""
        unknown = set(given) - set(cls.__dataclass_fields__)
        if unknown:
            raise InvalidInputError(
                f"there is no setting {', '.join(sorted(unknown))}; expected some of "
                f"{', '.join(cls.__dataclass_fields__)}"
            )
        return cls(**given)

    def build_surrogate(self, problem: Problem[Any], policies: Sequence[Any] = ()) -> Surrogate:
        """Draw demonstrations and roll-outs (phase 1 of the paper) and make the surrogate."""
        kernel = get_kernel(self.kernel, self.smoothness, self.linear)
        projection: Projection = Identity(problem.box)
        if kernel.projected:
            rng = np.random.default_rng([self.seed, 0, PROJECTION_STREAM])
            usual = PROJECTED_IF_LEARNED if problem.is_model_free else PROJECTED
            wanted = self.n_demonstrations or usual
            if isinstance(problem, ProjectsElsewhere):
                if policies:
                    raise InvalidInputError(
                        f"rollout_policies are given and the demonstrations of {problem.name!r} "
                        "are elsewhere; leave them out: rollouts='solved' has roll-outs of the "
                        "policies of evaluations drawn there"
                    )
                projection = problem.build_projection(
                    self.projection, wanted, self.n_rollouts, rng, self.drop
                )
            else:
                chosen = choose_demonstrations(problem.demonstrations, wanted, rng)
                rollouts = sample_rollouts(problem, chosen, self.n_rollouts, rng, policies)
                projection = self.build_projection(problem, chosen, rollouts)
        scale = cast(Any, self.scale)
        n_demonstrations = len(problem.demonstrations)
        return Surrogate(
            kernel, projection, problem.box, scale, n_demonstrations, problem.ruled_out_by
        )

    def build_projection(
        self,
        problem: Problem[Any],
        demonstrations: Demonstrations,
        rollouts: Sequence[Demonstrations],
    ) -> Projection:
        """The projection on given demonstrations and roll-outs."""
        fixed = {p.name for p in problem.reward.parameters if p.fixed is not None}
        unknown = set(self.drop) - fixed
        if unknown:
            raise InvalidInputError(
                f"drop names {', '.join(sorted(unknown))}; expected some of the fixed parameters "
                f"of the reward ({', '.join(sorted(fixed)) or 'there are none'})"
            )
        reward = problem.reward.fix(**dict.fromkeys(self.drop, 0.0))
        return PROJECTIONS[self.projection](problem, demonstrations, rollouts, reward)
