"""Bayesian IRL: Markov chains that draw rewards from their posterior.

With a uniform prior over the box, the probability of theta given `N` demonstrations goes with
`exp(-N * NLL(theta))`; rewards without a policy have probability 0. Two samplers:

- `"policy-walk"`: on a grid, from neighbour to neighbour (Ramachandran and Amir 2007).
- `"differential-evolution"`: several chains that learn the shape of the posterior from where all of
  them have been (ter Braak and Vrugt 2008), here with a kernel density beside the differences.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from scipy.stats import gaussian_kde

from boirl.baselines.base import Baseline
from boirl.baselines.run import BaselineRun
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.metrics.chains import effective_sample_size, r_hat
from boirl.problem import Problem
from boirl.threads import single_thread
from boirl.types import FloatArray, Report

Sampler = Literal["differential-evolution", "policy-walk"]

INDEPENDENT, ANYWHERE, WHOLE = 0.5, 0.1, 0.2
"""Shares of proposals that do not depend on where a chain is; of these, that are uniform in the
box; and of the others, that move by a whole difference, which leads from mode to mode."""

JITTER = 1e-4
"""Standard deviation of what is added to differences, as a share of the range."""

FIRST_STATES = 10
"""Uniform draws per parameter that take the place of earlier states until there are as many."""

KERNELS = 1000
"""Of the density of earlier states, at most."""

IMPOSSIBLE = -1e300
"""Log-likelihood of rewards without a policy: chains that start there walk freely, and no chain
comes back."""


@dataclass(frozen=True, eq=False)
class _Proposal:
    """What chains have learned: earlier states in the unit cube, `n x d`, and kernels of their
    density, `k x d`."""

    states: FloatArray
    kernels: FloatArray

    @cached_property
    def density(self) -> gaussian_kde:
        return gaussian_kde(self.kernels.T)

    @classmethod
    def of(cls, states: FloatArray, rng: np.random.Generator) -> _Proposal:
        some = rng.permutation(states)[:KERNELS]
        # States that coincide would have no density.
        return cls(states, some + JITTER * rng.standard_normal(some.shape))

    def move(self, unit: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Proposals from `c x d`, and the log odds `c` that the way back is proposed instead."""
        chains, dimension = unit.shape
        one, other = self.states[rng.integers(len(self.states), size=(2, chains))]
        whole = rng.random((chains, 1)) < WHOLE
        moved = unit + np.where(whole, 1.0, 2.38 / np.sqrt(2.0 * dimension)) * (one - other)
        moved += JITTER * rng.standard_normal(unit.shape)
        # Reflected at the borders: what is as likely as its opposite stays so.
        moved = np.abs((moved + 1.0) % 2.0 - 1.0)
        anywhere = rng.random((chains, 1)) < ANYWHERE
        fresh = np.where(anywhere, rng.random(unit.shape), self.density.resample(chains, rng).T)
        independent = rng.random((chains, 1)) < INDEPENDENT
        odds = self._log_density(unit) - self._log_density(fresh)
        return np.where(independent, fresh, moved), np.where(independent[:, 0], odds, 0.0)

    def _log_density(self, unit: FloatArray) -> FloatArray:
        return np.log(ANYWHERE + (1.0 - ANYWHERE) * self.density(unit.T))


@dataclass
class _State:
    """Where chains are in the unit cube, `c x d`, the log-likelihood there, and all steps so far.

    `known` are the log-likelihoods of the grid of a policy walk.
    """

    rng: np.random.Generator
    unit: FloatArray
    log_likelihood: FloatArray
    proposal: _Proposal | None = None
    known: dict[bytes, float] = field(default_factory=dict)
    history: list[FloatArray] = field(default_factory=list)
    accepted: int = 0
    n_policies: int = 0


@dataclass(frozen=True)
class BIRL(Baseline):
    """One step of all chains per iteration; the first one is where they start, anywhere in the box.

    Its evaluation is that of the best chain at present. Samples are the second half of all steps;
    R-hat and effective sample sizes show whether they were enough.

    Args:
        sampler: `"differential-evolution"` or `"policy-walk"`.
        chains: By default 10, or one of `"policy-walk"`, as published. Several walks know nothing
            of each other, but R-hat shows whether they agree.
        step: Distance of neighbours on the grid of `"policy-walk"`, as a share of the range. What
            was solved there once is not solved again.
    """

    sampler: Sampler = "differential-evolution"
    chains: int | None = None
    step: float = 0.05

    name: ClassVar[str] = "birl"
    summary: ClassVar[str] = "Markov chains that sample the posterior over rewards"
    default_evaluations: ClassVar[int] = 1024

    def __post_init__(self) -> None:
        if self.sampler not in get_args(Sampler):
            raise InvalidInputError(
                f"sampler is {self.sampler!r}; expected one of {', '.join(get_args(Sampler))}"
            )
        if self.chains is not None and self.chains < 1:
            raise InvalidInputError(f"chains is {self.chains}; expected at least 1")
        if not 0.0 < self.step <= 0.5:
            raise InvalidInputError(f"step is {self.step}; expected a share of up to 0.5")

    def check(self, problem: Problem[Any]) -> None:
        if problem.is_model_free:
            raise InvalidInputError(
                f"birl needs thousands of likelihoods, and the policies of problem "
                f"{problem.name!r} are learned: each would be a training run"
            )

    def begin(self, problem: Problem[Any], seed: int) -> _State:
        rng, dimension = np.random.default_rng(seed), problem.box.dimension
        walks = self.sampler == "policy-walk"
        starts = rng.random((self.chains or (1 if walks else 10), dimension))
        nowhere = np.full(len(starts), -np.inf)
        if walks:
            return _State(rng, self._on_grid(starts), nowhere)
        proposal = _Proposal.of(rng.random((FIRST_STATES * dimension, dimension)), rng)
        return _State(rng, starts, nowhere, proposal)

    def pack(self, state: _State) -> dict[str, Any]:
        proposal, shape = state.proposal, (-1, state.unit.shape[1])
        places = np.frombuffer(b"".join(state.known), dtype=np.float64).reshape(shape)
        return {
            "rng": state.rng,
            "unit": state.unit,
            "log_likelihood": state.log_likelihood,
            "proposal": proposal and {"states": proposal.states, "kernels": proposal.kernels},
            "known": {"places": places, "values": np.array(list(state.known.values()))},
            "history": np.array(state.history).reshape(len(state.history), *state.unit.shape),
            "accepted": state.accepted,
            "n_policies": state.n_policies,
        }

    def unpack(self, problem: Problem[Any], packed: dict[str, Any]) -> _State:
        proposal, known = packed["proposal"], packed["known"]
        places = (place.tobytes() for place in known["places"])
        return _State(
            packed["rng"],
            packed["unit"],
            packed["log_likelihood"],
            None if proposal is None else _Proposal(proposal["states"], proposal["kernels"]),
            dict(zip(places, known["values"].tolist(), strict=True)),
            list(packed["history"]),
            packed["accepted"],
            packed["n_policies"],
        )

    def advance(self, problem: Problem[Any], state: _State, report: Report) -> Evaluation:
        steps, solved = len(state.history), state.n_policies
        # The density is of small matrices, on which threads wait for each other.
        with single_thread():
            if steps == 0:
                state.log_likelihood = self._log_likelihood(problem, state, state.unit)
            else:
                self._step(problem, state, *self._propose(state))
        state.history.append(state.unit)
        best = int(state.log_likelihood.argmax())
        likelihood = state.log_likelihood[best]
        nll = np.nan if likelihood == IMPOSSIBLE else -likelihood / len(problem.demonstrations)
        return Evaluation(
            theta=tuple(problem.box.from_unit(state.unit[best]).tolist()),
            nll=float(nll),
            n_policies=state.n_policies - solved,
            facts={"acceptance rate": state.accepted / max(1, steps * len(state.unit))},
        )

    def finish(self, problem: Problem[Any], state: _State, run: BaselineRun) -> BaselineRun:
        """Add the samples, and whether the chains have mixed."""
        burn_in = len(run) // 2
        kept = problem.box.from_unit(np.stack(state.history[burn_in : len(run)], axis=1))
        numbers = dict(zip(problem.box.names, np.moveaxis(kept, 2, 0), strict=True))
        ratios = {name: round(r_hat(chains), 4) for name, chains in numbers.items()}
        sizes = {name: round(effective_sample_size(chains), 1) for name, chains in numbers.items()}
        facts = {
            "burn-in": burn_in,
            "acceptance rate": round(run.evaluations[-1].facts["acceptance rate"], 4),
            "largest R-hat": float(np.max(list(ratios.values()))),
            "R-hat": ratios,
            "effective sample size": sizes,
        }
        return replace(run, samples=kept.reshape(-1, problem.box.dimension), facts=facts)

    def _propose(self, state: _State) -> tuple[FloatArray, FloatArray]:
        """Where chains might go, `c x d`, and the log odds that the way back is proposed, `c`."""
        if state.proposal is None:
            proposed, walks = state.unit.copy(), len(state.unit)
            coordinates = state.rng.integers(proposed.shape[1], size=walks)
            signs = state.rng.choice((-1.0, 1.0), size=walks)
            proposed[np.arange(walks), coordinates] += signs / self._points
            return self._on_grid(proposed), np.zeros(walks)
        steps, (chains, dimension) = len(state.history), state.unit.shape
        # Ever more rarely; in between, these are Markov chains whose distribution is exactly the
        # posterior. Where the number of steps is a power of two, all samples are of one of them.
        if steps & (steps - 1) == 0 and steps // 2 * chains >= FIRST_STATES * dimension:
            state.proposal = _Proposal.of(np.concatenate(state.history[steps // 2 :]), state.rng)
        return state.proposal.move(state.unit, state.rng)

    def _step(
        self, problem: Problem[Any], state: _State, proposed: FloatArray, odds: FloatArray
    ) -> None:
        """Metropolis-Hastings; proposals outside the box are refused."""
        inside = np.all((proposed >= 0.0) & (proposed <= 1.0), axis=1)
        likelihood = np.full(len(proposed), IMPOSSIBLE)
        likelihood[inside] = self._log_likelihood(problem, state, proposed[inside])
        gain = likelihood - state.log_likelihood + odds
        goes = inside & (-state.rng.exponential(size=len(proposed)) < gain)
        state.unit = np.where(goes[:, None], proposed, state.unit)
        state.log_likelihood = np.where(goes, likelihood, state.log_likelihood)
        state.accepted += int(goes.sum())

    def _log_likelihood(self, problem: Problem[Any], state: _State, unit: FloatArray) -> FloatArray:
        if state.proposal is not None:
            return self._solve(problem, state, unit)
        keys = [point.tobytes() for point in unit]
        new = {key: point for key, point in zip(keys, unit, strict=True) if key not in state.known}
        if new:
            solved = self._solve(problem, state, np.stack(list(new.values())))
            state.known |= dict(zip(new, solved.tolist(), strict=True))
        return np.array([state.known[key] for key in keys])

    def _solve(self, problem: Problem[Any], state: _State, unit: FloatArray) -> FloatArray:
        nll = problem.nll_batch(problem.box.from_unit(unit))
        state.n_policies += len(unit) * problem.policies_per_evaluation
        likelihood = -len(problem.demonstrations) * nll
        likelihood[~np.isfinite(likelihood)] = IMPOSSIBLE
        return likelihood

    @property
    def _points(self) -> int:
        """Of the grid, per parameter."""
        return round(1.0 / self.step)

    def _on_grid(self, unit: FloatArray) -> FloatArray:
        """The middle of the cell of the grid, whose cells fill the box."""
        return (np.floor(unit * self._points) + 0.5) / self._points
