"""Find all reward functions that explain demonstrations, with few policy optimisations.

>>> import boirl
>>> problem = boirl.load_problem("gridworld")
>>> found = boirl.explore(problem, evaluations=20)
>>> print(found)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boirl.lazy import lazy_names

__version__ = "0.2.0"

_HOMES = {
    "CallableReward": "rewards",
    "Comparison": "estimation",
    "CrossValidation": "estimation",
    "Demonstrations": "demonstrations",
    "Estimate": "estimation",
    "Evaluation": "evaluation",
    "FederatedProblem": "federation",
    "GymProblem": "problem.simulated",
    "GymSimulator": "environments.gym_simulator",
    "HttpSite": "federation",
    "KernelSpec": "surrogate",
    "LikelihoodRatioTest": "estimation",
    "LinearReward": "rewards",
    "LocalSite": "federation",
    "LogisticReward": "rewards",
    "NormalPrior": "priors",
    "PPO": "policies.stable_baselines",
    "Parameter": "types",
    "Preferences": "problem.preferences",
    "Problem": "problem",
    "ProblemEntry": "problem",
    "Result": "results",
    "RewardFamily": "rewards",
    "RewardSampler": "search",
    "RewardSet": "results",
    "SAC": "policies.stable_baselines",
    "SearchSettings": "search",
    "ShapedReward": "rewards",
    "Study": "search",
    "Suboptimality": "problem.suboptimality",
    "TRPO": "policies.stable_baselines",
    "TabularMDP": "environments",
    "TabularProblem": "problem",
    "TabularSolver": "policies",
    "VectorPPO": "policies.ppo",
    "VerifiedRewards": "results",
    "compare": "estimation",
    "cross_validate": "estimation",
    "demonstrate": "problem.demonstrating",
    "explore": "search",
    "generate_town": "domains.roads.town",
    "load_problem": "problem",
    "load_result": "results",
    "load_road_network": "domains.roads.files",
    "maximum_likelihood": "estimation",
    "recursive_logit_problem": "domains.roads.recursive_logit",
    "road_problem": "domains.roads.problem",
    "baselines": "",
    "constraints": "",
    "decisions": "",
    "domains": "",
    "drawing": "",
    "environments": "",
    "errors": "",
    "estimation": "",
    "experiments": "",
    "federation": "",
    "metrics": "",
    "policies": "",
    "problem": "",
    "projections": "",
    "report": "",
    "results": "",
    "rewards": "",
    "search": "",
    "surrogate": "",
}
"""Where each public name lives; public folders have no home but themselves."""

__all__ = ["__version__", *_HOMES]

if TYPE_CHECKING:
    from boirl import (
        baselines,
        constraints,
        decisions,
        domains,
        drawing,
        environments,
        errors,
        estimation,
        experiments,
        federation,
        metrics,
        policies,
        problem,
        projections,
        report,
        results,
        rewards,
        search,
        surrogate,
    )
    from boirl.demonstrations import Demonstrations
    from boirl.domains.roads.files import load_road_network
    from boirl.domains.roads.problem import road_problem
    from boirl.domains.roads.recursive_logit import recursive_logit_problem
    from boirl.domains.roads.town import generate_town
    from boirl.environments import TabularMDP
    from boirl.environments.gym_simulator import GymSimulator
    from boirl.estimation import (
        Comparison,
        CrossValidation,
        Estimate,
        LikelihoodRatioTest,
        compare,
        cross_validate,
        maximum_likelihood,
    )
    from boirl.evaluation import Evaluation
    from boirl.federation import FederatedProblem, HttpSite, LocalSite
    from boirl.policies import TabularSolver
    from boirl.policies.ppo import VectorPPO
    from boirl.policies.stable_baselines import PPO, SAC, TRPO
    from boirl.priors import NormalPrior
    from boirl.problem import Problem, ProblemEntry, TabularProblem, load_problem
    from boirl.problem.demonstrating import demonstrate
    from boirl.problem.preferences import Preferences
    from boirl.problem.simulated import GymProblem
    from boirl.problem.suboptimality import Suboptimality
    from boirl.results import Result, RewardSet, VerifiedRewards, load_result
    from boirl.rewards import (
        CallableReward,
        LinearReward,
        LogisticReward,
        RewardFamily,
        ShapedReward,
    )
    from boirl.search import RewardSampler, SearchSettings, Study, explore
    from boirl.surrogate import KernelSpec
    from boirl.types import Parameter

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
