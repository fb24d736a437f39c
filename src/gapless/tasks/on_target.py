"""A thing and a target on a table: how far one is from the other, and the verdict on where it was left."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gapless.core import Log, Signals, Verdict

from .early import ended_early

Place = tuple[float, float]


def distance(measurement: Signals, target_m: Place, thing: str = "puck") -> Float[Array, " *world"]:
    """From the thing to the target, in m."""
    x, y = (measurement[f"{thing}.{side}"][..., 0] - at for side, at in zip(("x", "y"), target_m, strict=True))
    return jnp.sqrt(x**2 + y**2 + 1e-12)


def left_at(log: Log, target_m: Place, near_m: float, seconds: float, lost: str, thing: str = "puck") -> Verdict:
    """Whether the thing lies near the target at the end; `lost` is what an episode that ended early means."""
    early = ended_early(log, seconds, lost)
    if early is not None:
        return early
    off = float(np.asarray(distance({k: v[-1] for k, v in log.measurements.items()}, target_m, thing)))
    passed = off < near_m
    says = "lies on the target" if passed else "lies beside the target"
    return Verdict(passed, 1 - off / near_m, f"the {thing} {says}: {off:.3f} m off")
