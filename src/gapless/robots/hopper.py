"""The hopper on our bench: a body on one springy leg, two motors, and ground that gives and slips as it likes."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Channel, Interface, Signals

from .bench import Bench, Ranges, placed, told
from .drivetrain import Drivetrain
from .reality import Hidden

GRAVITY = 9.81
STAND_M, FOOT_M, SOLE_M = 0.53, 0.5, 0.03
"""Height of the hip where it stands, from there to the middle of the foot, and the foot's radius."""
TORSO, TORSO_COM_M, TORSO_NOMINAL_KG = 0.06, 0.05, 2.5
THIGH, THIGH_KG, THIGH_COM_M = 0.002, 0.2, 0.12
SHIN, SHIN_KG, SHIN_COM_M = 0.002, 0.2, 0.38
"""Inertia about the centre of mass, weight, and how far that is from the hip."""
ROTOR = (0.01, 0.05)
GROUND_DAMPING = 0.9
"""Damping ratio of the ground under the shin's weight."""
SWEEPS = 3
"""Rounds in which ground, hip and leg settle how much of each one's dry friction is used."""
FURTHEST = (1e3, 0.6, 3.0, 3.0, 0.2)
FASTEST = (20.0, 20.0, 60.0, 60.0, 20.0)
"""Where whatever happens to a fallen hopper ends: nobody looks at it any more, but numbers stay numbers."""

INTERFACE = Interface(
    "hopper",
    0.02,
    (Channel("hip", unit="V", low=-10.0, high=10.0), Channel("leg", unit="V", low=-10.0, high=10.0)),
    (
        Channel("torso.x", unit="m"),
        Channel("torso.z", unit="m", low=-0.25, high=0.75, rate=6.0),
        Channel("torso.pitch", unit="rad", low=-1.0, high=1.0, rate=15.0),
        Channel("hip.angle", unit="rad", low=-1.3, high=1.3, rate=30.0),
        Channel("leg.length", unit="m", low=-0.16, high=0.16, rate=8.0),
    ),
    ("root_x", "root_z", "pitch", "hip", "leg"),
)

Five = Float[Array, "5"]
Three = Float[Array, "3"]


class Body(NamedTuple):
    """The machine at one instant. Its coordinates are hip x and z, then pitch, the leg's own angle and its length."""

    weight: Float[Array, ""]
    """Of everything, in kg."""
    carried: Float[Array, "3 2"]
    """How much each of the last three moves the whole's centre of mass, times its weight."""
    inverse: Float[Array, "3 3"]
    """What the last three do under an impulse each, the hip free to follow."""

    def answer(self, impulse: Five) -> Five:
        """The change of speed that an impulse makes."""
        inner = self.inverse @ (impulse[2:] - self.carried @ impulse[:2] / self.weight)
        return jnp.concatenate([(impulse[:2] - inner @ self.carried) / self.weight, inner])


class HopperReality(Bench):
    """Lagrange's equations of three bodies; the ground is a damped spring that never pulls, under a cone of dry friction."""

    interface = INTERFACE
    joints = ("root_x", "root_z", "pitch", "hip", "leg")
    drivetrain = Drivetrain(2, 10.0, rotor=ROTOR, inertia=(0.03, 0.3), cog=0.2, creep=0.2, drag=0.3)

    def draw(self, rng: np.random.Generator) -> Hidden:
        between, both = Ranges(rng).between, Ranges(rng).both
        nominal_gain, nominal_damping = np.array([0.5, 6.0]), np.array([0.3, 6.0])
        return {
            "torso_kg": TORSO_NOMINAL_KG * between(1.15, 1.30),
            "stiffness": 900.0 * between(0.76, 0.86),
            "gain": nominal_gain * both(0.70, 0.82),
            "damping": nominal_damping * both(1.5, 2.1),
            "coulomb": 10 * nominal_gain * both(0.02, 0.04),
            "ground": between(16000.0, 36000.0),
            "sliding": 0.8 * between(0.55, 0.70),
            "latency_s": between(0.020, 0.034),
            "noise": (2e-3, 2e-3, 2e-3, 2e-3, 1e-3),
            "jitter_s": between(0.004, 0.008),
            "stribeck": between(0.5, 0.9),
            "bristle": np.array([60.0, 9000.0]) * between(0.7, 1.3),
            "gap": np.array([0.06, 0.006]) * between(0.8, 1.2),
            "belt": np.array([12.0, 2000.0]) * between(0.8, 1.2),
            "cogging": np.array([0.35, 5.0]) * between(0.8, 1.2),
            "cable": np.array([1.5, 60.0]) * between(0.8, 1.2),
            "warming_s": between(0.4, 0.8),
            "slew": between(70.0, 110.0),
            "dead_band": between(0.9, 1.3),
            "patch_m": between(-0.1, 0.1),
            "patch": between(0.5, 0.7),
        }

    def start(self, hidden: Hidden, key: PRNGKeyArray) -> Any:
        keys = jax.random.split(key)
        lifted = jax.random.uniform(keys[0], maxval=0.1)
        leaning = 0.03 * jax.random.normal(keys[1], (2,))
        position = jnp.stack([jnp.zeros(()), lifted, leaning[0], leaning[1], jnp.zeros(())])
        return {"position": position, "speed": jnp.zeros(5), "drive": self.drivetrain.fresh(position[3:])}

    def place(self, state: Any, start: Signals) -> Any:
        state = placed(state, self.joints, start)
        motor = {"motor": state["position"][3:], "motor_speed": state["speed"][3:]}
        return {**state, "drive": {**state["drive"], **motor}}

    def joint_states(self, state: Any) -> Signals:
        return told(state, self.joints)

    def tick(self, hidden: Hidden, state: Any) -> Any:
        moving = (state["position"][3:], state["speed"][3:])
        push, drive = self.drivetrain.push(hidden, state["drive"], moving, self.effects, self.tick_s)
        level = jnp.asarray(hidden["coulomb"])
        drag, drive = self.drivetrain.drags(hidden, drive, moving[1], level, self.effects, self.tick_s)
        speed = self._sped(hidden, state, push - drag, jnp.zeros(2) if "lugre" in self.effects else level)
        ends, most = jnp.asarray(FURTHEST), jnp.asarray(FASTEST)
        speed = jnp.clip(speed, -most, most)
        position = jnp.clip(state["position"] + self.tick_s * speed, -ends, ends)
        return {**state, "position": position, "speed": speed, "drive": drive}

    def _sped(self, hidden: Hidden, state: Any, push: Array, dry: Array) -> Five:
        """Speeds a tick later: forces first, then what dry friction of ground, hip and leg takes of them."""
        h, position, speed = self.tick_s, state["position"], _absolute(state["speed"])
        body = self._body(hidden, position)
        touch, slide = _foot(position)
        height = STAND_M + position[1] - (FOOT_M + position[4]) * jnp.cos(position[2] + position[3])
        depth = SOLE_M - height
        damping = 2 * GROUND_DAMPING * jnp.sqrt(hidden["ground"] * SHIN_KG)
        normal = jnp.where(depth > 0, jnp.maximum(hidden["ground"] * depth - damping * (touch @ speed), 0.0), 0.0)
        pull = push - jnp.asarray(hidden["damping"]) * state["speed"][3:]
        pull = pull - jnp.stack([jnp.zeros(()), hidden["stiffness"] * position[4]])
        free = speed + h * body.answer(_inertial(hidden, position, speed) + _BETWEEN.T @ pull + touch * normal)
        rows = jnp.concatenate([slide[None], _BETWEEN])
        most = h * jnp.concatenate([(self._sliding(hidden, position) * normal)[None], dry])
        return _relative(_rubbed(body, rows, free, most))

    def _body(self, hidden: Hidden, position: Five) -> Body:
        pitch, leg = position[2], position[2] + position[3]
        torso, reach = hidden["torso_kg"], SHIN_COM_M + position[4]
        first = THIGH_KG * THIGH_COM_M + SHIN_KG * reach
        carried = jnp.stack([
            torso * TORSO_COM_M * jnp.stack([jnp.cos(pitch), -jnp.sin(pitch)]),
            first * jnp.stack([-jnp.cos(leg), jnp.sin(leg)]),
            SHIN_KG * jnp.stack([-jnp.sin(leg), -jnp.cos(leg)]),
        ])  # fmt: skip
        weight = jnp.asarray(torso + THIGH_KG + SHIN_KG)
        rotor = 0.0 if self.drivetrain.parted(self.effects) else ROTOR[0]
        hip, leg_damping = rotor + self.tick_s / 2 * hidden["damping"][0], self.tick_s / 2 * hidden["damping"][1]
        own = TORSO / TORSO_NOMINAL_KG * torso + torso * TORSO_COM_M**2 + hip
        swing = THIGH + SHIN + THIGH_KG * THIGH_COM_M**2 + SHIN_KG * reach**2 + hip
        mass = jnp.diag(jnp.stack([own, swing, SHIN_KG + leg_damping])).at[0, 1].set(-hip).at[1, 0].set(-hip)
        return Body(weight, carried, inverse_of(mass - carried @ carried.T / weight))

    def _sliding(self, hidden: Hidden, position: Five) -> Float[Array, ""]:
        """How well the ground holds the foot, where it is now."""
        if "patches" not in self.effects:
            return jnp.asarray(hidden["sliding"])
        off = jnp.mod(position[0] - hidden["patch_m"] + 0.2, 0.4) - 0.2  # a patch every 40 cm, all along the way
        return hidden["sliding"] * (1 - hidden["patch"] * jnp.exp(-((off / 0.08) ** 2)))


_BETWEEN = np.array([[0.0, 0.0, -1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]])
"""Hip and leg, as coordinates move them: the hip is the leg's angle less the pitch."""


def _absolute(speed: Five) -> Five:
    """Of the joints' speeds, those of the coordinates."""
    return speed.at[3].add(speed[2])


def _relative(speed: Five) -> Five:
    """The way back."""
    return speed.at[3].add(-speed[2])


def _foot(position: Five) -> tuple[Five, Five]:
    """How the foot rises and how its sole slides along with the coordinates; the sole rolls."""
    leg, length, still = position[2] + position[3], FOOT_M + position[4], jnp.zeros(())
    sine, cosine, one = jnp.sin(leg), jnp.cos(leg), jnp.ones(())
    rises = jnp.stack([still, one, still, length * sine, -cosine])
    return rises, jnp.stack([one, still, still, -length * cosine - SOLE_M, -sine])


def _inertial(hidden: Hidden, position: Five, speed: Five) -> Five:
    """Weight, and what turning masses do to each other."""
    pitch, leg, reach = position[2], position[2] + position[3], SHIN_COM_M + position[4]
    torso, first = hidden["torso_kg"] * TORSO_COM_M, THIGH_KG * THIGH_COM_M + SHIN_KG * reach
    weight = hidden["torso_kg"] + THIGH_KG + SHIN_KG
    down, aside = jnp.stack([-jnp.sin(leg), -jnp.cos(leg)]), jnp.stack([-jnp.cos(leg), jnp.sin(leg)])
    whirl = torso * speed[2] ** 2 * jnp.stack([jnp.sin(pitch), jnp.cos(pitch)]) + first * speed[3] ** 2 * down
    along = whirl - 2 * SHIN_KG * speed[4] * speed[3] * aside - jnp.stack([jnp.zeros(()), weight * GRAVITY])
    turned = jnp.stack([
        GRAVITY * torso * jnp.sin(pitch),
        -GRAVITY * first * jnp.sin(leg) - 2 * SHIN_KG * reach * speed[4] * speed[3],
        GRAVITY * SHIN_KG * jnp.cos(leg) + SHIN_KG * reach * speed[3] ** 2,
    ])  # fmt: skip
    return jnp.concatenate([along, turned])


def _rubbed(body: Body, rows: Float[Array, "3 5"], free: Five, most: Three) -> Five:
    """Speeds after dry friction, which takes what would stop a row within the tick, up to its limit."""
    answers = jnp.stack([body.answer(rows[i]) for i in range(3)])
    stiff, wanted = rows @ answers.T, rows @ free
    used = [jnp.zeros(()) for _ in range(3)]
    for _ in range(SWEEPS):
        for i in range(3):
            left = wanted[i] + stiff[i] @ jnp.stack(used)
            used[i] = jnp.clip(used[i] - left / stiff[i, i], -most[i], most[i])
    return free + jnp.stack(used) @ answers


def inverse_of(matrix: Float[Array, "3 3"]) -> Float[Array, "3 3"]:
    """Written out: a library call per world and tick would cost more than all the rest."""
    (a, b, c), (_, d, e), (_, _, f) = matrix  # it is symmetric
    first, second, third = d * f - e * e, c * e - b * f, b * e - c * d
    whole = a * first + b * second + c * third
    last = b * c - a * e
    rows = [[first, second, third], [second, a * f - c * c, last], [third, last, a * d - b * b]]
    return jnp.array(rows) / whole
