"""The interface of all baselines: iterations that end, go on after a break, and tell their cost."""

from __future__ import annotations

import io
import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, overload

import numpy as np

from boirl.errors import BoirlError, InvalidInputError, StorageError
from boirl.files import write_arrays, write_bytes
from boirl.interrupts import deferred_interrupts
from boirl.problem import Problem, TabularProblem
from boirl.rewards import RewardFamily
from boirl.types import FloatArray, Report, silent

SECONDS_BETWEEN_CHECKPOINTS = 5.0
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Iterate:
    """Where a baseline is after an iteration.

    Attributes:
        theta: The current reward: parameters of `reward`.
        nll: Its NLL, under the policy that the problem's own solver finds for it; NaN where that
            failed.
        reward: The family that theta belongs to: None for that of the problem.
        policies: Policy optimisations so far.
        environment_steps: Steps in the environment so far, those of roll-outs included.
        seconds: So far.
        facts: What else there is to say, by name.
        policy: The policy behind the NLL, for whoever is told of the iteration; not kept.
        iteration: From 1.
    """

    theta: tuple[float, ...]
    nll: float
    reward: RewardFamily | None = None
    policies: int = 0
    environment_steps: int = 0
    seconds: float = 0.0
    facts: dict[str, float] = field(default_factory=dict)
    policy: Any = None
    iteration: int = 0


Callback = Callable[[Iterate], bool | None]
"""Told of every iteration when it is done, of those before a break at the beginning.

The run ends where it returns True.
"""


@dataclass(frozen=True, eq=False)
class BaselineRun(Sequence[Iterate]):
    """All iterations of a baseline, in order.

    Attributes:
        method: Name of the baseline.
        problem: What was to be explained.
        iterates: One an iteration.
        samples: Thetas `n x d` that a method which samples returns in place of one reward.
        solutions: Thetas `n x d` that a method returns beside its best, best first.
        facts: What the whole run tells, by name.
    """

    method: str
    problem: Problem[Any]
    iterates: tuple[Iterate, ...]
    samples: FloatArray | None = None
    solutions: FloatArray | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @overload
    def __getitem__(self, index: int) -> Iterate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Iterate]: ...
    def __getitem__(self, index: int | slice) -> Iterate | Sequence[Iterate]:
        return self.iterates[index]

    def __len__(self) -> int:
        return len(self.iterates)

    @property
    def nll(self) -> FloatArray:
        """NLL after each iteration, `n`."""
        return np.array([iterate.nll for iterate in self.iterates])

    @property
    def best(self) -> Iterate:
        """The iteration with the lowest NLL.

        Raises:
            BoirlError: All of them failed.
        """
        if np.isnan(self.nll).all():
            raise BoirlError(f"no iteration of {self.method} found a policy for its reward")
        return self.iterates[int(np.nanargmin(self.nll))]

    def save(self, folder: str | Path) -> list[Path]:
        """Write what was found; return the paths.

        `METHOD.csv` has a line an iteration; `METHOD.npz` the best theta with, where there are
        any, samples, solutions, and the reward of each state that a network gives.
        """
        target = Path(folder)
        names = self.problem.box.names if self.best.reward is None else ()
        lines = [",".join(("iteration", "nll", "policies", "environment_steps", "seconds", *names))]
        for one in self.iterates:
            numbers = (one.iteration, one.nll, one.policies, one.environment_steps)
            theta = one.theta if names else ()
            lines.append(",".join(map(repr, (*numbers, round(one.seconds, 3), *theta))))
        arrays = {"theta": np.array(self.best.theta), "nll": np.array(self.best.nll)}
        for name in ("samples", "solutions"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        if self.best.reward is not None and isinstance(self.problem, TabularProblem):
            best = np.array([self.best.theta])
            arrays["rewards"] = self.problem.mdp.expected_rewards(self.best.reward, best)[0]
        table, archive = target / f"{self.method}.csv", target / f"{self.method}.npz"
        write_bytes(table, ("\n".join(lines) + "\n").encode())
        write_arrays(archive, arrays)
        return [table, archive]

    def __str__(self) -> str:
        last, best = self.iterates[-1], self.best
        lines = [
            f"{self.problem.name}, {self.method}: {len(self)} iterations, {last.policies} policy "
            f"optimisations, {last.environment_steps} steps in the environment, "
            f"{last.seconds:.1f} s",
            f"best NLL {best.nll:.4f}, in iteration {best.iteration}",
        ]
        if best.reward is None:
            named = zip(self.problem.box.names, best.theta, strict=True)
            lines.append(
                "best reward: " + ", ".join(f"{name} {value:.4f}" for name, value in named)
            )
        if self.solutions is not None:
            lines.append(f"solutions, best first ({', '.join(self.problem.box.names)}):")
            lines += ["  " + "".join(f"{value:>12.4f}" for value in row) for row in self.solutions]
        if self.samples is not None:
            low, middle, high = np.quantile(self.samples, (0.025, 0.5, 0.975), axis=0)
            lines.append(f"{len(self.samples)} samples (95 % interval, median):")
            for name, *numbers in zip(self.problem.box.names, low, high, middle, strict=True):
                lines.append(f"{name:>18}  {numbers[0]:.4g} to {numbers[1]:.4g}, {numbers[2]:.4g}")
        lines += [f"{name}: {value}" for name, value in self.facts.items()]
        return "\n".join(lines)


class Baseline(ABC):
    """A rival of the search. A frozen dataclass of its settings; its `repr` tells two apart.

    A subclass keeps everything that changes in a state which can be pickled, so that a run goes on
    after a break as if there had been none.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    usual_iterations: ClassVar[int] = 100

    @abstractmethod
    def check(self, problem: Problem[Any]) -> None:
        """Raise `InvalidInputError`, in one line, where the method does not apply."""

    @abstractmethod
    def begin(self, problem: Problem[Any], seed: int) -> Any:
        """The state before the first iteration."""

    @abstractmethod
    def advance(self, problem: Problem[Any], state: Any, report: Report) -> Iterate:
        """Do one iteration, which changes the state.

        Of the result, `iteration` and `seconds` are filled in by the caller.
        """

    def finish(self, problem: Problem[Any], state: Any, run: BaselineRun) -> BaselineRun:
        """Add what a method returns beside its iterations."""
        return run

    def run(
        self,
        problem: Problem[Any],
        iterations: int,
        seed: int = 0,
        callback: Callback | None = None,
        checkpoint: str | Path | None = None,
        report: Report = silent,
    ) -> BaselineRun:
        """Iterate, and return all iterations, a sequence.

        Args:
            problem: What is to be explained.
            iterations: In all, those before a break included.
            seed: Seeds every random choice.
            callback: See `Callback`.
            checkpoint: A file that keeps the run. Where it exists, the run goes on from there. Only
                open files that you trust: they are pickled.
            report: Told how far a long iteration is.

        Raises:
            InvalidInputError: The method does not apply, or the file keeps another run.
        """
        self.check(problem)
        if iterations < 1:
            raise InvalidInputError(f"iterations is {iterations}; expected at least one")
        path = None if checkpoint is None else Path(checkpoint)
        key = f"{self!r}, seed {seed}, problem {problem.fingerprint()}"
        state, iterates = self._resume(path, key) or (self.begin(problem, seed), [])
        before = iterates[-1].seconds if iterates else 0.0
        if callback is not None:
            for done in iterates:
                callback(done)
        began = saved = time.perf_counter()
        with deferred_interrupts() as interrupted:
            while len(iterates) < iterations:
                done = self.advance(problem, state, report)
                now = time.perf_counter()
                done = replace(done, iteration=len(iterates) + 1, seconds=before + now - began)
                iterates.append(replace(done, policy=None))
                enough = callback is not None and callback(done) is True
                # The time of whoever is told is not the method's.
                began += time.perf_counter() - now
                last = enough or len(iterates) == iterations or interrupted()
                if path is not None and (last or now - saved > SECONDS_BETWEEN_CHECKPOINTS):
                    _save(path, key, state, iterates)
                    saved = time.perf_counter()
                if interrupted():
                    raise KeyboardInterrupt
                if enough:
                    break
        whole = BaselineRun(self.name, problem, tuple(iterates[:iterations]))
        return self.finish(problem, state, whole)

    def _resume(self, path: Path | None, key: str) -> tuple[Any, list[Iterate]] | None:
        if path is None or not path.exists():
            return None
        try:
            kept = pickle.loads(path.read_bytes())
            found, parts = kept["key"], (kept["state"], kept["iterates"])
            outdated = kept["format"] != FORMAT
        except Exception as error:
            raise StorageError(
                f"{str(path)!r} cannot be read as a run of a baseline ({error!r}); it is damaged "
                "or something else: remove it to begin anew"
            ) from error
        if outdated or found != key:
            raise InvalidInputError(
                f"{str(path)!r} keeps another run ({found}); expected {key}: choose another file, "
                "or remove this one to begin anew"
            )
        return parts


def _save(path: Path, key: str, state: Any, iterates: list[Iterate]) -> None:
    buffer = io.BytesIO()
    kept = {"format": FORMAT, "key": key, "state": state, "iterates": iterates}
    pickle.dump(kept, buffer)
    write_bytes(path, buffer.getvalue())
