"""How quickly is Taxi learned from a reward that was recovered? (Metelli and others 2017, CR-IRL.)

A driver shows some trips. A new policy then learns from scratch, by REINFORCE, with the true reward
or with one that was recovered from the trips, and is judged by the true one: the expected sum over
an episode, exact and without a discount. Cloning learns nothing: its policy is fitted to the trips.

CR-IRL returns many rewards and so does a search: `spread` is the mean distance between the
policies of ten of each (total variation of actions where the driver was), `apart` the mean STARC
distance between these rewards, and `from truth` theirs from the true one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from boirl import baselines
from boirl.baselines.cloning import fit_clone
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.experiments.policy_gradient import learn, table_policy, total_return
from boirl.experiments.taxi import (
    STEPS,
    TRUTH,
    TaxiCRIRL,
    driver,
    taxi_dynamics,
    taxi_features,
    taxi_problem,
)
from boirl.experiments.trials import (
    Experiment,
    OnTrial,
    Row,
    check_methods,
    quiet,
    run_trials,
    write_summary,
)
from boirl.problem import TabularProblem
from boirl.results.reward_distances import starc_distance
from boirl.rewards import LinearReward
from boirl.search import explore
from boirl.types import FloatArray

STREAM = 1517
NOISE = {"careful": 0.0, "noisy": 0.1}
"""How often drivers do anything at all."""

TRIPS = 100
RATE = 0.1
EPISODES = 100
NOTED = (30, 60, 100, 150)
"""Iterations of learning after which the return is noted."""

SET_SIZE = 10
SEARCH_EVALUATIONS = 40
MAXENT_EVALUATIONS = 100
WEIGHT = 20.0
RIDGE = 1e-4

Recovered = tuple[FloatArray, float | None, Row]
"""A reward to learn from, `S x A`, its NLL, and what is known of the set it comes from."""


def _true(problem: TabularProblem, seed: int) -> Recovered:
    return problem.true_rewards(), problem.nll(TRUTH), {}


def _compatible(problem: TabularProblem, seed: int, known_dynamics: bool) -> Recovered:
    seen: list[Evaluation] = []

    def keep(evaluation: Evaluation, number: int) -> None:
        seen.append(evaluation)

    TaxiCRIRL(known_dynamics=known_dynamics).run(problem, SET_SIZE, seed, keep)
    members = [one for one in seen if one.ok]
    return _table(problem, seen[0]), seen[0].nll, _set(problem, members)


def _maxent(problem: TabularProblem, seed: int) -> Recovered:
    """Weights of the features that the policy sees, and of actions."""
    mdp = problem.mdp
    states, actions = taxi_features(mdp.n_states), np.eye(mdp.n_actions)
    parts = np.broadcast_arrays(states[:, None, :], np.zeros((1, mdp.n_actions, 1)))[0]
    natural = np.concatenate(
        [parts, np.broadcast_to(actions, (mdp.n_states, *actions.shape))], axis=2
    )
    names = [f"w{number}" for number in range(natural.shape[2])]
    reward = LinearReward(natural, dict.fromkeys(names, (-WEIGHT, WEIGHT)))
    other = replace(problem, reward=reward, truth=None)
    run = baselines.get("maxent").run(other, MAXENT_EVALUATIONS, seed)
    table = mdp.expected_rewards(reward, run.best[None])[0]
    return table, run.best_nll, {}


def _search(problem: TabularProblem, seed: int) -> Recovered:
    """The best of the family of three amounts, and draws from the posterior over it."""
    found = explore(problem, SEARCH_EVALUATIONS, seed=seed)
    drawn = [problem.evaluate(theta) for theta in found.sample(SET_SIZE, seed)]
    table = problem.mdp.expected_rewards(problem.reward, found.best[None])[0]
    return table, found.best_nll, _set(problem, drawn)


METHODS: dict[str, Callable[[TabularProblem, int], Recovered]] = {
    "true reward": _true,
    "cr-irl": partial(_compatible, known_dynamics=False),
    "cr-irl with dynamics": partial(_compatible, known_dynamics=True),
    "maxent": _maxent,
    "search": _search,
}
CLONING = "cloning"


def _table(problem: TabularProblem, evaluation: Evaluation) -> FloatArray:
    family = evaluation.reward or problem.reward
    return problem.mdp.expected_rewards(family, np.array([evaluation.theta]))[0]


def _set(problem: TabularProblem, members: list[Evaluation]) -> Row:
    """How different the rewards of a set are, and how their policies act."""
    policies = [problem.policy_of(one) for one in members]
    distances = problem.behaviour_distances(policies)
    tables = np.stack([_table(problem, one) for one in members] + [problem.true_rewards()])
    apart = starc_distance(problem.mdp, tables)
    others = ~np.eye(len(members), dtype=bool)
    returns = [total_return(problem.mdp, one, problem.true_rewards(), STEPS) for one in policies]
    return {
        "set_size": len(members),
        "set_spread": float(distances[others].mean()),
        "set_apart": float(apart[:-1, :-1][others].mean()),
        "set_from_truth": float(apart[-1, :-1].mean()),
        "set_return_worst": min(returns),
        "set_return_best": max(returns),
        "set_nll": float(np.mean([one.nll for one in members])),
    }


def run_trial(method: str, kind: str, iterations: int, trips: int, seed: int) -> Row:
    """Recover a reward from the trips of this seed, and learn from it."""
    problem = taxi_problem(NOISE[kind], trips, np.random.default_rng([STREAM, seed]))
    mdp, true = problem.mdp, problem.true_rewards()
    features = taxi_features(mdp.n_states)
    row: Row = {
        "method": method,
        "driver": kind,
        "iterations": iterations,
        "trips": trips,
        "seed": seed,
        "driver_return": total_return(mdp, driver(NOISE[kind]), true, STEPS),
    }
    if method == CLONING:
        clone = table_policy(mdp, fit_clone(features, problem.demonstrations, mdp.n_actions, RIDGE))
        row["nll"] = -float(problem.log_likelihoods(clone).mean())
        row["returns"] = [total_return(mdp, clone, true, STEPS)] * (iterations + 1)
        return row
    rewards, nll, of_set = METHODS[method](problem, seed)
    rewards = np.broadcast_to(rewards, true.shape)
    rng = np.random.default_rng([STREAM, seed, 1])
    returns = learn(mdp, features, rewards, true, iterations, EPISODES, STEPS, RATE, rng)
    return {**row, "nll": nll, "returns": returns.tolist(), **of_set}


KEY = ("method", "driver", "iterations", "trips", "seed")


def run(
    out: Path,
    methods: Sequence[str] = (*METHODS, CLONING),
    seeds: Sequence[int] = tuple(range(100, 106)),
    problems: Sequence[str] = tuple(NOISE),
    evaluations: int = max(NOTED),
    trips: int = TRIPS,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Learn with the reward of every method; see `Experiment`.

    Args:
        out: Folder for the results.
        methods: Some of `METHODS`, or cloning.
        seeds: Of trips, methods and learning.
        problems: Some of `NOISE`.
        evaluations: Iterations of learning.
        trips: That the driver shows.
        on_trial: See `OnTrial`.
    """
    check_methods(methods, (*METHODS, CLONING))
    unknown = sorted(set(problems) - set(NOISE))
    if unknown:
        raise InvalidInputError(
            f"there is no driver {', '.join(unknown)}; expected some of {', '.join(NOISE)}"
        )
    taxi_dynamics()
    lines = [(method, kind) for kind in problems for method in methods]
    wanted: dict[Hashable, Callable[[], Row]] = {}
    for method, kind in lines:
        for seed in seeds:
            key = (method, kind, evaluations, trips, seed)
            wanted[key] = partial(run_trial, *key)
    rows = run_trials(out, wanted, lambda row: tuple(row[name] for name in KEY), on_trial)
    summary = [
        summarise([row for row in rows if (row["method"], row["driver"]) == line]) for line in lines
    ]
    write_summary(out, summary)
    return summary


def summarise(rows: Sequence[Row]) -> Row:
    """Means over seeds, and standard errors of returns."""
    line: Row = {name: rows[0][name] for name in KEY[:-1]}
    curves = np.array([row["returns"] for row in rows])
    error = curves.std(axis=0) / max(1, len(rows) - 1) ** 0.5
    line |= {
        "trials": len(rows),
        "driver_return": rows[0]["driver_return"],
        "nll": float(np.mean([row["nll"] for row in rows])),
        "after": {
            str(number): [float(curves[:, number].mean()), float(error[number])]
            for number in NOTED
            if number < curves.shape[1]
        },
    }
    for name in (one for one in rows[0] if one.startswith("set_")):
        line[name] = float(np.mean([row[name] for row in rows]))
    return line


def _after(iterations: int, row: Row) -> str:
    noted = row["after"].get(str(iterations))
    return "-" if noted is None else f"{noted[0]:.1f} ± {noted[1]:.1f}"


def _of_set(name: str, row: Row) -> str:
    value: Any = row.get(f"set_{name}")
    return "-" if value is None else f"{value:.3f}"


EXPERIMENT = Experiment(
    run,
    {
        "driver": lambda row: f"{row['driver']} ({row['driver_return']:.1f})",
        "method": lambda row: row["method"],
        **{f"after {number}": partial(_after, number) for number in NOTED},
        "NLL": lambda row: f"{row['nll']:.2f}",
        "spread": partial(_of_set, "spread"),
        "apart": partial(_of_set, "apart"),
        "from truth": partial(_of_set, "from_truth"),
    },
    tiny={
        "methods": ["true reward", "cr-irl", CLONING],
        "seeds": [1000],
        "problems": ["careful"],
        "evaluations": 2,
        "trips": 20,
    },
)
