"""Reward families and discounts side by side, on the same demonstrations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boirl.errors import BoirlError, InvalidInputError
from boirl.estimation.cross_validation import CrossValidation, cross_validate
from boirl.estimation.estimate import STARTS, Estimate, maximum_likelihood
from boirl.estimation.likelihood_ratio import LikelihoodRatioTest
from boirl.estimation.nesting import contains, different_setting, same_demonstrations
from boirl.estimation.tables import aligned, plain
from boirl.problem import Problem, TabularProblem
from boirl.problem.scoring import uniform_log_likelihoods
from boirl.problem.suboptimality import Suboptimality
from boirl.types import FloatArray

FOLDS = 5
"""Of the cross-validation, where there are enough trajectories."""

Compared = Problem[Any] | Estimate
HEADER = (
    "model",
    "gamma",
    "parameters",
    "log-likelihood",
    "AIC",
    "BIC",
    "held out/step",
    "bits/step",
    "LR p-value",
    "suboptimality",
)


@dataclass(frozen=True, eq=False)
class ComparedModel:
    """One row of a comparison.

    Attributes:
        name: Of the model.
        estimate: From all demonstrations.
        cross_validation: Of the same model; None where it was left out.
        suboptimality: Of the demonstrator under the estimate; None where the dynamics are not a
            table.
        nested_in: Name of the smallest other model that contains it, if any.
        test: Likelihood-ratio test of this model against that one, if there is anything to test.
        notes: What has to be known to read the row.
    """

    name: str
    estimate: Estimate
    cross_validation: CrossValidation | None
    suboptimality: Suboptimality | None
    nested_in: str | None = None
    test: LikelihoodRatioTest | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Models of the same demonstrations, in the order in which they were given.

    Attributes:
        models: One row each.
        uniform_log_likelihoods: Of each trajectory under uniform choice, `N`.
    """

    models: tuple[ComparedModel, ...]
    uniform_log_likelihoods: FloatArray

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[ComparedModel]:
        return iter(self.models)

    def __getitem__(self, name: str) -> ComparedModel:
        found = [model for model in self.models if model.name == name]
        if not found:
            names = ", ".join(model.name for model in self.models)
            raise InvalidInputError(f"there is no model {name!r}; expected one of {names}")
        return found[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, for a JSON file."""
        facts: dict[str, Any] = plain(
            {
                "models": [_model_facts(model) for model in self.models],
                "uniform_log_likelihood": float(self.uniform_log_likelihoods.sum()),
            }
        )
        return facts

    def __repr__(self) -> str:
        return f"Comparison({', '.join(model.name for model in self.models[:4])})"

    def __str__(self) -> str:
        first = self.models[0].estimate
        chance = float(self.uniform_log_likelihoods.sum())
        held_out = [f"{chance / first.n_steps:.4f}", f"{_bits(chance / first.n_steps):.4f}"]
        uniform = ["uniform choice", "", "0", f"{chance:.4f}", *[f"{-2.0 * chance:.2f}"] * 2]
        lines = aligned(HEADER, [*map(_cells, self.models), [*uniform, *held_out, "", "1"]])
        notes = [f"{model.name}: {note}" for model in self.models for note in model.notes]
        return "\n".join(
            [f"{first.n_demonstrations} demonstrations, {first.n_steps} steps", *lines, *notes]
        )


def _bits(log_likelihood: float) -> float:
    return -log_likelihood / float(np.log(2.0))


def _cells(model: ComparedModel) -> list[str]:
    estimate, validated, apart = model.estimate, model.cross_validation, model.suboptimality
    test = "-" if model.test is None else f"{model.test.p_value:.4g} in {model.nested_in}"
    return [
        model.name,
        f"{estimate.problem.gamma:g}",
        str(len(estimate.theta)),
        f"{estimate.log_likelihood:.4f}",
        f"{estimate.aic:.2f}",
        f"{estimate.bic:.2f}",
        "-" if validated is None else f"{validated.per_step:.4f}",
        "-" if validated is None else f"{validated.bits_per_step:.4f}",
        test,
        "-" if apart is None else f"{apart.relative:.3f} ± {apart.standard_error:.3f}",
    ]


def _model_facts(model: ComparedModel) -> dict[str, Any]:
    apart, test = model.suboptimality, model.test
    return {
        "name": model.name,
        **model.estimate.to_dict(),
        "held_out": None if model.cross_validation is None else model.cross_validation.to_dict(),
        "suboptimality": None
        if apart is None
        else {"relative": apart.relative, "standard_error": apart.standard_error},
        "nested_in": model.nested_in,
        "likelihood_ratio_test": None if test is None else test._asdict(),
        "notes": model.notes,
    }


def compare(
    models: Compared | Sequence[Compared] | Mapping[str, Compared],
    gammas: float | Sequence[float] = (),
    folds: int | None = None,
    seed: int = 0,
    groups: ArrayLike | None = None,
    starts: int = STARTS,
) -> Comparison:
    """Estimate several models of the same demonstrations and compare them.

    Args:
        models: Problems that differ in their reward family, discount or solver, or estimates of
            such; by name, or named after the problems.
        gammas: Discounts; each problem is compared with each of them in place of its own.
        folds: Of the cross-validation; 0 leaves it out. By default five or, where there are fewer
            trajectories or groups, as many as there are; none where there is but one.
        seed: Of the folds, and of the thetas that descents start from.
        groups: A label for each trajectory, `N`; those with the same one are held out together.
        starts: Descents of each estimate.

    Raises:
        InvalidInputError: The demonstrations differ, or a model has no exact gradient.
        SolverError: A model has no policy all over its box.
    """
    named = _named(models, [float(gamma) for gamma in np.atleast_1d(gammas)])
    first_name, first = next(iter(named.items()))
    for name, model in named.items():
        one, other = _problem(first), _problem(model)
        if not same_demonstrations(one, other):
            raise InvalidInputError(
                f"the demonstrations of {first_name!r} ({one.demonstrations!r}) are not those of "
                f"{name!r} ({other.demonstrations!r}); expected the same: likelihoods of different "
                "data cannot be compared"
            )
    if folds is None:
        folds = _usual_folds(_problem(first), groups)
    rows = {
        name: _estimated(name, model, folds, seed, groups, starts) for name, model in named.items()
    }
    problem = _problem(first)
    chance = uniform_log_likelihoods(problem, problem.policy(rows[first_name].estimate.theta))
    return Comparison(tuple(_with_test(row, list(rows.values())) for row in rows.values()), chance)


def _usual_folds(problem: Problem[Any], groups: ArrayLike | None) -> int:
    apart = len(problem.demonstrations) if groups is None else len(np.unique(groups))
    return min(FOLDS, apart) if apart > 1 else 0


def _problem(model: Compared) -> Problem[Any]:
    return model.problem if isinstance(model, Estimate) else model


def _named(
    models: Compared | Sequence[Compared] | Mapping[str, Compared], gammas: list[float]
) -> dict[str, Compared]:
    """The models by distinct names."""
    if not isinstance(models, Sequence | Mapping):
        models = [models]
    given = (
        list(models.items())
        if isinstance(models, Mapping)
        else [(getattr(_problem(model), "name", ""), model) for model in models]
    )
    if not given:
        raise InvalidInputError("there are no models; expected at least one problem to estimate")
    for _, model in given:
        if not isinstance(model, Problem | Estimate):
            raise InvalidInputError(
                f"a model is a {type(model).__name__}; expected problems, or estimates of them"
            )
    if len(set(gammas)) < len(gammas):
        raise InvalidInputError(f"gammas are {gammas}; expected each discount once")
    if gammas:
        given = [
            (f"{name}, gamma {gamma:g}", _problem(model).with_gamma(gamma))
            for name, model in given
            for gamma in gammas
        ]
    names = [name for name, _ in given]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInputError(
            f"{names.count(twice)} models are called {twice!r}; expected a name for each: pass a "
            "dictionary, such as {'with noise': problem, 'without': other}"
        )
    return dict(given)


def _estimated(
    name: str, model: Compared, folds: int, seed: int, groups: ArrayLike | None, starts: int
) -> ComparedModel:
    problem = _problem(model)
    try:
        estimate = model if isinstance(model, Estimate) else maximum_likelihood(model, starts, seed)
        validated = None if folds == 0 else cross_validate(problem, folds, seed, groups, starts)
        apart = (
            problem.suboptimality(estimate.theta) if isinstance(problem, TabularProblem) else None
        )
    except BoirlError as error:
        raise type(error)(f"model {name!r}: {error}") from error
    flat = [f"the demonstrations do not determine {one}" for one in estimate.flat_directions]
    bound = [f"on its bound: {', '.join(estimate.on_bound)}"] if estimate.on_bound else []
    return ComparedModel(name, estimate, validated, apart, notes=(*flat, *bound))


def _with_test(row: ComparedModel, rows: list[ComparedModel]) -> ComparedModel:
    """The row with a test against the smallest model that contains it for sure."""
    problem, size = row.estimate.problem, len(row.estimate.theta)
    larger = [
        other
        for other in rows
        if len(other.estimate.theta) > size
        and different_setting(other.estimate.problem, problem) is None
        and contains(other.estimate.problem, problem)
    ]
    if not larger:
        return row
    best = min(larger, key=lambda one: (len(one.estimate.theta), -one.estimate.log_likelihood))
    try:
        test = best.estimate.likelihood_ratio_test(row.estimate)
    except InvalidInputError as error:
        note = f"not tested against {best.name}: {error}"
        return replace(row, nested_in=best.name, notes=(*row.notes, note))
    return replace(row, nested_in=best.name, test=test)
