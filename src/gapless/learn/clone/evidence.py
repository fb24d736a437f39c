"""What each step of a watched scene says about the bodies in it, as numbers for the encoder: per touch, and per body.

A touch is told in its own frame: how the velocity changed across and along it, what ratio of impulses that implies, how fast
the bodies neared each other and slid, and what is known about both. Masses are taken from the prior where they are not known.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from gapless.simulators.planar.clone import Push, pushed
from gapless.simulators.planar.contacts import Contacts, find
from gapless.simulators.planar.matter import NAMED, TYPICAL
from gapless.simulators.planar.scene import Mass, Motion, Scene, gyration, masses
from gapless.simulators.planar.teacher import SPIN_ARM

from .observed import Observed
from .prior import Matter

TINY = 1e-3
"""Speeds in m/s below which all are alike."""
FRICTION, BOUNCE, MASS = (NAMED.index(n) for n in ("friction", "restitution", "mass"))


class Evidence(NamedTuple):
    """Rows of one scene's steps: those of touches, and those of bodies."""

    touch: Float[Array, "*touch feature"]
    part: Int[Array, "*touch"]
    """Whom a touch tells about."""
    touching: Bool[Array, "*touch"]
    implied: Float[Array, "*touch embedding"]
    """Coordinates that a touch implies if nothing else touches and it slides."""
    body: Float[Array, "*body feature"]
    who: Int[Array, "*body"]
    seen: Bool[Array, "*body"]
    pulled: Bool[Array, "*body"]
    """Whether a known force or torque acted."""
    moving: Float[Array, "*body embedding"]
    """Coordinates that a body's motion implies if nothing touches."""


def evidence(scene: Scene, prior: Matter, observed: Observed) -> Evidence:
    """The rows of every step, those of padding with nothing touching and nothing pulled."""
    guessed = scene._replace(z=prior.mean)
    mass = masses(guessed)
    before, after = (jax.tree.map(lambda x, s=s: x[s], observed.motion) for s in (slice(None, -1), slice(1, None)))

    def one(before: Motion, after: Motion, push: Push, seen: Bool[Array, ""]) -> Evidence:
        return _rows(_Step(guessed, prior, mass, before, after, push, observed.dt_s), seen)

    return jax.vmap(one)(before, after, observed.push, observed.seen)


class _Step(NamedTuple):
    scene: Scene
    prior: Matter
    mass: Mass
    before: Motion
    after: Motion
    push: Push
    dt_s: Float[Array, ""]


def _rows(step: _Step, seen: Bool[Array, ""]) -> Evidence:
    scene, mass = step.scene, step.mass
    contacts = find(scene, step.before)
    on = contacts.touching & seen
    sides = jnp.repeat(on[:, None], 2, 1)
    met = jnp.zeros(len(mass.kg)).at[contacts.body].add(sides.astype(jnp.float32))
    mutual = jnp.zeros((len(scene.count), len(scene.count))).at[contacts.pair[:, 0], contacts.pair[:, 1]].add(on)
    shared = mutual[contacts.pair[:, 0], contacts.pair[:, 1]]
    rows = [_touch(step, contacts, side, met, shared) for side in (0, 1)]
    pulled = seen & scene.free & (jnp.any(step.push.force != 0, -1) | (step.push.torque != 0))
    watched = seen & scene.free
    touch, implied = (jnp.stack(x, 1) for x in zip(*rows, strict=True))
    body, moving = _body(step, met)
    return Evidence(touch, contacts.pair, sides, implied, body, jnp.arange(len(met)), watched, pulled, moving)


def _touch(
    step: _Step, contacts: Contacts, side: int, met: Array, shared: Array
) -> tuple[Float[Array, "contact feature"], Float[Array, "contact embedding"]]:
    """What touches tell about the part on one side of them, and the coordinates that they imply."""
    scene, prior, mass = step.scene, step.prior, step.mass
    own, other = contacts.body[:, side], contacts.body[:, 1 - side]
    normal = contacts.normal * (1.0 if side else -1.0)
    tangent = jnp.stack([-normal[:, 1], normal[:, 0]], -1)
    arm = contacts.arm[:, side]
    begun = pushed(scene, mass, step.before, step.push, step.dt_s)
    done = jnp.concatenate([step.after.velocity, step.after.spin[:, None]], -1)
    radius = gyration(mass)
    change = done - begun
    across, along = _dot(change[own, :2], normal), _dot(change[own, :2], tangent)
    back, aside = -_dot(change[other, :2], normal), -_dot(change[other, :2], tangent)
    relative = [_at(v[own], arm) - _at(v[other], contacts.arm[:, 1 - side]) for v in (begun, done)]
    near, slid = _dot(relative[0], normal), _dot(relative[0], tangent)
    part_, slides = _dot(relative[1], normal), _dot(relative[1], tangent)
    ratio = _log(along) - _log(across)
    returned = jnp.clip(part_ / jnp.maximum(-near, 0.1), 1e-3, 0.999)
    free = scene.free[other].astype(jnp.float32)
    turn, lever = change[own, 2] * radius[own], _cross(arm, change[own, :2]) / radius[own]
    mine, theirs = contacts.pair[:, side], contacts.pair[:, 1 - side]
    pull = step.dt_s * step.push.force / jnp.maximum(mass.kg, 1e-6)[:, None]
    known = [
        *(x[k][:, c] for k in (mine, theirs) for x in prior for c in (MASS, FRICTION, BOUNCE)),
        prior.deviation[mine][:, 1],
    ]
    told = [
        _signed(across), _log(across), _log(along), ratio, -jnp.sign(slides * along), _log(slides), _log(slid), _signed(near),
        _signed(part_), jnp.log(returned / (1 - returned)), jax.nn.sigmoid(8 * (-near - 1)),
        free, free * (_log(across) - _log(back)), free * (_log(along) - _log(aside)), jnp.log1p(met[own]), jnp.log1p(met[other]),
        (met[own] == shared).astype(jnp.float32), (met[other] == shared).astype(jnp.float32), shared,
        _cross(arm, normal) / radius[own], _cross(arm, tangent) / radius[own], _log(turn) - _log(lever), jnp.sign(turn * lever),
        _log(_norm(pull[own])), _signed(_dot(pull[own], normal)), _signed(_dot(pull[own], tangent)),
        _log(_norm(pull[other])), jnp.broadcast_to(scene.table / 10, near.shape),
    ]  # fmt: skip
    implied = {
        "mass": prior.mean[theirs][:, MASS] + free * (_log(back) - _log(across)), "inertia": _log(lever) - _log(turn),
        "friction": 2 * ratio - 2 * jnp.log(TYPICAL["friction"]) - prior.mean[theirs][:, FRICTION],
        "restitution": jnp.log(returned / (1 - returned)),
    }  # fmt: skip
    return jnp.stack(told + known, -1), _columns(implied, prior.mean[mine])


def _body(step: _Step, met: Array) -> tuple[Float[Array, "body feature"], Float[Array, "body embedding"]]:
    """What a body's own motion tells about it, and the coordinates that it implies."""
    scene, prior, mass = step.scene, step.prior, step.mass
    radius = gyration(mass)
    change = step.after.velocity - step.before.velocity - step.dt_s * scene.gravity
    push = step.dt_s * step.push.force
    force, strength = _unit(push)
    heading, speed = _unit(step.after.velocity)
    sideways = jnp.stack([-heading[:, 1], heading[:, 0]], -1)
    pulled_on, moved_on = _dot(push, force), _dot(change, force)
    pulled_aside, moved_aside = _dot(push, sideways), _dot(change, sideways)
    slowed = _dot(push / jnp.maximum(mass.kg, 1e-6)[:, None] - change, heading)
    rub = jnp.maximum(step.dt_s * scene.table, 1e-6)
    turned = (step.after.spin - step.before.spin - step.dt_s * step.push.torque * mass.inverse_inertia) * radius
    z = jax.ops.segment_sum(jnp.concatenate(prior, -1) * (scene.count > 0)[:, None], scene.owner, len(met))
    told = [
        jnp.log1p(met), (met == 0).astype(jnp.float32), _log(strength), _log(pulled_on) - _log(moved_on),
        jnp.sign(moved_on), _log(pulled_aside) - _log(moved_aside), _log(pulled_aside), jnp.sign(pulled_aside * moved_aside),
        _log(slowed) - jnp.log(rub), jnp.sign(slowed), _log(turned) - jnp.log(SPIN_ARM * rub),
        -jnp.sign(turned * step.after.spin), _log(speed), _log(step.after.spin * radius), _log(step.push.torque * step.dt_s),
        jnp.broadcast_to(scene.table / 10, met.shape),
    ]  # fmt: skip
    on_table = _log(pulled_aside) - _log(moved_aside)
    implied = {
        "mass": jnp.where(scene.table > 0, on_table, _log(pulled_on) - _log(moved_on)),
        "drag": _log(slowed) - jnp.log(rub * TYPICAL["drag"]),
    }  # fmt: skip
    return jnp.concatenate([jnp.stack(told, -1), z], -1), _columns(implied, z[:, : len(NAMED)])


def _columns(implied: dict[str, Array], otherwise: Float[Array, "row embedding"]) -> Float[Array, "row embedding"]:
    return jnp.stack([implied.get(name, otherwise[:, k]) for k, name in enumerate(NAMED)], -1)


def _at(velocity: Float[Array, "contact 3"], arm: Float[Array, "contact 2"]) -> Float[Array, "contact 2"]:
    return velocity[:, :2] + velocity[:, 2:] * jnp.stack([-arm[:, 1], arm[:, 0]], -1)


def _dot(a: Array, b: Array) -> Array:
    return jnp.sum(a * b, -1)


def _cross(a: Array, b: Array) -> Array:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _norm(vector: Array) -> Array:
    return jnp.sqrt(jnp.sum(vector**2, -1) + 1e-12)


def _unit(vector: Array) -> tuple[Array, Array]:
    length = _norm(vector)
    return vector / length[:, None], length


def _log(size: Array) -> Array:
    return jnp.log(jnp.abs(size) + TINY)


def _signed(size: Array) -> Array:
    return jnp.sign(size) * jnp.log1p(jnp.abs(size) / (10 * TINY))
