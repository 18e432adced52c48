"""The answer of a search: every reward that explains the demonstrations, not just the best."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.stats import chi2, qmc

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError, StorageError
from boirl.files import read_arrays, write_arrays
from boirl.grouping import group_alike
from boirl.inference import ParameterSummary, sample_rewards, summarise_parameters
from boirl.kernels import get_kernel
from boirl.noise import check_standard_errors
from boirl.problem import Problem, TabularProblem
from boirl.problems import load_problem
from boirl.projections import Identity, LogRho, Projection
from boirl.reward_distances import reward_distances
from boirl.settings import SearchSettings
from boirl.surrogates import FittedSurrogate, Surrogate
from boirl.types import Difference, FloatArray, IntArray

DistanceKind = Literal["behaviour", "starc", "epic"]
FORMAT = 1
VOLUME_POINTS = 2048
SAMPLE_STREAM = 5
GROUPED_AT_MOST = 500


def limit_above(best: float, tolerance: float, absolute: bool = False) -> float:
    """The highest NLL within a tolerance of the best: relative to it, or in NLL units."""
    if not tolerance >= 0:
        raise InvalidInputError(f"the tolerance is {tolerance}; expected 0 or more")
    return best + (tolerance if absolute else tolerance * abs(best))


@dataclass(frozen=True, eq=False)
class RewardGroup:
    """Rewards that make the demonstrator behave alike.

    Attributes:
        representative: The theta of the group with the lowest NLL, `d`.
        nll: Its NLL.
        indices: Numbers of the evaluations in the group, best first.
        thetas: Their thetas, `n x d`.
        width: Largest behavioural distance between two of them.
        volume: Share of the box that rewards of the group fill, by what the surrogate expects.
    """

    representative: FloatArray
    nll: float
    indices: IntArray
    thetas: FloatArray
    width: float
    volume: float


@dataclass(frozen=True, eq=False)
class RewardSet:
    """All evaluations of a search and what the surrogate makes of them.

    Attributes:
        problem: What was to be explained.
        surrogate: Kernel and projection of the search.
        settings: The settings of the search, by name.
        thetas: `n x d`, in the order of evaluation, initial ones first.
        nll: `n`; NaN where the solver failed.
        seconds: `n`, what each evaluation took.
        failures: Why an evaluation failed, or None; `n`.
        nll_se: `n`, the standard error of each NLL, 0 where it is exact or unknown; all 0 if empty.
    """

    problem: Problem[Any]
    surrogate: Surrogate
    settings: Mapping[str, Any]
    thetas: FloatArray
    nll: FloatArray
    seconds: FloatArray
    failures: tuple[str | None, ...]
    nll_se: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        told = self.nll_se if len(self.nll_se) else None
        object.__setattr__(self, "nll_se", check_standard_errors(told, len(self.nll)))

    def __len__(self) -> int:
        return len(self.nll)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters in theta."""
        return self.problem.box.names

    @property
    def best_index(self) -> int:
        """Number of the evaluation with the lowest NLL."""
        return int(np.nanargmin(self.nll))

    @property
    def best(self) -> FloatArray:
        """The theta with the lowest NLL, `d`; under noise that may be luck: see `expected_best`."""
        return self.thetas[self.best_index]

    @property
    def best_nll(self) -> float:
        return float(self.nll[self.best_index])

    @property
    def expected_best_index(self) -> int:
        """Number of the evaluation to trust most to be the best.

        Where evaluations are noisy, by their standard errors or by what the surrogate learned, the
        one with the lowest posterior mean; elsewhere the one with the lowest NLL.
        """
        return int(np.flatnonzero(np.isfinite(self.nll))[self.fitted.best_index])

    @property
    def expected_best(self) -> FloatArray:
        """The theta of `expected_best_index`, `d`."""
        return self.thetas[self.expected_best_index]

    def first(self, count: int) -> RewardSet:
        """The set as it was after so many evaluations."""
        return replace(
            self,
            thetas=self.thetas[:count],
            nll=self.nll[:count],
            seconds=self.seconds[:count],
            failures=self.failures[:count],
            nll_se=self.nll_se[:count],
        )

    def indices_within(self, tolerance: float = 0.01, absolute: bool = False) -> IntArray:
        """Numbers of the evaluations within a tolerance of the best, best first."""
        limit = limit_above(self.best_nll, tolerance, absolute)
        order = np.argsort(self.nll, kind="stable")
        return order[self.nll[order] <= limit]

    def within(self, tolerance: float = 0.01, absolute: bool = False) -> FloatArray:
        """Thetas whose NLL is within a tolerance of the best, `n x d`, best first.

        Args:
            tolerance: Relative to the best NLL (0.01 is one per cent), or in NLL units.
            absolute: Whether the tolerance is in NLL units.
        """
        return self.thetas[self.indices_within(tolerance, absolute)]

    def groups(
        self,
        tolerance: float = 0.10,
        distance: float | None = None,
        absolute: bool = False,
        by: DistanceKind = "behaviour",
    ) -> list[RewardGroup]:
        """The rewards within a tolerance, sorted by how they make the demonstrator behave.

        Two rewards share a group where all of its members act alike: their behavioural distance
        (with finitely many actions the total variation between the action probabilities, averaged
        over the demonstrated steps) is at most `distance`, by default what the problem takes for
        the same behaviour. Each reward costs one policy optimisation; of very many, the best 500
        are sorted. With `by="starc"` or `"epic"` they are sorted by the distances of
        `boirl.reward_distances` instead, where dynamics are known.

        Returns:
            Groups, the one with the lowest NLL first.
        """
        if distance is None:
            distance = self.problem.same_behaviour
        indices = self.indices_within(tolerance, absolute)[:GROUPED_AT_MOST]
        distances = self.distances(self.thetas[indices], by)
        alike = group_alike(distances, distance)
        volumes = self._volumes([indices[members] for members in alike], tolerance, absolute)
        groups = []
        for members, volume in zip(alike, volumes, strict=True):
            chosen = indices[members]
            groups.append(
                RewardGroup(
                    representative=self.thetas[chosen[0]],
                    nll=float(self.nll[chosen[0]]),
                    indices=chosen,
                    thetas=self.thetas[chosen],
                    width=float(distances[np.ix_(members, members)].max()),
                    volume=volume,
                )
            )
        return groups

    def distances(self, thetas: ArrayLike, by: DistanceKind = "behaviour") -> FloatArray:
        """Distances between rewards, `n x n`, in [0, 1]: of behaviour, or `"starc"` or `"epic"`."""
        checked = self.problem.box.check(thetas)
        if by == "behaviour":
            return self.problem.behaviour_distances([self.problem.policy(row) for row in checked])
        if not isinstance(self.problem, TabularProblem):
            raise InvalidInputError(
                f"the distance {by!r} needs known dynamics, which problem {self.problem.name!r} "
                "has not; expected 'behaviour'"
            )
        return reward_distances(self.problem, checked, by)

    def differences(self, one: RewardGroup, other: RewardGroup, count: int = 5) -> list[Difference]:
        """Where, along the demonstrations, two groups would act most differently."""
        first, second = (self.problem.policy(group.representative) for group in (one, other))
        return self.problem.most_different(first, second, count)

    def _volumes(self, groups: list[IntArray], tolerance: float, absolute: bool) -> list[float]:
        """The share of the box that belongs to each group.

        Thetas all over the box whose posterior mean is within the tolerance belong to the group of
        the evaluation that is nearest to them in the latent space, where what behaves alike lies
        together.
        """
        box = self.problem.box
        unit = qmc.Sobol(box.dimension, rng=np.random.default_rng(0)).random(VOLUME_POINTS)
        thetas = box.from_unit(unit)
        mean, _ = self.posterior(thetas)
        members = thetas[mean <= limit_above(self.best_nll, tolerance, absolute)]
        if len(members) == 0:
            return [0.0] * len(groups)
        owners = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        known = self.fitted.latent(self.thetas[np.concatenate(groups)])
        nearest = cdist(self.fitted.latent(members), known).argmin(axis=1)
        counts = np.bincount(owners[nearest], minlength=len(groups))
        return (counts / VOLUME_POINTS).tolist()

    def not_rejected(self, confidence: float = 0.95) -> float:
        """The absolute tolerance of the likelihood-ratio test, in NLL units.

        Rewards whose NLL is farther above the best are rejected by the demonstrations at this
        confidence: `within(found.not_rejected(), absolute=True)` are those that are not.
        """
        if not 0.0 < confidence < 1.0:
            raise InvalidInputError(f"the confidence is {confidence}; expected one in (0, 1)")
        quantile = float(chi2.ppf(confidence, self.problem.box.dimension))
        return 0.5 * quantile / len(self.problem.demonstrations)

    def sample(self, count: int = 1000, seed: int = 0) -> FloatArray:
        """Draw thetas, `count x d`, from the posterior over rewards, see `boirl.inference`."""
        if count < 1:
            raise InvalidInputError(f"count is {count}; expected at least one sample")
        rng = np.random.default_rng([seed, 0, SAMPLE_STREAM])
        return sample_rewards(self.fitted, len(self.problem.demonstrations), count, rng)

    def parameters(self, count: int = 1000, seed: int = 0) -> list[ParameterSummary]:
        """Which parameters the demonstrations pin down, and which they leave free."""
        return summarise_parameters(self.sample(count, seed), self.problem.box)

    def posterior(self, theta: ArrayLike, observed: bool = False) -> tuple[Any, Any]:
        """Mean and standard deviation of the NLL at one theta, or at each of `n x d`.

        With `observed`, the standard deviation is that of what an evaluation there would tell,
        its noise included.
        """
        mean, sd = self.fitted.posterior(self.problem.box.check(theta), observed)
        return (float(mean[0]), float(sd[0])) if np.ndim(theta) <= 1 else (mean, sd)

    @cached_property
    def fitted(self) -> FittedSurrogate:
        """The Gaussian process, fitted to all evaluations that succeeded."""
        good = np.isfinite(self.nll)
        return self.surrogate.fit_in_detail(self.thetas[good], self.nll[good], self.nll_se[good])

    def __str__(self) -> str:
        close, near = len(self.indices_within(0.01)), len(self.indices_within(0.10))
        failed = int(np.isnan(self.nll).sum())
        lines = [
            f"{self.problem.name}: {len(self)} evaluations"
            + (f", {failed} of them failed" if failed else ""),
            f"best NLL {self.best_nll:.4f}; rewards within 1 %: {close}, within 10 %: {near}",
        ]
        groups = self.groups()
        plural = "" if len(groups) == 1 else "s"
        lines.append(f"{len(groups)} distinct behaviour{plural} within 10 %, best reward of each:")
        header = "".join(f"{name:>14}" for name in self.names)
        lines.append(f"{'':>4}{header}{'NLL':>12}{'rewards':>9}{'of the box':>12}")
        for number, group in enumerate(groups, start=1):
            row = "".join(f"{value:>14.4f}" for value in group.representative)
            counts = f"{len(group.indices):>9}{group.volume:>12.1%}"
            lines.append(f"{number:>4}{row}{group.nll:>12.4f}{counts}")
        lines.append("what is known of each parameter (95 % interval, median):")
        for one in self.parameters():
            interval = f"{one.low:.4g} to {one.high:.4g}, {one.median:.4g}"
            lines.append(
                f"{one.name:>18}  {interval:<32}{one.verdict} ({one.share:.0%} of its range)"
            )
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one `.npz` file; an older file stays whole if that fails."""
        arrays: dict[str, NDArray[Any]] = {
            "thetas": self.thetas,
            "nll": self.nll,
            "nll_se": self.nll_se,
            "seconds": self.seconds,
        }
        _put(arrays, "demonstrations", self.problem.demonstrations)
        projection = self.surrogate.projection
        if isinstance(projection, LogRho):
            _put(arrays, "projected", projection.demonstrations)
            _put(arrays, "rollouts", Demonstrations.concatenate(projection.rollouts))
            arrays["rollout_counts"] = np.array([len(one) for one in projection.rollouts])
        facts = {
            "format": FORMAT,
            "problem": self.problem.name,
            "recipe": self.problem.recipe,
            "fingerprint": self.problem.fingerprint(),
            "settings": dict(self.settings),
            "failures": self.failures,
        }
        arrays["facts"] = np.array(json.dumps(facts))
        write_arrays(path, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], problem: Problem[Any] | None = None) -> RewardSet:
        """Read what `save` wrote.

        Args:
            path: The file. Policies in a folder `policies` beside it are used.
            problem: The problem of the search; may be left out for those of `load_problem`.
        """
        arrays = read_arrays(path, "the result of a search")
        if "facts" not in arrays:
            raise InvalidInputError(
                f"{os.fspath(path)!r} holds {sorted(arrays)}; expected a file that RewardSet.save "
                "wrote"
            )
        facts = json.loads(str(arrays["facts"]))
        if facts["format"] != FORMAT:
            raise StorageError(
                f"{os.fspath(path)!r} has format {facts['format']}; this version of boirl reads "
                f"format {FORMAT}"
            )
        if problem is None:
            if facts["recipe"] is None:
                raise InvalidInputError(
                    f"{os.fspath(path)!r} holds a search on problem {facts['problem']!r}, which "
                    "boirl cannot build by name; pass problem=... as it was in the search"
                )
            recipe = dict(facts["recipe"])
            problem = load_problem(recipe.pop("name"), **recipe)
            problem = problem.with_demonstrations(_take(arrays, "demonstrations"))
        if problem.fingerprint() != facts["fingerprint"]:
            raise InvalidInputError(
                f"{os.fspath(path)!r} holds a search on another problem than {problem.name!r}: "
                "demonstrations, dynamics, reward family or solver differ; pass the problem of "
                "the search"
            )
        policies = Path(path).parent / "policies"
        if policies.is_dir():
            problem = problem.with_policies(policies)
        settings = SearchSettings.from_options(facts["settings"])
        kernel = get_kernel(settings.kernel, settings.smoothness, settings.linear)
        projection: Projection = Identity(problem.box)
        if kernel.projected:
            ends = np.cumsum(arrays["rollout_counts"])
            rollouts = _take(arrays, "rollouts")
            sets = [
                rollouts.subset(np.arange(end - count, end))
                for end, count in zip(ends, arrays["rollout_counts"], strict=True)
            ]
            projection = settings.build_projection(problem, _take(arrays, "projected"), sets)
        return cls(
            problem=problem,
            surrogate=settings.surrogate_on(projection, problem),
            settings=asdict(settings),
            thetas=arrays["thetas"],
            nll=arrays["nll"],
            seconds=arrays["seconds"],
            failures=tuple(facts["failures"]),
            # Files of older versions lack standard errors.
            nll_se=arrays.get("nll_se", np.empty(0)),
        )


def _put(arrays: dict[str, NDArray[Any]], prefix: str, demonstrations: Demonstrations) -> None:
    for name, values in demonstrations.to_dict().items():
        arrays[f"{prefix}_{name}"] = values


def _take(arrays: dict[str, NDArray[Any]], prefix: str) -> Demonstrations:
    start = f"{prefix}_"
    return Demonstrations.from_dict(
        {name.removeprefix(start): arrays[name] for name in arrays if name.startswith(start)}
    )
