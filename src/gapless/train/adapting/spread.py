"""What may be adapted: the params that a belief leaves in doubt, as a Gaussian that is not narrower than strategies need."""

import jax.numpy as jnp
import numpy as np

from gapless.core import Belief, Chosen, GaplessError, Gaussian, Particles, Simulator

LEAST = 0.05
"""Smallest deviation of a param, as a share of its plausible range: however sure a belief is, the simulator may leave something
out, for which another value of some param can stand in."""


def spread(simulator: Simulator, belief: Belief, least: float = LEAST) -> Gaussian:
    """The belief over the simulator's params that are in doubt, with the same correlations and no smaller deviations."""
    belief = belief.beside if isinstance(belief, Chosen) else belief
    plausible = {p.name: (p.low, p.high) for p in simulator.parameters}
    doubted = {name: float(value) for name, value in belief.deviation().items()}
    names = tuple(name for name in belief.names if name in plausible and doubted[name] > 0)
    if not names:
        raise GaplessError(
            "the belief leaves no param of the simulator in doubt, so nothing can be adapted. Learn first."
        )
    low, high = (np.array([float(_side(belief, name, k, plausible)) for name in names]) for k in range(2))
    gaussian = belief.gaussian() if isinstance(belief, Particles) else belief
    deviation = np.array([doubted[name] for name in names])
    related = np.eye(len(names))
    if isinstance(gaussian, Gaussian):
        rows = [gaussian.names.index(name) for name in names]
        related = np.asarray(gaussian.covariance, np.float64)[np.ix_(rows, rows)] / np.outer(deviation, deviation)
    wide = np.maximum(deviation, least * (high - low))
    centre = np.clip([float(jnp.asarray(belief.mean()[name])) for name in names], low, high)
    return Gaussian(names, centre, related * np.outer(wide, wide), low, high)


def _side(belief: Belief, name: str, side: int, plausible: dict[str, tuple[float, float]]) -> float:
    """The lower or upper end of a param: the belief's own where it has one."""
    ends = getattr(belief, ("low", "high")[side], None)
    return plausible[name][side] if ends is None else ends[belief.names.index(name)]
