"""Demonstrations from Minari datasets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.errors import InvalidInputError
from boirl.extras import needed

Pair = tuple[NDArray[Any], NDArray[Any]]


def read_minari(dataset: Any, episodes: Iterable[int] | None, download: bool) -> list[Pair]:
    """Observations, one more than actions, and actions of each episode.

    Observations of a `Dict` space are flattened as `boirl.GymSimulator` flattens them.
    """
    found = _opened(dataset, download) if isinstance(dataset, str) else dataset
    if not hasattr(found, "iterate_episodes"):
        raise InvalidInputError(
            f"the dataset is a {type(found).__name__}; expected the id of a Minari dataset, or "
            "what minari.load_dataset returns"
        )
    chosen = None if episodes is None else [int(number) for number in episodes]
    _check_episodes(chosen, int(found.total_episodes))
    observed, acted = found.observation_space, found.action_space
    return [
        (_rows(observed, episode.observations), _rows(acted, episode.actions))
        for episode in found.iterate_episodes(chosen)
    ]


def _opened(name: str, download: bool) -> Any:
    minari = needed("minari", "a Minari dataset")
    _ = needed("h5py", "a Minari dataset")
    try:
        return minari.load_dataset(name, download=download)
    except FileNotFoundError:
        local = ", ".join(minari.list_local_datasets()) or "none"
        raise InvalidInputError(
            f"the Minari dataset {name!r} is not on this machine (there are: {local}); fetch it "
            f"with: minari download {name}, or pass download=True"
        ) from None
    except (ValueError, KeyError) as error:
        raise InvalidInputError(f"Minari cannot open {name!r}: {error}") from error


def _check_episodes(chosen: list[int] | None, total: int) -> None:
    wrong = [number for number in chosen or [] if not 0 <= number < total]
    if wrong:
        raise InvalidInputError(
            f"there is no episode {wrong[0]} in the dataset; expected numbers from 0 to {total - 1}"
        )


def _rows(space: Any, values: Any) -> NDArray[Any]:
    """Whole numbers `T` of a `Discrete` space, else vectors `T x k`."""
    if isinstance(values, dict):
        parts = [_rows(space[key], values[key]) for key in space]
        return np.concatenate([_columns(part) for part in parts], axis=1)
    if isinstance(values, tuple):
        parts = [_rows(one, value) for one, value in zip(space, values, strict=True)]
        return np.concatenate([_columns(part) for part in parts], axis=1)
    array = np.asarray(values)
    first = getattr(space, "start", None)
    if first is not None:  # a Discrete space counts from here
        return array.reshape(-1) - int(first)
    return _columns(array)


def _columns(array: NDArray[Any]) -> NDArray[Any]:
    return array.reshape(len(array), -1).astype(np.float64)
