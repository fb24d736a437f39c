"""A simulator of throws that knows how unsure it is: identified parameters, a bent law, and chance in starts and touches."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Parameter, Params
from gapless.simulators.rigid.body import Body
from gapless.simulators.rigid.play import Seen, Start, play
from gapless.simulators.rigid.vectors import multiply, small_turn, unit

from .bent_law import BENDS, PACE, BentLaw, straight

STARTS = (3e-4, 3e-3, 8e-3, 0.08)
"""Deviations of a measured start before any is learned: m, rad, m/s, rad/s."""
TAILS = 4.0
"""Degrees of freedom of a start's errors: trackers slip now and then."""
NUDGE = 0.3
"""What a step of one means to an identified parameter, in sixths of its range."""


class Thrower(eqx.Module):
    """Everything that is learned about one body and one floor."""

    law: BentLaw
    nudges: Float[Array, " param"]
    """How far the law's fit moved what was identified."""
    starts: Float[Array, "4"]
    """Errors of a measured start over those that are usual: logarithms over PACE."""
    identified: Float[Array, " param"]
    widths: Float[Array, " param"]
    """A sixth of each parameter's range; zero where it is known."""
    names: tuple[str, ...] = eqx.field(static=True)
    body: Body = eqx.field(static=True)
    period_s: float = eqx.field(static=True)

    def values(self, worlds: int) -> Params:
        """Parameters, one for each world."""
        now = self.identified + NUDGE * self.widths * self.nudges
        return {name: jnp.broadcast_to(now[k], (worlds,)) for k, name in enumerate(self.names)}

    def path(self, start: Start, samples: int) -> Seen:
        """One throw without chance."""
        bending = lambda touch: self.law(touch, self.body.reach_m, None)  # noqa: E731
        params = self.values(start.position.shape[1])
        return play(self.body, params, start, samples, self.period_s, bending)

    def cloud(self, start: Start, samples: int, draws: int, key: PRNGKeyArray, memory: float = 1.0) -> Seen:
        """Throws that may have begun as measured; draws lead."""
        count, (a, b) = start.position.shape[1], jax.random.split(key)
        worlds = draws * count
        begun = self._begun(jax.tree.map(lambda x: jnp.tile(x, draws), start), a)
        chance = jax.random.normal(b, (BENDS, self.body.corners.shape[1], worlds))
        bending = lambda touch: self.law(touch, self.body.reach_m, chance)  # noqa: E731
        seen = play(self.body, self.values(worlds), begun, samples, self.period_s, bending, memory)
        return Seen(*(jnp.moveaxis(x.reshape(*x.shape[:2], draws, count), 2, 0) for x in seen))

    def _begun(self, start: Start, key: PRNGKeyArray) -> Start:
        deviation = jnp.asarray(STARTS) * jnp.exp(PACE * self.starts)
        # One slip of the tracker shows in all four.
        error = deviation[:, None, None] * jax.random.t(key, TAILS, (4, 3, start.position.shape[1]))
        return Start(
            start.position + error[0],
            unit(multiply(start.quaternion, small_turn(error[1]))),
            start.velocity + error[2],
            start.spin + error[3],
        )


def thrower(body: Body, free: Sequence[Parameter], params: Params, period_s: float, law: BentLaw) -> Thrower:
    """A thrower about identified parameters."""
    ranges = {p.name: (p.high - p.low) / 6 for p in free}
    found = jnp.asarray([float(v) for v in params.values()], jnp.float32)
    widths = jnp.asarray([ranges.get(name, 0.0) for name in params], jnp.float32)
    return Thrower(law, jnp.zeros(len(found)), jnp.zeros(4), found, widths, tuple(params), body, period_s)


def as_identified(model: Thrower) -> Thrower:
    """Its path is the identified one again; what was learned of chance stays."""
    return eqx.tree_at(lambda m: (m.law, m.nudges), model, (straight(model.law), jnp.zeros_like(model.nudges)))
