"""A network that reads watched steps and says what bodies are made of: every touch adds a little precision, none adds none."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.simulators.planar.matter import NAMED, WIDTH
from gapless.simulators.planar.scene import Scene

from .evidence import Evidence
from .prior import Matter

HIDDEN = 64
TOUCH_FEATURES, BODY_FEATURES = 42, 28
SHARPEST = 7.0
"""Logarithm of the most precision that one row may add."""
BY_TOUCH, BY_PULL, BY_TABLE = ("mass", "inertia", "friction", "restitution"), ("mass", "inertia"), ("drag",)
"""Of what touches speak, of what motion under a known force does, and of what motion on a table does."""


class Encoder(eqx.Module):
    """Two networks that all touches and all bodies share."""

    touch: eqx.nn.MLP
    body: eqx.nn.MLP
    touch_shift: Float[Array, " feature"]
    touch_scale: Float[Array, " feature"]
    body_shift: Float[Array, " feature"]
    body_scale: Float[Array, " feature"]

    def __init__(self, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key)
        net = lambda width, k: eqx.nn.MLP(width, 2 * WIDTH, HIDDEN, 2, activation=jax.nn.silu, key=k)  # noqa: E731
        self.touch, self.body = net(TOUCH_FEATURES, keys[0]), net(BODY_FEATURES, keys[1])
        self.touch_shift, self.touch_scale = jnp.zeros(TOUCH_FEATURES), jnp.ones(TOUCH_FEATURES)
        self.body_shift, self.body_scale = jnp.zeros(BODY_FEATURES), jnp.ones(BODY_FEATURES)

    def __call__(self, scene: Scene, prior: Matter, told: Evidence) -> Matter:
        """The prior and what all rows add to it; exactly the prior where none does."""
        parts = len(scene.count)
        touch = _said(self.touch, (told.touch - self.touch_shift) * self.touch_scale)
        gate = told.touching[..., None] & _named(BY_TOUCH)
        whom = told.part.reshape(-1)
        added = [jax.ops.segment_sum(_flat(jnp.where(gate, x, 0.0)), whom, parts) for x in _weighed(touch)]
        body = _said(self.body, (told.body - self.body_shift) * self.body_scale)
        gate = (told.pulled[..., None] & _named(BY_PULL)) | (told.seen[..., None] & (scene.table > 0) & _named(BY_TABLE))
        by_body = [jnp.sum(jnp.where(gate, x, 0.0), 0)[scene.owner] for x in _weighed(body)]
        precision, pull = (a + b for a, b in zip(added, by_body, strict=True))
        return updated(prior, precision, pull)


def updated(prior: Matter, precision: Float[Array, "part embedding"], pull: Float[Array, "part embedding"]) -> Matter:
    """Precision, and precision times distance from the prior's mean in its deviations, added to the prior."""
    open_ = (prior.deviation > 0) & (precision > 0)
    moved = prior.mean + prior.deviation * pull / (1 + precision)
    return Matter(
        jnp.where(open_, moved, prior.mean), jnp.where(open_, prior.deviation / jnp.sqrt(1 + precision), prior.deviation)
    )


def spoken_of(scene: Scene, told: Evidence) -> Bool[Array, "part embedding"]:
    """Which coordinates anything that was seen can speak of: friction and bounce only of parts that have touched."""
    parts, owner = len(scene.count), jnp.asarray(scene.owner)
    touched = jax.ops.segment_max(told.touching.reshape(-1).astype(jnp.int32), told.part.reshape(-1), parts) > 0
    body = jax.ops.segment_max(touched.astype(jnp.int32), owner, len(scene.free)) > 0
    moved = (body | jnp.any(told.pulled, 0))[owner]
    rubbed = (jnp.any(told.seen, 0) & (scene.table > 0))[owner]
    spoken = {"mass": moved, "inertia": moved, "friction": touched, "restitution": touched, "drag": rubbed}
    return jnp.stack([spoken.get(name, jnp.zeros_like(touched)) for name in NAMED], -1)


def _said(net: eqx.nn.MLP, rows: Float[Array, "*row feature"]) -> Float[Array, "*row out"]:
    return jax.vmap(net)(_flat(rows)).reshape(*rows.shape[:-1], -1)


def _weighed(said: Float[Array, "*row out"]) -> tuple[Float[Array, "*row embedding"], Float[Array, "*row embedding"]]:
    """Precision and precision times place, in units of the prior's."""
    precision = jnp.exp(SHARPEST - jax.nn.softplus(SHARPEST + 1.0 - said[..., :WIDTH]))
    return precision, precision * said[..., WIDTH:]


def _flat(rows: Float[Array, "*row feature"]) -> Float[Array, "flat feature"]:
    return rows.reshape(-1, rows.shape[-1])


def _named(names: tuple[str, ...]) -> Bool[Array, " embedding"]:
    return jnp.array([n in names for n in NAMED])
