"""Find all reward functions that explain demonstrations, with few policy optimisations.

>>> import boirl
>>> problem = boirl.load_problem("gridworld")
>>> found = boirl.explore(problem, evaluations=20)
>>> print(found)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "CallableReward": "rewards",
    "Demonstrations": "demonstrations",
    "Evaluation": "types",
    "GymProblem": "gym_problem",
    "GymSimulator": "environments.gym_simulator",
    "LinearReward": "rewards",
    "LogisticReward": "rewards",
    "PPO": "policies.stable_baselines",
    "Parameter": "types",
    "Problem": "problem",
    "RewardFamily": "rewards",
    "RewardSampler": "sampler",
    "RewardSet": "solutions",
    "SAC": "policies.stable_baselines",
    "ShapedReward": "rewards",
    "Study": "study",
    "TRPO": "policies.stable_baselines",
    "TabularMDP": "environments",
    "TabularProblem": "problem",
    "TabularSolver": "policies",
    "VectorPPO": "policies.ppo",
    "demonstrate": "gym_problem",
    "explore": "study",
    "generate_town": "environments.town",
    "load_problem": "problems",
    "load_road_network": "environments.road_files",
    "recursive_logit_problem": "problems.recursive_logit",
    "road_problem": "problems.roads",
}
_MODULES = (
    "acquisitions",
    "baselines",
    "environments",
    "errors",
    "experiments",
    "kernels",
    "maps",
    "metrics",
    "plots",
    "policies",
    "problems",
    "projections",
    "rewards",
    "surrogates",
)

__all__ = [
    "__version__",
    "CallableReward",
    "Demonstrations",
    "Evaluation",
    "GymProblem",
    "GymSimulator",
    "LinearReward",
    "LogisticReward",
    "PPO",
    "Parameter",
    "Problem",
    "RewardFamily",
    "RewardSampler",
    "RewardSet",
    "SAC",
    "ShapedReward",
    "Study",
    "TRPO",
    "TabularMDP",
    "TabularProblem",
    "TabularSolver",
    "VectorPPO",
    "demonstrate",
    "explore",
    "generate_town",
    "load_problem",
    "load_road_network",
    "recursive_logit_problem",
    "road_problem",
    "acquisitions",
    "baselines",
    "environments",
    "errors",
    "experiments",
    "kernels",
    "maps",
    "metrics",
    "plots",
    "policies",
    "problems",
    "projections",
    "rewards",
    "surrogates",
]

if TYPE_CHECKING:
    from boirl import (
        acquisitions,
        baselines,
        environments,
        errors,
        experiments,
        kernels,
        maps,
        metrics,
        plots,
        policies,
        problems,
        projections,
        rewards,
        surrogates,
    )
    from boirl.demonstrations import Demonstrations
    from boirl.environments import TabularMDP
    from boirl.environments.gym_simulator import GymSimulator
    from boirl.environments.road_files import load_road_network
    from boirl.environments.town import generate_town
    from boirl.gym_problem import GymProblem, demonstrate
    from boirl.policies import TabularSolver
    from boirl.policies.ppo import VectorPPO
    from boirl.policies.stable_baselines import PPO, SAC, TRPO
    from boirl.problem import Problem, TabularProblem
    from boirl.problems import load_problem
    from boirl.problems.recursive_logit import recursive_logit_problem
    from boirl.problems.roads import road_problem
    from boirl.rewards import (
        CallableReward,
        LinearReward,
        LogisticReward,
        RewardFamily,
        ShapedReward,
    )
    from boirl.sampler import RewardSampler
    from boirl.solutions import RewardSet
    from boirl.study import Study, explore
    from boirl.types import Evaluation, Parameter


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import boirl` itself is quick."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"boirl.{_HOMES[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"boirl.{name}")
    raise AttributeError(f"module 'boirl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
