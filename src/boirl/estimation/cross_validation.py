"""How well estimates predict trajectories that they were not fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boirl.errors import BoirlError, InvalidInputError
from boirl.estimation.estimate import STARTS, Estimate, maximum_likelihood
from boirl.estimation.tables import aligned, plain
from boirl.problem import Problem
from boirl.problem.scoring import uniform_log_likelihoods
from boirl.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """Log-likelihoods of trajectories under estimates from the others.

    Attributes:
        problem: With all trajectories.
        fold_of: The fold in which each trajectory was held out, `N`.
        log_likelihoods: Of each trajectory when it was held out, `N`.
        uniform_log_likelihoods: Of each under uniform choice between possible actions, `N`.
        estimates: From the trajectories outside each fold.
    """

    problem: Problem[Any]
    fold_of: IntArray
    log_likelihoods: FloatArray
    uniform_log_likelihoods: FloatArray
    estimates: tuple[Estimate, ...]

    @property
    def thetas(self) -> FloatArray:
        """The estimate of each fold, `folds x d`."""
        return np.stack([estimate.theta for estimate in self.estimates])

    @property
    def n_steps(self) -> int:
        """Steps of all trajectories."""
        return int(self.problem.demonstrations.lengths.sum())

    @property
    def per_trajectory(self) -> float:
        """Mean held-out log-likelihood of a trajectory."""
        return float(self.log_likelihoods.mean())

    @property
    def standard_error(self) -> float:
        """Of `per_trajectory`, from the spread of the trajectories, as if none were related."""
        n = len(self.log_likelihoods)
        return float(self.log_likelihoods.std(ddof=1)) / n**0.5

    @property
    def per_step(self) -> float:
        """Held-out log-likelihood of all trajectories, divided by all of their steps."""
        return float(self.log_likelihoods.sum()) / self.n_steps

    @property
    def bits_per_step(self) -> float:
        """Information that a decision still carries once the estimate is known; less is better."""
        return -self.per_step / float(np.log(2.0))

    @property
    def uniform_per_trajectory(self) -> float:
        """`per_trajectory` of uniform choice."""
        return float(self.uniform_log_likelihoods.mean())

    @property
    def uniform_per_step(self) -> float:
        """`per_step` of uniform choice."""
        return float(self.uniform_log_likelihoods.sum()) / self.n_steps

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, for a JSON file."""
        facts: dict[str, Any] = plain(
            {
                "folds": len(self.estimates),
                "per_trajectory": self.per_trajectory,
                "standard_error": self.standard_error,
                "per_step": self.per_step,
                "bits_per_step": self.bits_per_step,
                "uniform_per_trajectory": self.uniform_per_trajectory,
                "uniform_per_step": self.uniform_per_step,
                "fold_of": self.fold_of,
                "log_likelihoods": self.log_likelihoods,
                "uniform_log_likelihoods": self.uniform_log_likelihoods,
                "thetas": self.thetas,
            }
        )
        return facts

    def __repr__(self) -> str:
        return (
            f"CrossValidation({self.problem.name!r}, {len(self.estimates)} folds, held-out "
            f"log-likelihood {self.per_step:.4f} per step)"
        )

    def __str__(self) -> str:
        rows = []
        steps = self.problem.demonstrations.lengths
        for number, estimate in enumerate(self.estimates):
            held = self.fold_of == number
            total, chance = self.log_likelihoods[held], self.uniform_log_likelihoods[held]
            rows.append(
                [
                    str(number + 1),
                    str(int(held.sum())),
                    f"{total.mean():.4f}",
                    f"{total.sum() / steps[held].sum():.4f}",
                    f"{chance.sum() / steps[held].sum():.4f}",
                    *(f"{value:.5g}" for value in estimate.theta),
                ]
            )
        names = self.problem.box.names
        header = ["fold", "held out", "per trajectory", "per step", "uniform per step", *names]
        chance_bits = -self.uniform_per_step / float(np.log(2.0))
        return "\n".join(
            [
                f"{self.problem.name}: log-likelihood of {len(self.log_likelihoods)} trajectories, "
                f"{self.n_steps} steps, each held out once",
                f"per trajectory {self.per_trajectory:.4f} ± {self.standard_error:.4f}, uniform "
                f"choice {self.uniform_per_trajectory:.4f}",
                f"per step {self.per_step:.4f} ({self.bits_per_step:.4f} bits), uniform choice "
                f"{self.uniform_per_step:.4f} ({chance_bits:.4f} bits)",
                *aligned(header, rows),
            ]
        )


def cross_validate(
    problem: Problem[Any],
    folds: int = 5,
    seed: int = 0,
    groups: ArrayLike | None = None,
    starts: int = STARTS,
) -> CrossValidation:
    """Estimate theta without some of the trajectories, and score those; each is held out once.

    Whole trajectories are held out, never single steps of one.

    Args:
        problem: With known dynamics, and a reward that is differentiable in theta.
        folds: Parts of about the same number of trajectories, at most as many as there are
            trajectories (or groups); as many of them leave out one at a time.
        seed: Of the parts, and of the thetas that descents start from.
        groups: A label for each trajectory, `N`, such as who made it; trajectories with the same
            one are held out together.
        starts: Descents of each estimate.

    Raises:
        InvalidInputError: The folds or groups do not fit, or the NLL has no exact gradient.
        SolverError: No theta has a policy.
    """
    shown = problem.demonstrations
    fold_of = assign_folds(len(shown), folds, seed, groups)
    log_likelihoods = np.empty(len(shown))
    estimates = []
    for number in range(folds):
        held = fold_of == number
        rest = problem.with_demonstrations(shown.subset(~held))
        try:
            estimate = maximum_likelihood(rest, starts, seed)
        except BoirlError as error:
            raise type(error)(f"without fold {number + 1} of {folds}: {error}") from error
        log_likelihoods[held] = problem.score(shown.subset(held), estimate.theta)
        estimates.append(estimate)
    chance = uniform_log_likelihoods(problem, problem.policy(estimates[0].theta))
    return CrossValidation(problem, fold_of, log_likelihoods, chance, tuple(estimates))


def assign_folds(n: int, folds: int, seed: int, groups: ArrayLike | None = None) -> IntArray:
    """The fold of each of `n` trajectories: parts of about the same size that cut no group."""
    labels = np.arange(n) if groups is None else np.asarray(groups)
    if labels.shape != (n,):
        raise InvalidInputError(
            f"groups have shape {labels.shape}; expected {n} labels, one per trajectory"
        )
    _, group_of, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if not (isinstance(folds, int | np.integer) and 2 <= folds <= len(sizes)):
        what = "trajectories" if groups is None else "groups"
        raise InvalidInputError(
            f"folds is {folds}; expected a whole number, at least 2 and at most {len(sizes)}, the "
            f"number of {what}"
        )
    order = np.random.default_rng(seed).permutation(len(sizes))
    # The largest groups first, each to the fold that has the fewest trajectories so far.
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of_group = np.empty(len(sizes), dtype=np.int64)
    filled = np.zeros(folds, dtype=np.int64)
    for group in order:
        fold_of_group[group] = filled.argmin()
        filled[fold_of_group[group]] += sizes[group]
    return fold_of_group[group_of]
