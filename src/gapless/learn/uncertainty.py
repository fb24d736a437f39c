"""How sure a fit may be: what the windows say, what they disagree about, and what the integrator adds."""

import numpy as np
from jaxtyping import Float

from gapless.core import Simulator
from gapless.simulators import finer

from .least_squares import Fit, Problem, eliminated
from .shooting import Shooting


def covariance_of(problem: Problem, found: Fit, chi_square: float) -> Float[np.ndarray, "param param"]:
    """Of the parameters: the sensors' noise as large as held-out logs say, windows that pull apart, and the time step.

    Windows that want different parameters (a sandwich, White 1980) and a finer integration that wants others than the
    simulator's own are doubts that noise alone does not show.
    """
    bounds = problem.bounds
    total = torn_covariance(*eliminated(found.slopes, problem.level, bounds), chi_square)
    shift = _finer_shift(problem, found)
    total = total + np.outer(shift, shift)
    return (total + total.T) / 2 * np.outer(bounds.deviation, bounds.deviation)


def torn_covariance(
    jacobian: Float[np.ndarray, "window query param"], residual: Float[np.ndarray, "window query"], chi_square: float
) -> Float[np.ndarray, "param param"]:
    """Of parameters in prior deviations, from windows whose starts are eliminated: noise, and windows that pull apart."""
    inverse = np.linalg.inv(np.einsum("wqp,wqr->pr", jacobian, jacobian) + np.eye(jacobian.shape[-1]))
    scores = np.einsum("wqp,wq->wp", jacobian, residual)
    torn = inverse @ (scores.T @ scores) @ inverse
    total = inverse * max(1.0, chi_square)
    return total + _excess(torn, total)


def left_out_covariance(
    jacobian: Float[np.ndarray, "window query param"], residual: Float[np.ndarray, "window query"]
) -> Float[np.ndarray, "param param"]:
    """As `torn_covariance` given unit noise, but by how far parameters move when each window is left out (a jackknife).

    Few windows and many parameters agree too well with each other; the one that a parameter hangs on shows when it is gone.
    """
    each = np.einsum("wqp,wqr->wpr", jacobian, jacobian)
    told = each.sum(axis=0) + np.eye(jacobian.shape[-1])
    scores = np.einsum("wqp,wq->wp", jacobian, residual)
    moves = np.linalg.solve(told - each, scores[..., None])[..., 0]
    inverse, windows = np.linalg.inv(told), len(jacobian)
    return inverse + _excess(moves.T @ moves * (windows - 1) / windows, inverse)


def _excess(one: Float[np.ndarray, "n n"], other: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """What the one covariance holds beyond the other, direction by direction; nothing where it holds less."""
    values, axes = np.linalg.eigh(other)
    root = axes @ np.diag(np.sqrt(np.maximum(values, 1e-30))) @ axes.T
    back = axes @ np.diag(1 / np.sqrt(np.maximum(values, 1e-30))) @ axes.T
    values, axes = np.linalg.eigh(back @ one @ back)
    return root @ axes @ np.diag(np.maximum(values - 1, 0.0)) @ axes.T @ root


def _finer_shift(problem: Problem, found: Fit) -> Float[np.ndarray, " param"]:
    """By how much the parameters would move, in prior deviations, if the physics were integrated better.

    One step of Gauss-Newton with the better simulator's own derivatives: those by latency are coarse at a coarse time step.
    """
    shooting, bounds = problem.shooting, problem.bounds
    fine: Simulator | None = finer(shooting.simulator)
    if fine is None:
        return np.zeros(len(found.params))
    other = Shooting(fine, shooting.windows, shooting.names, shooting.fixed)
    jacobian, residual = eliminated(other.slopes(found.params, found.starts, bounds.deviation), problem.level, bounds)
    pull = (found.params - bounds.centre) / bounds.deviation
    told = np.einsum("wqp,wqr->pr", jacobian, jacobian) + np.eye(len(pull))
    return -np.linalg.solve(told, np.einsum("wqp,wq->p", jacobian, residual) + pull)
