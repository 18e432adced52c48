"""Sweeps: apply the Bellman operator to all states until nothing changes.

Plain sweeps contract by the discount, which takes `log(tolerance) / log(gamma)` of them. Most of
that is spent on the level of all values together: `T(V + c) = T(V) + gamma c`, so that a change
that is the same everywhere goes on as a geometric series, whose sum is known. Sweeps that add it
(`shift`) contract by how fast the chain mixes instead, whatever the discount. Random dynamics take
about thirty.

Where they mix slowly, Newton steps are faster. Sweeps with `patience` stop as soon as they expect
to take longer than those.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from boirl.policies.linear_systems import structure_of
from boirl.policies.operators import BellmanEquation
from boirl.types import FloatArray, IntArray

ROUNDING = 8 * np.finfo(np.float64).eps
"""Changes of a value by this share of the largest one are rounding."""

COARSE = 64 * float(np.finfo(np.float32).eps)
"""The same in single precision, with some to spare: from there on, sweeps are in double."""

COARSE_FROM = 8
"""Equations from which on sweeps in single precision, which take half as long, come first. For
fewer, the calls take longer than the arithmetic."""

JUDGED_EVERY = 4
"""Sweeps between two looks at how fast they contract."""

NEWTON_STEPS = 5
"""Newton steps that a solution takes, more or less: the error is squared at each."""

NS_PER_SWEEP = 20_000.0
NS_PER_STEP = 100_000.0
NS_PER_ENTRY = 1.0
NS_PER_BACKUP = {"max": 1.5, "logsumexp": 5.0, "boltzmann": 9.0}
NS_PER_ASSEMBLED = 60.0
DENSE_OPERATIONS_PER_NS = 16.0
SPARSE_OPERATIONS_PER_NS = 1.0
"""Costs, measured by `benchmarks/solver_speed.py --costs`; their ratios decide, not their size. In
nanoseconds: the calls of a sweep and of a Newton step, an entry of the dynamics in a sweep, the
backup of a state-action, an entry that is put into a sparse matrix. Sparse factors take fewer
operations than the bound that is known of them; what is theirs makes up for that."""

MIXING_SWEEPS = 30
"""Sweeps that dynamics which mix well take."""

UNSHARED = 2
"""What a sweep costs more than the backups of its equations, in equations: loops over actions are
as long for one as for several."""


@dataclass(frozen=True, eq=False)
class Swept:
    """What sweeps left of `n` equations.

    Attributes:
        values: `S x n`.
        residuals: Largest change of any value in the last sweep, `n`.
        converged: Whether that is small enough, `n`.
        sweeps: Sweeps done.
    """

    values: FloatArray
    residuals: FloatArray
    converged: np.ndarray
    sweeps: int

    def of(self, some: IntArray) -> Swept:
        """What was left of some of the equations."""
        return Swept(self.values[:, some], self.residuals[some], self.converged[some], self.sweeps)


def sweep_coarsely(equation: BellmanEquation, values: FloatArray) -> FloatArray:
    """Values `S x n` after the sweeps that single precision is good enough for.

    Values of `boltzmann` that do not settle in a few sweeps are left as they were.
    """
    if equation.size < COARSE_FROM or not np.isfinite(values).all():
        return values
    scale = float(np.abs(equation.rewards).max()) + 1.0 / equation.beta
    tolerance, must_settle = COARSE * scale, equation.bellman == "boltzmann"
    swept = sweep(
        equation.single,
        values.astype(np.float32),
        tolerance,
        MIXING_SWEEPS,
        shift=True,
        within_limit=must_settle,
    )
    near = swept.values.astype(np.float64)
    usable = np.isfinite(near) & (swept.converged | (not must_settle))
    return np.where(usable, near, values)


def enough(values: FloatArray, tolerance: float) -> FloatArray:
    """The change at which values `S x n` count as converged, `n`."""
    return np.maximum(tolerance, ROUNDING * np.abs(values).max(axis=0))


def sweep(
    equation: BellmanEquation,
    values: FloatArray,
    tolerance: float,
    limit: int,
    shift: bool = False,
    patience: bool = False,
    within_limit: bool = False,
) -> Swept:
    """Sweep all equations from values `S x n` until each has converged, or `limit` times.

    Args:
        equation: With `n` reward tables.
        values: Where to start.
        tolerance: Largest change of any value in the last sweep.
        limit: Sweeps at most.
        shift: Whether to add the sum of the series that a common change is the start of. Only
            where no state is terminal, and with a discount.
        patience: Whether to give up where Newton steps are expected to take less time.
        within_limit: Whether to give up where more than `limit` sweeps are expected.
    """
    mdp, n = equation.mdp, equation.size
    shift = shift and mdp.gamma < 1.0 and not mdp.terminal.size
    values = values.copy()
    residuals, converged = np.full(n, np.inf), np.zeros(n, dtype=bool)
    active, own, current = np.arange(n), equation, values.copy()
    judged = np.full(n, np.inf)
    done = 0
    while active.size and done < limit:
        # Looking at the changes takes as long as half a sweep, so it is not done at each.
        times = min(JUDGED_EVERY, limit - done)
        current, low, high, size = own.sweep(current, times)
        done += times
        largest = np.maximum(high, -low)
        small = np.maximum(tolerance, ROUNDING * size)
        settled = largest <= small
        leaving = settled | ~np.isfinite(largest) | (done == limit)
        if patience or within_limit:
            changed = 0.5 * (high - low) if shift else largest
            left = _sweeps_left(changed, judged, small)
            most = _newton_cost(own) / _sweep_cost(own) if patience else limit - done
            leaving |= left > most
            judged = changed
        if leaving.any():
            gone, stays = np.flatnonzero(leaving), np.flatnonzero(~leaving)
            values[:, active[gone]] = current.take(gone, axis=1)
            residuals[active[gone]], converged[active[gone]] = largest[gone], settled[gone]
            active, own, current = active[stays], own.of(stays), current.take(stays, axis=1)
            low, high, judged = low[stays], high[stays], judged[stays]
        if shift:
            current += (0.5 * mdp.gamma / (1.0 - mdp.gamma)) * (low + high)
    return Swept(values, residuals, converged, done)


def worth_sweeping(equation: BellmanEquation) -> bool:
    """Whether sweeps are worth a try: whether they are faster where the dynamics mix well."""
    return MIXING_SWEEPS * _sweep_cost(equation) <= _newton_cost(equation)


def _sweeps_left(size: FloatArray, before: FloatArray, small: FloatArray) -> FloatArray:
    """Sweeps until changes are small, given how large they were some sweeps ago, `n`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.log(size / before) / JUDGED_EVERY
        left = np.log(small / size) / rate
    # At the first look there is nothing to compare with.
    return np.where(np.isfinite(before), np.where(rate < 0.0, left, np.inf), 0.0)


def _sweep_cost(equation: BellmanEquation) -> float:
    """Nanoseconds of a sweep."""
    mdp = equation.mdp
    rows = mdp.n_states * mdp.n_actions
    entries = rows if mdp.next_states is not None else mdp.transition.nnz
    backups = NS_PER_BACKUP[equation.bellman] * rows * (equation.size + UNSHARED)
    return NS_PER_SWEEP + NS_PER_ENTRY * entries * equation.size + backups


def _newton_cost(equation: BellmanEquation) -> float:
    """Nanoseconds of a solution by Newton steps."""
    mdp = equation.mdp
    structure = structure_of(mdp)
    if structure.kind == "dense":
        building = 2.0 * mdp.n_states**2 * mdp.n_actions
        work = (structure.operations + building) / DENSE_OPERATIONS_PER_NS
        return NEWTON_STEPS * (NS_PER_STEP + equation.size * work)
    work = structure.operations / SPARSE_OPERATIONS_PER_NS
    if structure.kind == "sparse":
        work += NS_PER_ASSEMBLED * mdp.transition.nnz
    return NEWTON_STEPS * equation.size * (NS_PER_STEP + work)


def contraction_limit(gamma: float, tolerance: float, rewards: FloatArray, beta: float) -> int:
    """Plain sweeps that a contraction by gamma needs, with some to spare."""
    largest = max(float(np.abs(rewards).max()), 1.0) + 10.0 / beta
    needed = math.log(tolerance * (1.0 - gamma) / largest) / math.log(gamma)
    return 2 * max(0, math.ceil(needed)) + 100
