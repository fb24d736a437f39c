"""A network that reads watched steps and says what bodies are made of: every touch adds a little precision, none adds none."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from gapless.simulators.planar.matter import NAMED, WIDTH
from gapless.simulators.planar.scene import Scene

from .evidence import Evidence
from .prior import Matter

HIDDEN = 64
TOUCH_FEATURES, BODY_FEATURES = 41, 28
SHARPEST = 7.0
"""Logarithm of the most precision that one row may add."""
FIRST = 3.0
"""Minus the logarithm of the precision that a row adds before anything is learned."""
FARTHEST = 3.0
"""Deviations of the prior beyond which nothing is looked for."""
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
        touch = _said(self.touch, (told.touch - self.touch_shift) * self.touch_scale)
        body = _said(self.body, (told.body - self.body_shift) * self.body_scale)
        shared = jax.tree.map(lambda x: jax.ops.segment_max(x, scene.owner, len(scene.free)), prior)
        by_touch = told.touching[..., None] & _named(BY_TOUCH)
        by_body = told.pulled[..., None] & _named(BY_PULL)
        by_body = by_body | (told.seen[..., None] & (scene.table > 0) & _named(BY_TABLE))
        added = _added(touch, told.implied, prior, told.part, by_touch)
        moved = _added(body, told.moving, shared, told.who, by_body)
        precision, pull = (a + b[scene.owner] for a, b in zip(added, moved, strict=True))
        return updated(prior, precision, pull)


def updated(prior: Matter, precision: Float[Array, "part embedding"], pull: Float[Array, "part embedding"]) -> Matter:
    """Precision, and precision times distance from the prior's mean in its deviations, added to the prior."""
    open_ = (prior.deviation > 0) & (precision > 0)
    moved = prior.mean + prior.deviation * pull / (1 + precision)
    return Matter(
        jnp.where(open_, moved, prior.mean),
        jnp.where(open_, prior.deviation / jnp.sqrt(1 + precision), prior.deviation),
    )


def spoken_of(scene: Scene, told: Evidence) -> Bool[Array, "part embedding"]:
    """Which coordinates anything that was seen can speak of: friction and bounce only of parts that have touched."""
    parts, bodies = len(scene.count), len(scene.free)
    touched = _any(told.touching, told.part, parts)
    moved = (_any(touched, scene.owner, bodies) | _any(told.pulled, told.who, bodies))[scene.owner]
    rubbed = (_any(told.seen, told.who, bodies) & (scene.table > 0))[scene.owner]
    spoken = {"mass": moved, "inertia": moved, "friction": touched, "restitution": touched, "drag": rubbed}
    return jnp.stack([spoken.get(name, jnp.zeros_like(touched)) for name in NAMED], -1)


def _added(
    said: Float[Array, "*row out"], implied: Float[Array, "*row embedding"], prior: Matter, whom: Int[Array, "*row"],
    gate: Bool[Array, "*row embedding"],
) -> tuple[Float[Array, "whom embedding"], Float[Array, "whom embedding"]]:  # fmt: skip
    """Precision, and precision times place, of all rows by whom they tell about; in units of the prior's."""
    precision = jnp.exp(SHARPEST - jax.nn.softplus(SHARPEST + FIRST - said[..., :WIDTH]))
    deviation = prior.deviation[whom]
    place = (implied - prior.mean[whom]) / jnp.where(deviation > 0, deviation, 1.0)
    place = FARTHEST * jnp.tanh((place + said[..., WIDTH:]) / FARTHEST)
    rows = (jnp.where(gate, x, 0.0).reshape(-1, WIDTH) for x in (precision, precision * place))
    total, pull = (jax.ops.segment_sum(x, whom.reshape(-1), len(prior.mean)) for x in rows)
    return total, pull


def _any(which: Bool[Array, "*row"], whom: Int[Array, "*row"], count: int) -> Bool[Array, " whom"]:
    return jax.ops.segment_max(which.reshape(-1).astype(jnp.int32), whom.reshape(-1), count) > 0


def _said(net: eqx.nn.MLP, rows: Float[Array, "*row feature"]) -> Float[Array, "*row out"]:
    return jax.vmap(net)(rows.reshape(-1, rows.shape[-1])).reshape(*rows.shape[:-1], -1)


def _named(names: tuple[str, ...]) -> Bool[Array, " embedding"]:
    return jnp.array([n in names for n in NAMED])
