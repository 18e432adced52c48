"""The proposals of a study once more, in the order of what was known when they were made.

Evaluations on several workers end in an order that no seed determines. A study keeps that order,
and with each theta how many evaluations were finished and which were running when it was proposed.
From that, every proposal follows.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from optuna.trial import FrozenTrial, TrialState

from boirl.search.database import TOLD
from boirl.search.questions import Question
from boirl.search.records import is_finished
from boirl.search.sampler import KNOWN

if TYPE_CHECKING:
    from boirl.search.study import Study


def replay(study: Study) -> list[Question]:
    """Propose the theta of each finished evaluation again; nothing is evaluated or stored.

    Args:
        study: Its `evaluations` hold the thetas to compare with. Trials that were not proposed by a
            study of boirl are left out.
    """
    trials = {trial.number: trial for trial in study.database.trials()}
    finished = [trial for trial in trials.values() if is_finished(trial, study.problem.box)]
    in_order = sorted(finished, key=lambda trial: trial.user_attrs.get(TOLD, trial.number))
    questions = []
    for trial in finished:
        known = trial.system_attrs.get(KNOWN)
        if known is None:
            continue
        running = [_as_running(trials[number]) for number in known["running"]]
        before = sorted([*in_order[: known["finished"]], *running], key=lambda one: one.number)
        theta, _ = study.sampler.propose(trial.number, before)
        questions.append(Question(trial.number, tuple(theta.tolist())))
    return questions


def _as_running(trial: FrozenTrial) -> FrozenTrial:
    """A trial before its end."""
    earlier = copy.copy(trial)
    earlier.state = TrialState.RUNNING
    earlier.values = None
    return earlier
