"""Policies that a search has learned, kept by the theta they are good for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boirl.errors import SolverError, StorageError
from boirl.files import read_arrays, write_arrays
from boirl.policies.network import NetworkPolicy


class PolicyStore:
    """A folder of policies, or memory where there is no folder.

    Args:
        folder: One file a theta; made when the first policy is kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._known: dict[str, NetworkPolicy] = {}

    def get(self, learning: str, theta: ArrayLike) -> NetworkPolicy | None:
        """The policy of theta, where there is one.

        Args:
            learning: Tells apart policies that were learned in different ways.
            theta: The reward.
        """
        key = _key(learning, theta)
        if key not in self._known and self.folder is not None:
            path = self._path(key)
            if path.exists():
                try:
                    arrays = read_arrays(path, "a policy")
                    self._known[key] = NetworkPolicy.from_dict(arrays)
                except (StorageError, SolverError) as error:
                    raise StorageError(
                        f"the policy of theta {np.ravel(theta).tolist()} is damaged ({error}); "
                        f"remove {str(path)!r} to learn it anew"
                    ) from error
        return self._known.get(key)

    def put(
        self, learning: str, theta: ArrayLike, policy: NetworkPolicy, facts: Mapping[str, Any]
    ) -> None:
        """Keep a policy; durable when this returns, where there is a folder."""
        key = _key(learning, theta)
        self._known[key] = policy
        if self.folder is not None:
            arrays = policy.to_dict()
            arrays["theta"] = np.ravel(np.asarray(theta, dtype=np.float64))
            arrays["facts"] = np.array(json.dumps(dict(facts)))
            write_arrays(self._path(key), arrays)

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{key}.npz"


def _key(learning: str, theta: ArrayLike) -> str:
    # Adding 0.0 makes the two zeros one.
    numbers = np.ravel(np.asarray(theta, dtype=np.float64)) + 0.0
    return hashlib.sha256(learning.encode() + numbers.tobytes()).hexdigest()[:16]
