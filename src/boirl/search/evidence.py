"""What a study explains, and how it changes: demonstrations come and go, comparisons are added.

Every policy that was solved for is kept. Added demonstrations are scored under the kept policies,
those of before keep the likelihoods that they have, and nothing is solved again. A study records
which evidence counts; evaluations are stored as they were told, and read as the evidence of now
says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from numpy.typing import ArrayLike
from optuna.trial import FrozenTrial

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.files import read_arrays, without_prefix
from boirl.problem import Problem
from boirl.problem.preferences import Preferences
from boirl.search.evidence_files import evidence_file, write_evidence
from boirl.search.records import EvaluationRecords, check_whole, evidence_of
from boirl.types import FloatArray

EVIDENCE = "boirl:evidence"
PROBLEM = "boirl:problem"


class StudyEvidence:
    """The evidence of a study, and its evaluations under it.

    Args:
        study: Records which evidence counts.
        records: The evaluations, as they were told.
        problem: As it is given when the study is opened: with the demonstrations that the study
            began with, or with those of now.

    Attributes:
        problem: With the demonstrations of now.
        preferences: The comparisons; None where there are none.
        version: How often the evidence has changed.
        original: Fingerprint of the problem that the study began with.
    """

    def __init__(
        self, study: optuna.Study, records: EvaluationRecords, problem: Problem[Any]
    ) -> None:
        self.problem = problem
        self.preferences: Preferences | None = None
        self.version = 0
        self.original = problem.fingerprint()
        self._study, self._records = study, records
        self._by_demonstrations: dict[int, Evaluation] = {}
        self._read: dict[int, Evaluation] = {}
        stored = study.user_attrs.get(EVIDENCE)
        if stored is not None:
            self._restore(stored)

    def read(self, trial: FrozenTrial) -> Evaluation:
        """The evaluation of a finished trial under the evidence of now."""
        number = trial.number
        if number not in self._read:
            known = self._explained(trial)
            if self.preferences is not None:
                known = self.preferences.scored(self.problem, known)
            self._read[number] = known
        return self._read[number]

    def _explained(self, trial: FrozenTrial) -> Evaluation:
        """The evaluation of a trial under the demonstrations of now, without comparisons."""
        kept = self._by_demonstrations.get(trial.number)
        if kept is None:
            kept = self._records.read(trial)
            if evidence_of(trial) != self.version:
                kept = rescored(self.problem, kept)
            check_whole(trial, kept, len(self.problem.demonstrations))
            self._by_demonstrations[trial.number] = kept
        return kept

    def add_demonstrations(self, more: Demonstrations, trials: Sequence[FrozenTrial]) -> None:
        """See `Study.add_demonstrations`."""
        added = self.problem.with_demonstrations(_demonstrations(more))
        own = self.problem.demonstrations
        joined = type(own).concatenate([own, added.demonstrations])
        problem = self.problem.with_demonstrations(joined)
        known = {trial.number: self._explained(trial) for trial in trials}
        # What trajectories count for each other by their weights, or the spread over several
        # policies, is not a matter of the new ones alone.
        if problem.is_model_free or getattr(joined, "weights", None) is not None:
            new = {number: rescored(problem, one) for number, one in known.items()}
        else:
            new = _extended(problem, added, known)
        self._change(problem, self.preferences, new)

    def remove_demonstrations(self, which: ArrayLike, trials: Sequence[FrozenTrial]) -> None:
        """See `Study.remove_demonstrations`."""
        own = self.problem.demonstrations
        kept = np.setdiff1d(np.arange(len(own)), _numbers(which, len(own)))
        if not len(kept):
            raise InvalidInputError(
                f"all {len(own)} demonstrations are to be removed; expected one to remain at least"
            )
        problem = self.problem.with_demonstrations(own.subset(kept))
        known = {trial.number: self._explained(trial) for trial in trials}
        counted = {} if getattr(own, "weights", None) is not None else _of_one_policy(known)
        table = np.array([one.log_likelihoods for one in counted.values()])
        new = _with_likelihoods(counted, table.reshape(-1, len(own))[:, kept])
        self._change(problem, self.preferences, _completed(problem, known, new))

    def add_preferences(self, more: Preferences) -> None:
        """See `Study.add_preferences`."""
        if not isinstance(more, Preferences):
            raise InvalidInputError(
                f"preferences are a {type(more).__name__}; expected boirl.Preferences(better, "
                "worse), one trajectory of each per comparison"
            )
        fitting = more.fitted_to(self.problem)
        known = [fitting] if self.preferences is None else [self.preferences, fitting]
        self._change(self.problem, Preferences.concatenate(known), self._by_demonstrations)

    def _change(
        self,
        problem: Problem[Any],
        preferences: Preferences | None,
        evaluations: Mapping[int, Evaluation],
    ) -> None:
        """Take over other evidence; durable when this returns, where there is a folder."""
        version, folder = self.version + 1, self._records.folder
        if folder is not None:
            write_evidence(folder, version, problem, preferences)
        recorded = {
            "version": version,
            "fingerprint": problem.fingerprint(),
            "comparisons": 0 if preferences is None else len(preferences),
        }
        self._study.set_user_attr(EVIDENCE, recorded)
        self.problem, self.preferences, self.version = problem, preferences, version
        self._by_demonstrations, self._read = dict(evaluations), {}

    def copy_to(self, folder: Path) -> None:
        """Write the evidence to the folder of another storage, where it has changed at all."""
        if self.version:
            write_evidence(folder, self.version, self.problem, self.preferences)

    def _restore(self, stored: Any) -> None:
        if not isinstance(stored, dict) or not isinstance(stored.get("version"), int):
            raise StorageError(
                f"the evidence of the study is damaged (found {str(stored)[:80]!r}); bring back a "
                "copy of the database, or name another one"
            )
        self.version = stored["version"]
        folder = self._records.folder
        if folder is None:
            if stored["fingerprint"] != self.original or stored.get("comparisons"):
                raise InvalidInputError(
                    "the demonstrations or comparisons of this study were changed, and are not "
                    "kept in an artifact store; expected artifacts to be a folder, or the problem "
                    "with the demonstrations of now and no comparisons"
                )
            self.original = self._study.user_attrs.get(PROBLEM, self.original)
            return
        arrays = read_arrays(evidence_file(folder, self.version), "the evidence of a study")
        if self.original == stored["fingerprint"]:
            self.original = self._study.user_attrs.get(PROBLEM, self.original)
        else:
            shown = without_prefix("demonstrations", arrays)
            kind = type(self.problem.demonstrations)
            self.problem = self.problem.with_demonstrations(kind.from_dict(shown))
        compared = without_prefix("preferences", arrays)
        if compared:
            self.preferences = Preferences.from_dict(compared)


class ChangingEvidence(ABC):
    """What a `Study` does when answers come in: nothing that was solved for is solved again."""

    evidence: StudyEvidence

    @property
    @abstractmethod
    def trials(self) -> list[FrozenTrial]: ...

    @abstractmethod
    def rebuild(self) -> None: ...

    def add_demonstrations(self, more: Demonstrations) -> None:
        """Explain further demonstrations, beside those of now.

        All evaluations so far are scored under them from the policies that they keep, and the
        search goes on from there. Their gradients, which would have to be computed again, are left
        out.

        Args:
            more: They have to fit the environment of the problem.
        """
        self.evidence.add_demonstrations(more, self.trials)
        self.rebuild()

    def remove_demonstrations(self, which: ArrayLike) -> None:
        """Explain all demonstrations but these.

        Args:
            which: Their numbers, counted from 0 in `study.problem.demonstrations`, or a mask.
        """
        self.evidence.remove_demonstrations(which, self.trials)
        self.rebuild()

    def add_preferences(self, more: Preferences) -> None:
        """Count comparisons of trajectories as evidence beside the demonstrations.

        The NLL of a reward, which is per demonstration, then holds the negative log-likelihood of
        the comparisons as well; see `boirl.Preferences`.
        """
        self.evidence.add_preferences(more)
        self.rebuild()


def rescored(problem: Problem[Any], evaluation: Evaluation) -> Evaluation:
    """An evaluation with the demonstrations of this problem, from the policies that it keeps.

    Where it kept none and dynamics are known, it is evaluated again.
    """
    if evaluation.ok and not evaluation.policies and not problem.is_model_free:
        again = problem.evaluate(evaluation.theta, evaluation.seed)
        return replace(again, facts={**evaluation.facts, **again.facts})
    return problem.rescore(evaluation)


def _extended(
    problem: Problem[Any], added: Problem[Any], known: Mapping[int, Evaluation]
) -> dict[int, Evaluation]:
    """Evaluations with further demonstrations, those of `added`; all policies are looked at once.

    Args:
        problem: With all demonstrations.
        added: With the further ones alone.
        known: Evaluations with the others alone, by number.
    """
    kept = _of_one_policy(known)
    if not kept:
        return _completed(problem, known, {})
    rows = added.kept_log_likelihoods(list(kept.values()))
    before = np.array([one.log_likelihoods for one in kept.values()])
    new = _with_likelihoods(kept, np.concatenate([before, rows], axis=1))
    return _completed(problem, known, new)


def _of_one_policy(known: Mapping[int, Evaluation]) -> dict[int, Evaluation]:
    """The evaluations whose likelihoods are those of the single policy that they keep."""
    return {
        number: one
        for number, one in known.items()
        if one.ok and len(one.policies) == 1 and one.log_likelihoods is not None
    }


def _with_likelihoods(
    evaluations: Mapping[int, Evaluation], table: FloatArray
) -> dict[int, Evaluation]:
    """Evaluations by number with these log-likelihoods of the demonstrations, `n x N`."""
    nll = -table.mean(axis=1)
    return {
        number: replace(one, nll=float(mean), log_likelihoods=row, gradient=None)
        for (number, one), row, mean in zip(evaluations.items(), table, nll, strict=True)
    }


def _completed(
    problem: Problem[Any], known: Mapping[int, Evaluation], new: Mapping[int, Evaluation]
) -> dict[int, Evaluation]:
    """The new evaluations, and the others scored again, in the order of all."""
    return {
        number: new[number] if number in new else rescored(problem, one)
        for number, one in known.items()
    }


def _demonstrations(given: Any) -> Demonstrations:
    if not isinstance(given, Demonstrations):
        raise InvalidInputError(
            f"demonstrations are a {type(given).__name__}; expected boirl.Demonstrations (see "
            "Demonstrations.from_arrays and from_trajectories)"
        )
    return given


def _numbers(which: ArrayLike, count: int) -> Any:
    """Numbers of trajectories from numbers or a mask, checked."""
    chosen = np.atleast_1d(np.asarray(which))
    if chosen.dtype == bool:
        if chosen.shape != (count,):
            raise InvalidInputError(
                f"the mask has shape {chosen.shape}; expected {count} entries, one for each "
                "demonstration"
            )
        return np.flatnonzero(chosen)
    if chosen.dtype.kind not in "iu" or not ((chosen >= 0) & (chosen < count)).all():
        raise InvalidInputError(
            f"the demonstrations to remove are {chosen.tolist()}; expected numbers from 0 to "
            f"{count - 1}"
        )
    return chosen
