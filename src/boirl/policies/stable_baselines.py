"""Policies learned by stable-baselines3 and sb3-contrib in any Gymnasium environment."""

from __future__ import annotations

import inspect
import random
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import (
    BaseFeaturesExtractor,
    CombinedExtractor,
    FlattenExtractor,
)
from torch import nn

from boirl.environments.gym_simulator import GymSimulator
from boirl.environments.simulator import Simulator
from boirl.errors import InvalidInputError
from boirl.policies.actions import (
    ActionModel,
    Categorical,
    CensoredGaussian,
    SquashedGaussian,
    UniformMixture,
)
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Report, Run, Solver, Task, silent
from boirl.policies.stable_baselines_envs import FlatEnv, GoalEnv
from boirl.types import FloatArray

Algorithm = Literal["PPO", "TRPO", "SAC"]
OURS = ("policy", "env", "gamma", "seed", "device", "verbose", "replay_buffer_class")
"""Arguments of an algorithm that are not for its user: they follow from the task."""

REPORTS = 100


@dataclass(frozen=True)
class StableBaselines(Solver):
    """An algorithm of stable-baselines3 with a fixed budget; see `PPO`, `TRPO` and `SAC`.

    Args:
        algorithm: Its name.
        steps: Of the environment, for every theta alike.
        copies: Of the environment that advance together.
        hindsight: Whether goals are relabelled with what was achieved (HER); for SAC on `Dict`
            observations with `achieved_goal` and `desired_goal`, and rewards on these of the next
            observation.
        uniform_share: Of the mixture that guards the likelihood.
        hyperparameters: Of the algorithm, as sorted pairs.
    """

    algorithm: Algorithm
    steps: int
    copies: int = 1
    hindsight: bool = False
    uniform_share: float = 0.02
    hyperparameters: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        for name in ("steps", "copies"):
            if getattr(self, name) < 1:
                raise InvalidInputError(f"{name} is {getattr(self, name)}; expected at least 1")
        if self.hindsight and self.algorithm != "SAC":
            raise InvalidInputError("hindsight needs a replay buffer; expected SAC")
        if dict(self.hyperparameters).get("use_sde"):
            raise InvalidInputError(
                "use_sde makes noise that depends on the state, which boirl's policies do not "
                "know; leave it out"
            )
        known = [name for name in inspect.signature(self._class()).parameters if name not in OURS]
        unknown = [name for name, _ in self.hyperparameters if name not in known]
        if unknown:
            raise InvalidInputError(
                f"{self.algorithm} takes no hyper-parameter {', '.join(unknown)}; expected some of "
                f"{', '.join(known)}"
            )

    @property
    def environment_steps(self) -> int:
        return self.steps

    def solve(self, task: Task, run: Run, report: Report = silent) -> NetworkPolicy:
        if not isinstance(task.simulator, GymSimulator):
            raise InvalidInputError(
                f"{self.algorithm} learns in Gymnasium environments, found "
                f"{type(task.simulator).__name__}"
            )
        with warnings.catch_warnings(), _own_randomness():
            warnings.simplefilter("ignore")
            model = self._model(task, run.seed)
            layers = _actor_layers(model)
            if run.warm_start is not None:
                _copy_into(layers, _activation(model), run.warm_start)
            model.learn(self.steps, callback=_Reporter(self.steps, report))
            report(1.0, "trained")
            policy = network_policy(model, task.simulator, self.uniform_share)
            model.get_env().close()
        return policy

    def _class(self) -> Any:
        if self.algorithm == "TRPO":
            import sb3_contrib

            return sb3_contrib.TRPO
        import stable_baselines3

        return getattr(stable_baselines3, self.algorithm)

    def _model(self, task: Task, seed: int) -> Any:
        from stable_baselines3.common.monitor import Monitor
        from stable_baselines3.common.vec_env import DummyVecEnv
        from stable_baselines3.her import HerReplayBuffer

        wrapper = GoalEnv if self.hindsight else FlatEnv

        def make() -> Any:
            return Monitor(wrapper(task))

        options = dict(self.hyperparameters)
        if self.hindsight:
            options["replay_buffer_class"] = HerReplayBuffer
        return self._class()(
            "MultiInputPolicy" if self.hindsight else "MlpPolicy",
            DummyVecEnv([make] * self.copies),
            gamma=task.gamma,
            seed=seed % 2**31,
            device="cpu",
            **options,
        )


def PPO(steps: int, copies: int = 1, uniform_share: float = 0.02, **hyper: Any) -> StableBaselines:  # noqa: N802
    """Proximal policy optimisation; `hyper` as of `stable_baselines3.PPO`."""
    return _solver("PPO", hyper, steps=steps, copies=copies, uniform_share=uniform_share)


def TRPO(steps: int, copies: int = 1, uniform_share: float = 0.02, **hyper: Any) -> StableBaselines:  # noqa: N802
    """Trust region policy optimisation; `hyper` as of `sb3_contrib.TRPO`."""
    return _solver("TRPO", hyper, steps=steps, copies=copies, uniform_share=uniform_share)


def SAC(  # noqa: N802
    steps: int,
    copies: int = 1,
    hindsight: bool = False,
    uniform_share: float = 0.02,
    **hyper: Any,
) -> StableBaselines:
    """Soft actor-critic, with hindsight (HER) or without; `hyper` as of `stable_baselines3.SAC`."""
    given = {"steps": steps, "copies": copies, "uniform_share": uniform_share}
    return _solver("SAC", hyper, hindsight=hindsight, **given)


def network_policy(model: Any, simulator: Simulator, uniform_share: float = 0.02) -> NetworkPolicy:
    """The policy of a trained PPO, TRPO or SAC of stable-baselines3.

    Args:
        model: The algorithm. It saw observations flattened and scaled as by `simulator`.
        simulator: Bounds of the actions, centre and scale of the observations.
        uniform_share: Of the mixture that guards the likelihood.
    """
    layers = _actor_layers(model)
    squashed = isinstance(layers[-1], tuple)
    # A layer of means and one of log standard deviations stand side by side.
    parts = [layer if isinstance(layer, tuple) else (layer,) for layer in layers]
    log_sd, actions = None, _action_model(simulator, squashed)
    if not squashed and simulator.n_actions is None:
        log_sd = model.policy.log_std.detach().numpy().astype(np.float64)
    return NetworkPolicy(
        weights=tuple(np.hstack([_array(one.weight).T for one in part]) for part in parts),
        biases=tuple(np.hstack([_array(one.bias) for one in part]) for part in parts),
        activation=_activation(model),
        actions=UniformMixture(actions, uniform_share),
        log_sd=log_sd,
        centre=simulator.observation_centre,
        scale=simulator.observation_scale,
    )


def _array(parameter: torch.Tensor) -> FloatArray:
    return parameter.detach().numpy().astype(np.float64)


def _action_model(simulator: Simulator, squashed: bool) -> ActionModel:
    if simulator.n_actions is not None:
        return Categorical(simulator.n_actions)
    bounds = tuple(simulator.action_low), tuple(simulator.action_high)
    return SquashedGaussian(*bounds) if squashed else CensoredGaussian(*bounds)


def _solver(algorithm: Algorithm, hyper: Mapping[str, Any], **given: Any) -> StableBaselines:
    pairs = tuple(sorted(hyper.items()))
    return StableBaselines(algorithm, hyperparameters=pairs, **given)


class _Reporter(BaseCallback):
    """Reports the share of steps done, and the recent mean return."""

    def __init__(self, steps: int, report: Report) -> None:
        super().__init__()
        self.steps, self.report = steps, report
        self._next = 0

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            self._next = self.num_timesteps + max(1, self.steps // REPORTS)
            recent = [episode["r"] for episode in self.model.ep_info_buffer or ()]
            message = f"mean return {np.mean(recent):.3g}" if recent else "first episode"
            self.report(min(1.0, self.num_timesteps / self.steps), message)
        return True


@contextmanager
def _own_randomness() -> Iterator[None]:
    """Stable-baselines3 seeds the generators of the whole process: put them back afterwards."""
    numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002
    with torch.random.fork_rng(devices=[]):
        try:
            yield
        finally:
            np.random.set_state(numpy_state)  # noqa: NPY002
            random.setstate(python_state)


def _actor_layers(model: Any) -> list[Any]:
    """The linear layers from observations to outputs; a pair in the end for mean and sd."""
    policy = model.policy
    if hasattr(policy, "mlp_extractor"):
        hidden, last = policy.mlp_extractor.policy_net, policy.action_net
    else:
        hidden, last = policy.actor.latent_pi, (policy.actor.mu, policy.actor.log_std)
    plain = (FlattenExtractor, CombinedExtractor)
    extractors = [
        part
        for part in policy.modules()
        if isinstance(part, BaseFeaturesExtractor) and type(part) not in plain
    ]
    supported = (nn.Linear, nn.Tanh, nn.ReLU)
    if extractors or not all(isinstance(layer, supported) for layer in hidden):
        kinds = sorted({type(layer).__name__ for layer in (*hidden, *extractors)})
        raise InvalidInputError(
            f"the policy network has layers {', '.join(kinds)}; expected linear ones with tanh or "
            "ReLU between (policy_kwargs with net_arch and activation_fn)"
        )
    return [layer for layer in hidden if isinstance(layer, nn.Linear)] + [last]


def _activation(model: Any) -> str:
    policy = model.policy
    hidden = getattr(policy, "mlp_extractor", None)
    network = policy.actor.latent_pi if hidden is None else hidden.policy_net
    return "relu" if any(isinstance(layer, nn.ReLU) for layer in network) else "tanh"


def _copy_into(layers: list[Any], activation: str, policy: NetworkPolicy) -> None:
    """Warm start: the weights of a policy for those of a network of the same shape."""
    if len(layers) != len(policy.weights) or activation != policy.activation:
        raise InvalidInputError(
            f"the warm start has {len(policy.weights)} layers with {policy.activation} between, "
            f"the network {len(layers)} with {activation}; expected the same net_arch and "
            "activation_fn"
        )
    with torch.no_grad():
        for layer, weight, bias in zip(layers, policy.weights, policy.biases, strict=True):
            parts = layer if isinstance(layer, tuple) else (layer,)
            columns = np.array_split(np.arange(weight.shape[1]), len(parts))
            for part, own in zip(parts, columns, strict=True):
                if tuple(part.weight.shape) != (len(own), weight.shape[0]):
                    raise InvalidInputError(
                        f"the warm start has a layer of shape {weight.shape}, the network one of "
                        f"{tuple(part.weight.shape)[::-1]}; expected the same net_arch"
                    )
                part.weight.copy_(torch.as_tensor(weight[:, own].T))
                part.bias.copy_(torch.as_tensor(bias[own]))
