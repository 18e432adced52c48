"""The point mass maze without MuJoCo: the same numbers, a hundred times faster.

A sphere on two slide joints, pushed by two motors, between capsule walls. MuJoCo's soft contacts
are a small convex problem here (see "Computation" in its documentation): with the mass `m`, the
unconstrained acceleration `a0`, and for each contact a normal `n`, a stiffness `D` and a reference
acceleration `r`, the acceleration `a` minimises

    m/2 |a - a0|^2 + 1/2 sum_i D_i min(0, n_i . a - r_i)^2.

There are at most a few contacts at a time, so that the set of active ones is found by trying all.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from boirl.types import FloatArray

TIMESTEP = 0.01
FRAME_SKIP = 5
RADIUS = 0.03
DENSITY = 1000.0
DAMPING = 1.0
MARGIN = 0.002
WALL_RADIUS = 0.02
WALL_HEIGHT = 0.01
LOW, HIGH = -0.1, 0.6
BARRIER_Y, BARRIER_END = 0.3, 0.4

WALLS: FloatArray = np.array(
    [
        [LOW, LOW, HIGH, LOW],
        [LOW, HIGH, HIGH, HIGH],
        [LOW, LOW, LOW, HIGH],
        [HIGH, LOW, HIGH, HIGH],
        [LOW, BARRIER_Y, BARRIER_END, BARRIER_Y],
    ]
)
"""From `(x, y)` to `(x, y)`, one row per capsule."""

MASS = 4.0 / 3.0 * math.pi * RADIUS**3 * DENSITY

# MuJoCo's defaults for the softness of a contact.
TIME_CONSTANT, DAMPING_RATIO = 0.02, 1.0
IMPEDANCE_LOW, IMPEDANCE_HIGH, IMPEDANCE_WIDTH, IMPEDANCE_MIDDLE = 0.9, 0.95, 0.001, 0.5
STIFFNESS = 1.0 / (IMPEDANCE_HIGH * TIME_CONSTANT * DAMPING_RATIO) ** 2
REFERENCE_DAMPING = 2.0 / (IMPEDANCE_HIGH * TIME_CONSTANT)


@njit(cache=True)
def advance(
    positions: FloatArray, velocities: FloatArray, actions: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """One step of the environment (`FRAME_SKIP` of MuJoCo) for `n` point masses, each `n x 2`."""
    new_positions, new_velocities = positions.copy(), velocities.copy()
    for i in range(len(positions)):
        force_x = min(1.0, max(-1.0, actions[i, 0]))
        force_y = min(1.0, max(-1.0, actions[i, 1]))
        for _ in range(FRAME_SKIP):
            _substep(new_positions[i], new_velocities[i], force_x, force_y)
    return new_positions, new_velocities


@njit(cache=True)
def _substep(position: FloatArray, velocity: FloatArray, force_x: float, force_y: float) -> None:
    normals = np.empty((len(WALLS), 2))
    stiffness = np.empty(len(WALLS))
    reference = np.empty(len(WALLS))
    count = _contacts(position, velocity, normals, stiffness, reference)
    force_x -= DAMPING * velocity[0]
    force_y -= DAMPING * velocity[1]
    push_x, push_y = 0.0, 0.0
    if count > 0:
        push_x, push_y = _contact_force(
            force_x / MASS, force_y / MASS, normals[:count], stiffness[:count], reference[:count]
        )
    # Euler's rule, implicit in the damping of the joints.
    inertia = MASS + TIMESTEP * DAMPING
    velocity[0] += TIMESTEP * (force_x + push_x) / inertia
    velocity[1] += TIMESTEP * (force_y + push_y) / inertia
    position[0] += TIMESTEP * velocity[0]
    position[1] += TIMESTEP * velocity[1]


@njit(cache=True)
def _contacts(
    position: FloatArray,
    velocity: FloatArray,
    normals: FloatArray,
    stiffness: FloatArray,
    reference: FloatArray,
) -> int:
    """Fill in the walls that the sphere touches, and return how many."""
    count = 0
    for wall in WALLS:
        along_x, along_y = wall[2] - wall[0], wall[3] - wall[1]
        length = along_x**2 + along_y**2
        share = ((position[0] - wall[0]) * along_x + (position[1] - wall[1]) * along_y) / length
        share = min(1.0, max(0.0, share))
        x = position[0] - wall[0] - share * along_x
        y = position[1] - wall[1] - share * along_y
        distance = math.sqrt(x * x + y * y + WALL_HEIGHT * WALL_HEIGHT)
        # How far the surfaces are within the margin in which contacts begin.
        gap = distance - RADIUS - WALL_RADIUS - 2.0 * MARGIN
        if gap >= 0.0:
            continue
        impedance = _impedance(-gap)
        normals[count, 0], normals[count, 1] = x / distance, y / distance
        speed = normals[count, 0] * velocity[0] + normals[count, 1] * velocity[1]
        stiffness[count] = MASS * impedance / (1.0 - impedance)
        reference[count] = -REFERENCE_DAMPING * speed - STIFFNESS * impedance * gap
        count += 1
    return count


@njit(cache=True)
def _impedance(depth: float) -> float:
    """MuJoCo's `d(r)`: from low to high over the width, two parabolas that meet in the middle."""
    share = depth / IMPEDANCE_WIDTH
    if share >= 1.0:
        return IMPEDANCE_HIGH
    if share <= IMPEDANCE_MIDDLE:
        share = share * share / IMPEDANCE_MIDDLE
    else:
        share = 1.0 - (1.0 - share) * (1.0 - share) / (1.0 - IMPEDANCE_MIDDLE)
    return IMPEDANCE_LOW + share * (IMPEDANCE_HIGH - IMPEDANCE_LOW)


@njit(cache=True)
def _contact_force(
    free_x: float,
    free_y: float,
    normals: FloatArray,
    stiffness: FloatArray,
    reference: FloatArray,
) -> tuple[float, float]:
    """What the contacts push with, for the unconstrained acceleration `(free_x, free_y)`."""
    count = len(stiffness)
    for active in range(2**count):
        xx, xy, yy = MASS, 0.0, MASS
        right_x, right_y = MASS * free_x, MASS * free_y
        for i in range(count):
            if active >> i & 1:
                x, y = normals[i]
                xx += stiffness[i] * x * x
                xy += stiffness[i] * x * y
                yy += stiffness[i] * y * y
                right_x += stiffness[i] * reference[i] * x
                right_y += stiffness[i] * reference[i] * y
        determinant = xx * yy - xy * xy
        a_x = (yy * right_x - xy * right_y) / determinant
        a_y = (xx * right_y - xy * right_x) / determinant
        consistent = True
        push_x, push_y = 0.0, 0.0
        for i in range(count):
            slack = normals[i, 0] * a_x + normals[i, 1] * a_y - reference[i]
            if (slack < 0.0) != bool(active >> i & 1):
                consistent = False
            if slack < 0.0:
                push_x -= stiffness[i] * slack * normals[i, 0]
                push_y -= stiffness[i] * slack * normals[i, 1]
        if consistent:
            break
    return push_x, push_y
