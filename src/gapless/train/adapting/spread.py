"""What may be adapted: the params that a belief leaves in doubt, as a Gaussian that is not narrower than strategies need."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from gapless.core import Belief, Chosen, GaplessError, Gaussian, Particles, Simulator

LEAST = 0.05
"""Smallest deviation of a param, as a share of its plausible range: however sure a belief is, the simulator may leave something
out, for which another value of some param can stand in."""

DRAWS = 256
"""Draws that show how far a belief without ends of its own reaches."""


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
    low, high = _ends(belief, names, plausible)
    gaussian = belief.gaussian() if isinstance(belief, Particles) else belief
    deviation = np.array([doubted[name] for name in names])
    related = np.eye(len(names))
    if isinstance(gaussian, Gaussian):
        rows = [gaussian.names.index(name) for name in names]
        related = np.asarray(gaussian.covariance, np.float64)[np.ix_(rows, rows)] / np.outer(deviation, deviation)
    wide = np.maximum(deviation, least * (high - low))
    centre = np.clip([float(jnp.asarray(belief.mean()[name])) for name in names], low, high)
    return Gaussian(names, centre, related * np.outer(wide, wide), low, high)


def _ends(
    belief: Belief, names: tuple[str, ...], plausible: dict[str, tuple[float, float]]
) -> tuple[Float[np.ndarray, " param"], Float[np.ndarray, " param"]]:
    """The lower and upper ends of params: the belief's own where it has any, else what is plausible and all that it draws."""
    ends = [getattr(belief, side, None) for side in ("low", "high")]
    if ends[0] is not None and ends[1] is not None:
        rows = [belief.names.index(name) for name in names]
        return np.asarray(ends[0], np.float64)[rows], np.asarray(ends[1], np.float64)[rows]
    drawn = {k: np.asarray(v, np.float64) for k, v in belief.sample(jax.random.key(0), DRAWS).items()}
    low = [min(plausible[name][0], drawn[name].min()) for name in names]
    return np.array(low), np.array([max(plausible[name][1], drawn[name].max()) for name in names])
