"""Table 1: success rate, and iterations until the expert's ESOR is reached.

Two protocols side by side. *Paper*: the demonstrations that come with the problem, 10 trials, the
paper's budgets, and its rule, which compares two sampled numbers. *Exact*: demonstrations of ten
seeds, 50 trials where the model is known and 10 elsewhere, and expectations. Both start every
search from a point of high NLL and count iterations as the paper does: the initial point is 0.
Baselines start where they start by themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from boirl import baselines
from boirl.errors import InvalidInputError
from boirl.experiments.published import Published, published
from boirl.experiments.race import Race, Rule
from boirl.experiments.trials import Row, times
from boirl.problem import Problem
from boirl.reproduction.environments import ENVIRONMENTS, build_problem
from boirl.reproduction.facts import DEMONSTRATION_SEEDS, problem_cell
from boirl.reproduction.judging import exact_rule, is_attainable, sampled_rule
from boirl.reproduction.methods import (
    SEARCHES,
    all_methods,
    chosen_methods,
    run_search,
    search_settings,
)
from boirl.reproduction.methods import baselines as baseline_rows
from boirl.reproduction.plan import PROTOCOLS, QUICK_EVALUATIONS, Item, Plan, command
from boirl.reproduction.statistics import bootstrap_mean, paired, share_interval
from boirl.reproduction.store import Cell, Store, Tables

TABLE = "trials"
COMPARED = ("gridworld", "borlange wide", "borlange narrow", "maze")
LEARNED = ("maze",)
PAPER_SEEDS, EXACT_SEEDS, EXACT_SEEDS_LEARNED = range(10), range(50), range(10)
EXACT_BUDGET = 40
QUICK_METHODS = ("rho-rbf", "rho-rbf, as published", "random", "maxent")
RULE_OF = {"paper": "sampled", "exact": "exact"}
NO_RESULT, NOT_RUN = "-", "not run"


def cells(plan: Plan) -> list[Cell]:
    """Every method in every environment under both protocols, and facts of the problems."""
    methods = chosen_methods(plan.methods)
    if plan.quick and plan.methods is None:
        methods = QUICK_METHODS
    wanted = []
    for environment in plan.of(COMPARED):
        for protocol in plan.protocols or PROTOCOLS:
            for seed in plan.seeds_or(full_seeds(environment, protocol)):
                demonstrations = _demonstrations(environment, protocol, seed)
                wanted.append(problem_cell(plan, environment, demonstrations))
                wanted += [
                    trial_cell(plan, environment, protocol, method, demonstrations, seed)
                    for method in methods
                ]
    return wanted


def full_seeds(environment: str, protocol: str) -> range:
    """The trials of a full table."""
    exact = EXACT_SEEDS_LEARNED if environment in LEARNED else EXACT_SEEDS
    return PAPER_SEEDS if protocol == "paper" else exact


def _demonstrations(environment: str, protocol: str, seed: int) -> int | None:
    own = ENVIRONMENTS[environment].chosen_seed
    return own if protocol == "paper" else seed % DEMONSTRATION_SEEDS


def trial_cell(
    plan: Plan, environment: str, protocol: str, method: str, demonstrations: int | None, seed: int
) -> Cell:
    """One trial: a method, until it is as good as the expert or at the end of its budget."""
    key: Row = {
        "environment": environment,
        "protocol": protocol,
        "method": method,
        "demonstrations": demonstrations,
        "seed": seed,
    }
    own = ENVIRONMENTS[environment]
    settings: dict[str, Any]
    if method in SEARCHES:
        settings = search_settings(environment, method)
        budget = own.budget if protocol == "paper" else EXACT_BUDGET
    else:
        name, chosen, budget = baseline_rows()[method]
        settings = {"baseline": name, **chosen}
    if plan.quick:
        budget = min(budget, QUICK_EVALUATIONS)
    settings = {"quick": plan.quick, "budget": budget, "hard_nll": own.hard_nll, **settings}
    run = partial(_trial, **key, budget=budget, quick=plan.quick, data=plan.data)
    return Cell("trial", key, settings, run)


def _trial(
    environment: str,
    protocol: str,
    method: str,
    demonstrations: int | None,
    seed: int,
    budget: int,
    quick: bool,
    data: str | None,
) -> Tables:
    problem = build_problem(environment, demonstrations, quick, data)
    rules = {"exact": exact_rule(problem, ENVIRONMENTS[environment].tolerance)}
    if protocol == "paper":
        rules["sampled"] = sampled_rule(problem, seed)
    race, refused = _run(problem, environment, method, seed, budget, quick, rules)
    row: Row = {"budget": budget, "attainable": is_attainable(problem), "refused": refused}
    for rule in ("exact", "sampled"):
        reached = race.reached.get(rule)
        row[rule] = None if reached is None else reached["evaluations"] - 1
        row[f"{rule}_policies"] = None if reached is None else reached["policies"]
        row[f"{rule}_steps"] = None if reached is None else reached["environment_steps"]
    best = np.isfinite(race.best)
    row |= {
        "best_nll": race.best if best else None,
        "esor": race.esor if best else None,
        "seconds": round(race.spent["seconds"], 2),
    }
    return {TABLE: [row]}


def _run(
    problem: Problem[Any],
    environment: str,
    method: str,
    seed: int,
    budget: int,
    quick: bool,
    rules: dict[str, Rule],
) -> tuple[Race, str | None]:
    """The race of one method, or why it does not apply."""
    race = Race(problem, rules)
    if method in SEARCHES:
        run_search(problem, environment, method, seed, budget, quick, race.judge)
        return race, None
    name, settings, _ = baseline_rows()[method]
    baseline = baselines.get(name, **settings)
    try:
        baseline.check(problem)
    except InvalidInputError as error:
        return race, str(error)
    baseline.run(problem, budget, seed, race.judge)
    return race, None


def summarise(rows: Sequence[Row], rule: str, random: Sequence[Row] = ()) -> Row:
    """A line of the table, from the trials of a method; `random` holds those of random search."""
    hits = [row[rule] for row in rows]
    reached = [hit for hit in hits if hit is not None]
    line: Row = {"trials": len(rows), "refused": rows[0]["refused"], **times(hits)}
    line["share"] = share_interval(len(reached), len(rows))
    line["interval"] = bootstrap_mean(reached) if reached else None
    line["against_random"] = paired(
        {row["seed"]: row[rule] for row in rows}, {row["seed"]: row[rule] for row in random}
    )
    return line


def lines(store: Store, environment: str) -> dict[str, dict[str, Row]]:
    """Summaries by method and protocol, of what a store holds of an environment.

    Every row of the table is there, also one without trials.
    """
    found: dict[str, dict[str, Row]] = {}
    for method in _rows(store, environment):
        found[method] = {}
        for protocol in PROTOCOLS:
            where = {"environment": environment, "protocol": protocol}
            rows = store.select(TABLE, **where, method=method)
            if rows:
                random = store.select(TABLE, **where, method="random")
                found[method][protocol] = summarise(rows, RULE_OF[protocol], random)
    return found


def _rows(store: Store, environment: str) -> list[str]:
    """All methods; those that a store holds trials of and that are no longer registered last."""
    there = {str(row["method"]) for row in store.select(TABLE, environment=environment)}
    return [*all_methods(), *sorted(there - set(all_methods()))]


def describe(store: Store) -> str:
    """One table per environment, in Markdown, and the commands that fill its gaps."""
    parts = [
        "A full table has {} trials by the paper's protocol and {} by the exact one ({} where "
        "policies are learned). A cell says: success rate, its 95 % interval (Wilson), mean and "
        "standard deviation of iterations over the successful trials, and the number of "
        "trials.".format(*map(len, (PAPER_SEEDS, EXACT_SEEDS, EXACT_SEEDS_LEARNED)))
    ]
    for environment in COMPARED:
        table = [
            f"### {ENVIRONMENTS[environment].title}",
            "",
            "| method | paper | paper's protocol | exact protocol | 95 % interval of the mean "
            "| earlier than random : later (p) |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for method, by in lines(store, environment).items():
            paper = _published_text(published(environment, method))
            own = [_cell(by.get(protocol)) for protocol in PROTOCOLS]
            table.append(f"| `{method}` | {paper} | {' | '.join(own)} | {_tests(by)} |")
        gaps = _gaps(store, environment)
        if gaps:
            table += [
                "",
                "Cells that are not run, or have fewer trials than a full table:",
                "",
                *gaps,
            ]
        parts.append("\n".join(table))
    return "\n\n".join(parts)


def _gaps(store: Store, environment: str) -> list[str]:
    """The commands that complete what a store holds of an environment, as a list."""
    found = []
    for protocol in PROTOCOLS:
        wanted = len(full_seeds(environment, protocol))
        counts = Counter(
            row["method"] for row in store.select(TABLE, environment=environment, protocol=protocol)
        )
        gaps = [method for method in all_methods() if counts[method] < wanted]
        named = gaps if len(gaps) < len(all_methods()) else ()
        if gaps:
            found.append(f"- {command('table1', environment, protocol, named)}")
    return found


def _published_text(paper: Published | None) -> str:
    if paper is None:
        return NO_RESULT
    after = "" if paper.mean is None else f", {paper.mean:g} ± {paper.sd:g}"
    return f"{paper.reached:.0%}{after}"


def _cell(line: Row | None) -> str:
    if line is None:
        return NOT_RUN
    if line["refused"]:
        return "does not apply"
    low, high = line["share"]
    after = (
        "" if line["after_mean"] is None else f", {line['after_mean']:.1f} ± {line['after_sd']:.1f}"
    )
    return f"{line['reached']:.0%} ({low:.0%} to {high:.0%}){after}; {line['trials']}"


def _tests(by: dict[str, Row]) -> str:
    line = by.get("exact")
    if line is None or line["refused"]:
        return f"{NO_RESULT} | {NO_RESULT}"
    interval = (
        NO_RESULT if line["interval"] is None else "{:.1f} to {:.1f}".format(*line["interval"])
    )
    first, second, p = line["against_random"]
    test = f"{first} : {second} ({p:.2g})" if first + second else NO_RESULT
    return f"{interval} | {test}"


ITEM = Item(
    "Success rate and iterations required to achieve the expert's ESOR",
    "The paper finds `rho-rbf` ahead of every other method in iterations, in all three "
    "environments, and Bayesian IRL ahead in success rate on Gridworld.",
    cells,
    None,
    describe,
)
