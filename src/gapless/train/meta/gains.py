"""What actions were worth by the rewards that followed them, less what was to be expected at that time and place."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from .trials import Rows

RIDGE = 1e-5


def gains(rows: Rows, discount: float) -> Float[Array, "episode step"]:
    """Discounted rewards to go less a baseline fitted to these episodes alone, in deviations; zero where it was over.

    The baseline is linear in the observation, its squares and time (Duan et al. 2016), so that episodes of a robot that
    nobody has a critic for are judged as those of a simulator are.
    """
    reward = to_go(rows.reward * rows.alive, discount)
    expected = baseline(rows.seen, reward, rows.alive)
    off = (reward - expected) * rows.alive
    count = jnp.maximum(rows.alive.sum(), 1)
    centre = off.sum() / count
    spread = jnp.sqrt((((off - centre) * rows.alive) ** 2).sum() / count)
    return (off - centre) * rows.alive / (spread + 1e-6)


def to_go(reward: Float[Array, "episode step"], discount: float) -> Float[Array, "episode step"]:
    """Each period's reward and the discounted ones after it."""

    def back(later: Float[Array, " episode"], now: Float[Array, " episode"]) -> tuple:
        total = now + discount * later
        return total, total

    return jax.lax.scan(back, jnp.zeros(len(reward)), reward.T, reverse=True)[1].T


def baseline(
    seen: Float[Array, "episode step seen"], wanted: Float[Array, "episode step"], alive: Bool[Array, "episode step"]
) -> Float[Array, "episode step"]:
    """The regression of what is wanted on observations and time, over rows that are alive."""
    time = jnp.broadcast_to(jnp.linspace(0, 1, seen.shape[1])[None, :, None], (*seen.shape[:2], 1))
    features = jnp.concatenate([jnp.ones_like(time), time, time**2, time**3, seen, seen**2], axis=-1)
    flat, weight = features.reshape(-1, features.shape[-1]), alive.reshape(-1, 1)
    gram = (flat * weight).T @ flat / jnp.maximum(weight.sum(), 1)
    pull = (flat * weight).T @ wanted.reshape(-1) / jnp.maximum(weight.sum(), 1)
    ridge = RIDGE * jnp.diag(jnp.diag(gram) + 1e-6)
    return (flat @ jnp.linalg.solve(gram + ridge, pull)).reshape(wanted.shape)
