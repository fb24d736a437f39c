"""A few rounds of messages between bodies and contacts, which end in impulses that let nothing sink in."""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from .contacts import Contacts
from .geometry import SLOP_M
from .law import Touching
from .scene import Mass, Scene

HIDDEN, TOLD = 32, 16
"""Width of the network at an edge, and of what it tells its bodies."""
MESSAGES = 3
"""Rounds of messages before the first push."""
BOLDEST = 1.0
"""Longest step of an edge, over what it resists and the crowd around it: twice as far, pushes of many would not die out."""
FIRST, CARRIED = 0.55, 0.98
"""Share of the longest step that is taken, and of the last change that goes on, before anything is learned."""
KNOWN = 11


class Edges(NamedTuple):
    """What contacts know of their two bodies during one step."""

    body: Int[Array, "contact 2"]
    touching: Bool[Array, " contact"]
    across: Float[Array, "contact 2 3"]
    """How the velocities of either body count towards parting."""
    along: Float[Array, "contact 2 3"]
    """The same for sliding."""
    inverse: Float[Array, "contact 2 3"]
    """What an impulse changes at either body."""
    weight: Float[Array, "contact 2"]
    """Mass that resists parting and sliding, in kg."""
    crowd: Float[Array, "contact 2"]
    """How many contacts share what resists, for parting and sliding: with so many pushing at once, each may push so much less."""
    approach: Float[Array, " contact"]
    """Speed of parting before anything is pushed; negative while bodies near each other."""
    known: Float[Array, "contact static"]
    """What does not change from round to round, as features."""
    at: Float[Array, "contact 2 body"]
    """1 where a side of a contact is a body."""
    free: Bool[Array, " body"]
    mass: Mass

    def push(self, velocity: Float[Array, "body 3"], impulse: Float[Array, "contact 2"]) -> Float[Array, "body 3"]:
        """Velocities after impulses across and along the contacts."""
        change = (self.across * impulse[:, :1, None] + self.along * impulse[:, 1:, None]) * self.inverse
        return velocity + jnp.einsum("csb,csk->bk", self.at, change)

    def gathered(self, told: Float[Array, "contact told"]) -> Float[Array, "body told"]:
        """What all contacts tell their bodies, added up."""
        return jnp.einsum("csb,ct->bt", self.at, told)

    @classmethod
    def of(cls, contacts: Contacts, mass: Mass, velocity: Float[Array, "body 3"], scene: Scene) -> "Edges":
        tangent = jnp.stack([-contacts.normal[:, 1], contacts.normal[:, 0]], -1)
        across, along = levers(contacts.normal, contacts.arm), levers(tangent, contacts.arm)
        inverses = jnp.stack([mass.inverse, mass.inverse, mass.inverse_inertia], -1)
        inverse = inverses[contacts.body]
        on = contacts.touching
        sides = jax.nn.one_hot(contacts.body, len(mass.kg)) * on[:, None, None]
        met = jnp.sum(sides, (0, 1))[contacts.body]
        gives = jnp.stack([jnp.sum(j**2 * inverse, -1) for j in (across, along)], -1)  # contact, side, direction
        total = jnp.maximum(jnp.sum(gives, 1), 1e-9)
        crowd = jnp.maximum(jnp.sum(gives * met[..., None], 1) / total, 1.0)
        coupling = jnp.sum(across * along * inverse, (1, 2)) / jnp.sqrt(total[:, 0] * total[:, 1])
        approach = parting(across, velocity, contacts.body)
        known = jnp.stack(
            [*jnp.log(crowd).T, coupling, jnp.abs(coupling), jnp.clip(contacts.separation / SLOP_M, -8, 0) / 4,
             *(gives[:, 0] / total).T, jnp.tanh(approach)], -1,
        )  # fmt: skip
        weight = jnp.where(on[:, None], 1 / total, 0.0)
        return cls(
            contacts.body, on, across, along, inverse, weight, crowd, approach, jnp.where(on[:, None], known, 0.0), sides,
            scene.free, mass,
        )  # fmt: skip


class Bold(NamedTuple):
    """How each edge pushes."""

    reach: Float[Array, "contact 2"]
    """Impulse per speed of parting and of sliding."""
    carry: Float[Array, " contact"]
    """Share of the last change that goes on."""


class Rounds(eqx.Module):
    """Steps towards the impulses at which nothing sinks in."""

    edge: eqx.nn.MLP
    count: int = eqx.field(static=True)

    def __init__(self, key: PRNGKeyArray, count: int) -> None:
        net = eqx.nn.MLP(KNOWN + 3 * TOLD, 3 + TOLD, HIDDEN, 2, activation=jax.nn.silu, key=key)
        last, first = net.layers[-1], jnp.array([_logit(FIRST), _logit(FIRST), _logit(CARRIED)])
        # Before training every step is a safe one.
        net = eqx.tree_at(lambda n: n.layers[-1].weight, net, last.weight.at[:3].multiply(0.01))
        self.edge = eqx.tree_at(lambda n: n.layers[-1].bias, net, replace_fn=lambda bias: bias.at[:3].set(first))
        self.count = count

    def __call__(
        self, edges: Edges, law: Touching, velocity: Float[Array, "body 3"], held: Float[Array, "contact 2"],
        dt_s: Float[Array, ""] | float,
    ) -> tuple[Float[Array, "body 3"], Float[Array, "contact 2"]]:  # fmt: skip
        """Velocities after, and normal and tangential impulses."""
        bold = self._bold(edges, law, held)
        begun = _State(edges.push(velocity, held), held, held, jnp.zeros_like(velocity))
        most = jnp.stack([law.grip, law.twist], -1) * dt_s

        def body(state: _State, which: Array) -> tuple[_State, None]:
            return _round(edges, law, bold, most, state, which), None

        done, _ = jax.lax.scan(body, begun, jnp.arange(self.count, dtype=jnp.float32))
        return done.velocity, done.impulse

    def _bold(self, edges: Edges, law: Touching, held: Float[Array, "contact 2"]) -> Bold:
        """What messages between edges and bodies lead to."""
        pushing = (held[:, :1] > 0).astype(jnp.float32)
        known = jnp.concatenate(
            [edges.known, pushing, jnp.log(jnp.maximum(law.friction, 1e-6))[:, None], jnp.tanh(law.target)[:, None]], -1
        )
        told, out = jnp.zeros((len(known), TOLD)), jnp.zeros((len(known), 3 + TOLD))
        for _ in range(MESSAGES):
            sides = edges.gathered(told)[edges.body].reshape(len(known), -1)
            out = jax.vmap(self.edge)(jnp.concatenate([known, told, sides], -1))
            told = jnp.tanh(out[:, 3:])
        return Bold(BOLDEST * jax.nn.sigmoid(out[:, :2]) / edges.crowd * edges.weight, jax.nn.sigmoid(out[:, 2]))


class _State(NamedTuple):
    velocity: Float[Array, "body 3"]
    impulse: Float[Array, "contact 2"]
    before: Float[Array, "contact 2"]
    """The impulse a round earlier, or the same where nothing is to go on."""
    rubbed: Float[Array, "body 3"]
    """Impulse of the table so far."""


def _round(
    edges: Edges, law: Touching, bold: Bold, most: Float[Array, "body 2"], state: _State, which: Float[Array, ""]
) -> _State:
    """All edges push at once, from where the last change would have led."""
    go_on = (bold.carry * which / (which + 3))[:, None] * (state.impulse - state.before)
    ahead = state.impulse + go_on
    velocity = edges.push(state.velocity, go_on)
    apart = parting(edges.across, velocity, edges.body) - law.target
    slide = parting(edges.along, velocity, edges.body)
    normal = jnp.maximum(ahead[:, 0] - bold.reach[:, 0] * apart, 0.0)
    cone = law.friction * normal
    tangent = jnp.clip(ahead[:, 1] - bold.reach[:, 1] * slide, -cone, cone)
    impulse = jnp.stack([normal, tangent], -1)
    velocity, rubbed = _rub(edges, most, edges.push(velocity, impulse - ahead), state.rubbed)
    # What turned back goes on with nothing: else pushes swing, and in a crowd they swing up.
    turned = jnp.sum((ahead - impulse) * (impulse - state.impulse), -1, keepdims=True) > 0
    return _State(velocity, impulse, jnp.where(turned, impulse, state.impulse), rubbed)


def levers(direction: Float[Array, "contact 2"], arm: Float[Array, "contact 2 2"]) -> Float[Array, "contact 2 3"]:
    """How velocity and spin of either body count towards parting along a direction."""
    turn = arm[..., 0] * direction[:, None, 1] - arm[..., 1] * direction[:, None, 0]
    sign = jnp.array([-1.0, 1.0])
    straight = sign[:, None] * direction[:, None]
    return jnp.concatenate([straight, (sign * turn)[..., None]], -1)


def parting(
    lever: Float[Array, "contact 2 3"], velocity: Float[Array, "body 3"], body: Int[Array, "contact 2"]
) -> Float[Array, " contact"]:
    return jnp.sum(lever * velocity[body], (1, 2))


def _rub(
    edges: Edges, most: Float[Array, "body 2"], velocity: Float[Array, "body 3"], rubbed: Float[Array, "body 3"]
) -> tuple[Float[Array, "body 3"], Float[Array, "body 3"]]:
    """The table stops each body, as far as its hold reaches."""
    mass = edges.mass
    inverse = jnp.stack([mass.inverse, mass.inverse, mass.inverse_inertia], -1)
    resists = jnp.where(edges.free[:, None], jnp.stack([mass.kg, mass.kg, mass.inertia], -1), 0.0)
    wanted = rubbed - resists * velocity
    length = jnp.sqrt(jnp.sum(wanted[:, :2] ** 2, -1) + 1e-12)
    straight = wanted[:, :2] * jnp.minimum(1.0, most[:, 0] / length)[:, None]
    turn = jnp.clip(wanted[:, 2], -most[:, 1], most[:, 1])
    now = jnp.concatenate([straight, turn[:, None]], -1)
    return velocity + inverse * (now - rubbed), now


def _logit(share: float) -> float:
    return math.log(share / (1 - share))
