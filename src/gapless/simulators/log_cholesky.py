"""A rigid body's whole inertia as ten free numbers: whatever they are, some distribution of mass has it."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from mujoco.batch import Batch
from scipy.spatial.transform import Rotation

DEVIATIONS: tuple[str, ...] = ("alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3")
"""Log-Cholesky parameters (Rucker and Wensing, 2022), all zero for the body that they deviate from."""
TURNING = DEVIATIONS[4:]
"""Those that move a body's centre of mass or turn its principal axes."""
FIELDS = ("body_mass", "body_inertia", "body_ipos", "body_iquat")
XYZW, WXYZ = [1, 2, 3, 0], [3, 0, 1, 2]
"""MuJoCo's quaternions in SciPy's order, and back."""


class Inertia(NamedTuple):
    """Mass in kg, centre of mass in m, and inertia about that centre in kg m², along the axes of the body's frame."""

    mass: Float[np.ndarray, " n"]
    centre: Float[np.ndarray, "n 3"]
    tensor: Float[np.ndarray, "n 3 3"]


def deformed(body: Inertia, by: Float[np.ndarray, "n deviation"]) -> Inertia:
    """The body after its matter has been stretched, sheared, moved and made denser, by DEVIATIONS.

    With A = [[e^d1, s12, s13], [0, e^d2, s23], [0, 0, e^d3]], matter at x from the centre of mass goes to A x + t, and mass
    becomes e^(2 alpha) as much: the pseudo-inertia about the nominal centre, J = [[spread, 0], [0, mass]], becomes U J Uᵀ with
    U = e^alpha [[A, t], [0, 1]]. That is positive definite again, so that moments of inertia keep to the triangle inequalities.
    """
    alpha, d, (s12, s23, s13), t = by[:, 0], by[:, 1:4], by[:, 4:7].T, by[:, 7:10]
    a = np.exp(d)[:, :, None] * np.eye(3)
    a[:, 0, 1], a[:, 1, 2], a[:, 0, 2] = s12, s23, s13
    denser = np.exp(2 * alpha)
    spread = denser[:, None, None] * (a @ spread_of(body.tensor) @ a.transpose(0, 2, 1))
    return Inertia(denser * body.mass, body.centre + t, _traces(spread) - spread)


def spread_of(tensor: Float[np.ndarray, "n 3 3"]) -> Float[np.ndarray, "n 3 3"]:
    """Second moments of mass, ∫ x xᵀ, of an inertia, ∫ (|x|² 1 − x xᵀ)."""
    return _traces(tensor) / 2 - tensor


def read_inertia(batch: Batch, worlds: Int[np.ndarray, " n"], body: int) -> Inertia:
    """What a batch has of one body in the given worlds."""
    mass, moments, centre, turn = (batch.expand(name)[worlds, body] for name in FIELDS)
    axes = Rotation.from_quat(turn[:, XYZW]).as_matrix()
    return Inertia(mass, centre, axes @ (moments[:, :, None] * axes.transpose(0, 2, 1)))


def write_inertia(batch: Batch, worlds: Int[np.ndarray, " n"], body: int, found: Inertia) -> None:
    """Put inertias into one body of the given worlds, as MuJoCo wants them: principal moments and axes."""
    moments, axes = (x[..., ::-1] for x in np.linalg.eigh(found.tensor))  # MuJoCo's compiler has the largest first
    axes[:, :, 0] *= np.linalg.det(axes)[:, None]
    turn = Rotation.from_matrix(axes).as_quat()[:, WXYZ]
    # MuJoCo holds the axes of some bodies to be the frame's own; where they are, they are left so.
    diagonal = np.diagonal(found.tensor, axis1=1, axis2=2)
    straight = (found.tensor == diagonal[:, :, None] * np.eye(3)).all(axis=(1, 2))[:, None]
    rows = found.mass, np.where(straight, diagonal, moments), found.centre, np.where(straight, [1, 0, 0, 0], turn)
    for name, values in zip(FIELDS, rows, strict=True):
        batch.expand(name)[worlds, body] = values


def _traces(tensor: Float[np.ndarray, "n 3 3"]) -> Float[np.ndarray, "n 3 3"]:
    return np.trace(tensor, axis1=1, axis2=2)[:, None, None] * np.eye(3)
