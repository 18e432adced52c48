"""The package as a whole: quick to import, nothing heavy, nothing missing, short reprs."""

import importlib
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import boirl
from boirl.baselines import BaselineRun
from boirl.domains.roads.problem import BOXES

from .domains.roads.conftest import town_with_trips

REPOSITORY = Path(__file__).parents[1]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
HEAVY = {
    "botorch",
    "dask",
    "gpytorch",
    "gymnasium",
    "gymnasium_robotics",
    "matplotlib",
    "mujoco",
    "numba",
    "optuna",
    "plotly",
    "sb3_contrib",
    "scipy",
    "sqlalchemy",
    "stable_baselines3",
    "torch",
    "typer",
}


def fresh(code):
    """What a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_boirl_pulls_in_nothing_heavy():
    code = "import sys, boirl; print(*{name.partition('.')[0] for name in sys.modules})"
    assert HEAVY & set(fresh(code).split()) == set()


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        (
            "boirl.explore(boirl.load_problem('gridworld2d'), evaluations=2, kernel='rbf')",
            {"gymnasium", "stable_baselines3", "mujoco", "matplotlib"},
        ),
        ("boirl.generate_town(30, 0)", {"botorch", "optuna", "gymnasium", "matplotlib"}),
    ],
)
def test_each_part_imports_what_it_needs_alone(code, unwanted):
    listing = "print(*{name.partition('.')[0] for name in sys.modules})"
    assert unwanted & set(fresh(f"import sys, boirl; {code}; {listing}").split()) == set()


def test_every_public_name_is_there():
    assert len(set(boirl.__all__)) == len(boirl.__all__)
    for name in boirl.__all__:
        assert getattr(boirl, name) is not None
    assert set(dir(boirl)) == set(boirl.__all__)


def test_a_name_that_is_not_public_is_refused():
    with pytest.raises(AttributeError, match="module 'boirl' has no attribute 'nothing'"):
        _ = boirl.nothing


def test_public_names_of_folders_are_there():
    for folder in ("baselines", "drawing", "metrics", "problem", "results", "rewards", "search"):
        module = importlib.import_module(f"boirl.{folder}")
        for name in module.__all__:
            assert getattr(module, name) is not None, f"boirl.{folder}.{name}"


NAME = re.compile(r"(?<![\w./-])boirl((?:\.[A-Za-z_]\w*)+)")


def names_in(pattern):
    """Every `boirl.xxx` in such parts of the documentation, with the page it is on."""
    found: dict[str, str] = {}
    for page in PAGES:
        for part in re.findall(pattern, page.read_text(), re.DOTALL):
            for name in NAME.findall(part):
                found.setdefault(name[1:], page.name)
    return found


RESOLVE = """
import os, sys
import botorch, matplotlib, optuna, scipy.stats, torch  # imported once, for speed
import boirl
for name in sys.argv[1:]:
    # Those in folders each in a process that has imported nothing else of boirl, so that none
    # works by accident.
    child = os.fork() if name[0].islower() and "." in name else 0
    if not child:
        found = boirl
        try:
            for part in name.split("."):
                found = getattr(found, part)
        except AttributeError:
            print(name, flush=True)
        if name[0].islower() and "." in name:
            os._exit(0)
    else:
        os.waitpid(child, 0)
"""


def test_names_in_the_code_of_the_documentation_work_after_one_import():
    names = names_in(r"```python\n(.*?)```")
    assert {"explore", "load_problem", "TabularMDP.from_next_states"} <= set(names)
    # Names in folders first, while nothing else is imported.
    order = sorted(names, key=lambda name: "." not in name or name[0].isupper())
    done = subprocess.run(
        [sys.executable, "-c", RESOLVE, *order], capture_output=True, text=True, check=True
    )
    assert [f"{names[name]}: boirl.{name}" for name in done.stdout.split()] == []


def test_names_in_the_prose_of_the_documentation_are_there():
    names = names_in(r"`([^`\n]+)`")
    assert names
    missing = [name for name in names if pydoc.locate(f"boirl.{name}") is None]
    assert [f"{names[name]}: boirl.{name}" for name in missing] == []


@pytest.fixture(scope="module")
def many():
    """One of each kind of thing that a person prints, with many trajectories or parameters."""
    network, trips = town_with_trips(1)
    chosen = [links for links in trips.to(0) if len(links) > 1]
    terrain = boirl.load_problem("terrain")
    town = boirl.road_problem(network, 0, chosen, BOXES["wide"])
    found = boirl.explore(boirl.load_problem("gridworld"), evaluations=2, kernel="rbf", seed=1000)
    return {
        "network": network,
        "problem": terrain,
        "road problem": town,
        "recursive logit": boirl.recursive_logit_problem(network, trips),
        "dynamics": terrain.mdp,
        "demonstrations": terrain.demonstrations,
        "parameter": terrain.reward.parameters[0],
        "solver": terrain.solver,
        "study": boirl.Study(terrain, kernel="rbf"),
        "search": found,
        "baseline": BaselineRun(terrain, (terrain.evaluate(terrain.truth),), "random"),
        "evaluation": found.evaluations[0],
    }


KINDS = (
    "network",
    "problem",
    "road problem",
    "recursive logit",
    "dynamics",
    "demonstrations",
    "parameter",
    "solver",
    "study",
    "search",
    "baseline",
    "evaluation",
)


@pytest.mark.parametrize("kind", KINDS)
def test_reprs_are_short_and_name_the_class(many, kind):
    text = repr(many[kind])
    assert len(text) < 200
    assert text.startswith(type(many[kind]).__name__)
    assert "array(" not in text


def test_reprs_say_how_large_things_are(many):
    assert repr(many["dynamics"]) == "TabularMDP(100 states, 5 actions, gamma 0.95)"
    assert "100 states, 5 actions, 20 parameters, 100 trajectories" in repr(many["problem"])
    assert "2 evaluations, best NLL" in repr(many["search"])
    assert "0 evaluations in memory" in repr(many["study"])
    assert "3 destinations" in repr(many["recursive logit"])


def test_a_learned_problem_has_a_short_repr():
    pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")
    from boirl.domains.maze import simulator as maze

    simulator = maze.PointMassMaze()
    drawn = simulator.roll_out(None, 3, 4, np.random.default_rng(0))
    problem = boirl.GymProblem(simulator, maze.TargetReward(), drawn, boirl.VectorPPO(steps=100))
    text = "GymProblem('unnamed', environment 'point-mass-maze', 2 parameters, 3 trajectories)"
    assert repr(problem) == text


SEARCHED = ("src/boirl/cli", "src/boirl/drawing", "src/boirl/domains")


def test_every_module_of_commands_pictures_and_domains_has_tests_of_its_name():
    missing = []
    for folder in SEARCHED:
        for module in (REPOSITORY / folder).rglob("*.py"):
            place = module.relative_to(REPOSITORY / "src" / "boirl")
            test = REPOSITORY / "tests" / place.with_name(f"test_{place.name}")
            if module.name != "__init__.py" and not test.exists():
                missing.append(str(place))
    assert missing == []
