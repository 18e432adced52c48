"""The generators of the suite by name. A new one is a function and a line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from boirl.errors import InvalidInputError
from boirl.experiments.suite import gymnasium_tables, objectworld, random_mdps, towns
from boirl.problem import Problem

TUNING_SEEDS_BELOW = 100
"""Settings of the search may be tuned on seeds below this, and are reported on those from it on."""

GENERATORS: dict[str, Callable[[int, str], Problem[Any]]] = {
    "mdp-few": partial(random_mdps.linear, parameters=(2, 3)),
    "mdp-some": partial(random_mdps.linear, parameters=(4, 6)),
    "mdp-many": partial(random_mdps.linear, parameters=(7, 10)),
    "mdp-deterministic": partial(random_mdps.linear, parameters=(2, 6), deterministic=True),
    "mdp-logistic": random_mdps.logistic,
    "mdp-network": random_mdps.network,
    "mdp-products": random_mdps.products,
    "objectworld": objectworld.objectworld,
    "town": towns.town,
    "frozen-lake": gymnasium_tables.frozen_lake,
    "cliff-walking": gymnasium_tables.cliff_walking,
    "taxi": gymnasium_tables.taxi,
}
"""From a seed, and the name of the generator, to a problem: nothing else may matter."""


def suite_problem(name: str, seed: int) -> Problem[Any]:
    """The problem of a generator and a seed."""
    check_problems([name])
    if seed < 0:
        raise InvalidInputError(f"the seed is {seed}; expected 0 or more")
    return GENERATORS[name](seed, name)


def check_problems(names: Sequence[str]) -> None:
    """Refuse names that are no generators."""
    unknown = sorted(set(names) - set(GENERATORS))
    if unknown:
        raise InvalidInputError(
            f"there is no suite problem {', '.join(unknown)}; expected some of "
            f"{', '.join(GENERATORS)}"
        )
