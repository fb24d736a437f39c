"""The equations of motion of a tree: inertia, what velocities and gravity ask for, dry friction, and one step of them."""

from typing import NamedTuple

import jax.numpy as jnp
import mujoco

from .dry_friction import DryFriction
from .fields import Fields
from .scalars import (
    IDENTITY,
    NOTHING,
    Matrix,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    minus,
    plus,
    product,
    rotation,
    scale,
    subtract,
    times,
    total,
    transposed,
    turn,
)
from .symmetric import Factors, Rows
from .tree import TreeBody, TreeJoint, damps_implicitly, tree_of

Joints = list[Scalar]


class Frame(NamedTuple):
    """Where a body is, how it turns, and how it accelerates while no joint does."""

    position: Vector
    rotation: Matrix
    turning: Vector
    turning_faster: Vector
    acceleration: Vector
    moved_by: tuple["Moving", ...]


class Moving(NamedTuple):
    """A joint in the world: it turns about its axis through its anchor, or slides along it."""

    index: int
    hinge: bool
    axis: Vector
    anchor: Vector

    def carries(self, point: Vector) -> Vector:
        """The velocity of a point at unit speed of the joint."""
        return cross(self.axis, subtract(point, self.anchor)) if self.hinge else self.axis


KUTTA = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
"""How much each of the four looks counts."""
WORLD = Frame(NOTHING, IDENTITY, NOTHING, NOTHING, NOTHING, ())


class Machine(NamedTuple):
    """What parameters make of a model: its numbers, and how its joints rub."""

    fields: Fields
    friction: DryFriction


class Motion(NamedTuple):
    """Joints, as columns over worlds."""

    position: Joints
    velocity: Joints

    def later(self, seconds: float, speed: Joints, gained: Joints) -> "Motion":
        """After so long at these velocities and accelerations."""
        return Motion(*(
            [plus(x, times(rate, seconds)) for x, rate in zip(side, rates, strict=True)]
            for side, rates in zip(self, (speed, gained), strict=True)
        ))  # fmt: skip


class Dynamics:
    """A model's equations, by MuJoCo's semi-implicit Euler or by its Runge-Kutta of fourth order."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model, self._bodies = model, tree_of(model)
        self._step_s, self.joints = float(model.opt.timestep), model.nv
        self._rest = [float(q) for q in model.qpos0]
        self._runge_kutta = model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
        self._implicit = damps_implicitly(model)

    def machine(self, fields: Fields) -> Machine:
        """What fields make of the model; how softly dry friction holds is set by the inertia in the model's own pose."""
        inertia, _ = self._equations(fields, Motion(list(self._rest), [0.0] * self.joints))
        return Machine(fields, DryFriction(self._model, fields, Factors(inertia).inverse(fields.dry)))

    def step(self, machine: Machine, now: Motion, control: list[Scalar], applied: Joints) -> Motion:
        """One time step later."""
        if self._runge_kutta:
            return self._by_runge_kutta(machine, now, control, applied)
        gained = self._gained(machine, now, control, applied)
        velocity = now.later(self._step_s, now.velocity, gained).velocity
        return now.later(self._step_s, velocity, gained)

    def _by_runge_kutta(self, machine: Machine, now: Motion, control: list[Scalar], applied: Joints) -> Motion:
        speeds, gains, there = [now.velocity], [self._gained(machine, now, control, applied)], now
        for share in (0.5, 0.5, 1.0):
            there = now.later(share * self._step_s, speeds[-1], gains[-1])
            speeds.append(there.velocity)
            gains.append(self._gained(machine, there, control, applied))
        means = [[total(map(times, KUTTA, column)) for column in zip(*rows, strict=True)] for rows in (speeds, gains)]
        return now.later(self._step_s, *means)

    def _gained(self, machine: Machine, now: Motion, control: list[Scalar], applied: Joints) -> Joints:
        """The accelerations of the joints."""
        fields = machine.fields
        inertia, bias = self._equations(fields, now)
        driven = self._driven(fields, now, control)
        force = [
            minus(plus(plus(driven[i], applied[i]), _passive(fields, i, now)), bias[i]) for i in range(self.joints)
        ]
        factors = Factors(inertia)
        rubbing = machine.friction.forces(factors, factors.solve(force), now.velocity)
        force = [plus(f, rubbing.get(i, 0.0)) for i, f in enumerate(force)]
        if self._implicit:
            for i in range(self.joints):
                inertia[i][i] = plus(inertia[i][i], times(fields.damping[i], self._step_s))
            factors = Factors(inertia)
        return factors.solve(force)

    def _driven(self, fields: Fields, now: Motion, control: list[Scalar]) -> Joints:
        """What the actuators exert on each joint."""
        m, found = self._model, [0.0] * self.joints
        for k in range(m.nu):
            i, gear = int(m.actuator_trnid[k, 0]), float(m.actuator_gear[k, 0])
            asked = jnp.clip(control[k], *m.actuator_ctrlrange[k]) if m.actuator_ctrllimited[k] else control[k]
            state = (1.0, times(gear, now.position[i]), times(gear, now.velocity[i]))
            gain, bias = (
                total(times(p, s) for p, s in zip(prm, state, strict=True)) for prm in (fields.gain[k], fields.bias[k])
            )
            force = plus(times(gain, asked), bias)
            force = jnp.clip(force, *m.actuator_forcerange[k]) if m.actuator_forcelimited[k] else force
            found[i] = plus(found[i], times(gear, force))
        return found

    def _equations(self, fields: Fields, now: Motion) -> tuple[Rows, Joints]:
        """The inertia of the joints, and the forces that keep them from accelerating."""
        inertia: Rows = [[0.0] * self.joints for _ in range(self.joints)]
        bias: Joints = [0.0] * self.joints
        frames = {0: WORLD}
        for body in self._bodies:
            frame = frames[body.index] = _carried(frames[body.parent], body, now)
            if frame.moved_by:
                self._weigh(fields, body, frame, inertia, bias)
        for i in range(self.joints):
            inertia[i][i] = plus(inertia[i][i], fields.armature[i])
            for j in range(i):
                inertia[j][i] = inertia[i][j]
        return inertia, bias

    def _weigh(self, fields: Fields, body: TreeBody, frame: Frame, inertia: Rows, bias: Joints) -> None:
        """Adds what one body does to the joints that move it: the lower triangle of the inertia, and the bias."""
        b, mass = body.index, fields.mass[body.index]
        arm = turn(frame.rotation, (fields.com[b][0], fields.com[b][1], fields.com[b][2]))
        centre = add(frame.position, arm)
        axes = product(frame.rotation, body.axes)
        moments = transposed(axes)
        around = product(axes, (scale(moments[0], fields.inertia[b][0]), scale(moments[1], fields.inertia[b][1]),
                                scale(moments[2], fields.inertia[b][2])))  # fmt: skip
        gravity = (fields.gravity[0], fields.gravity[1], fields.gravity[2])
        push = scale(subtract(_accelerated(frame, arm), gravity), mass)
        twist = add(turn(around, frame.turning_faster), cross(frame.turning, turn(around, frame.turning)))
        carried = [joint.carries(centre) for joint in frame.moved_by]
        for n, one in enumerate(frame.moved_by):
            asked = dot(carried[n], push)
            bias[one.index] = plus(bias[one.index], plus(asked, dot(one.axis, twist)) if one.hinge else asked)
            swung = turn(around, one.axis) if one.hinge else NOTHING
            for k, other in enumerate(frame.moved_by[: n + 1]):
                both = times(mass, dot(carried[n], carried[k]))
                both = plus(both, dot(other.axis, swung)) if other.hinge else both
                i, j = max(one.index, other.index), min(one.index, other.index)
                inertia[i][j] = plus(inertia[i][j], both)


def _passive(fields: Fields, i: int, now: Motion) -> Scalar:
    """What springs and dampers exert on a joint."""
    speed = now.velocity[i]
    spring = times(fields.stiffness[i], minus(now.position[i], fields.springref[i]))
    drag = times(fields.drag[i], times(speed, abs(speed)))
    return minus(0.0, plus(plus(times(fields.damping[i], speed), spring), drag))


def _carried(parent: Frame, body: TreeBody, now: Motion) -> Frame:
    """The frame of a body, after its joints."""
    arm = turn(parent.rotation, body.position)
    frame = parent._replace(
        position=add(parent.position, arm),
        rotation=product(parent.rotation, body.rotation),
        acceleration=_accelerated(parent, arm),
    )
    for joint in body.joints:
        frame = _moved(frame, joint, minus(now.position[joint.index], joint.rest), now.velocity[joint.index])
    return frame


def _moved(frame: Frame, joint: TreeJoint, by: Scalar, speed: Scalar) -> Frame:
    """A frame after one of its joints."""
    axis = turn(frame.rotation, joint.axis)
    swept = scale(cross(frame.turning, axis), speed)
    if not joint.hinge:
        slid = scale(axis, by)
        return frame._replace(
            position=add(frame.position, slid),
            acceleration=add(_accelerated(frame, slid), scale(swept, 2.0)),
            moved_by=(*frame.moved_by, Moving(joint.index, False, axis, NOTHING)),
        )
    arm = turn(frame.rotation, joint.anchor)
    anchor = add(frame.position, arm)
    turned = frame._replace(
        rotation=product(frame.rotation, rotation(joint.axis, by)),
        turning=add(frame.turning, scale(axis, speed)),
        turning_faster=add(frame.turning_faster, swept),
        acceleration=_accelerated(frame, arm),
        moved_by=(*frame.moved_by, Moving(joint.index, True, axis, anchor)),
    )
    back = scale(turn(turned.rotation, joint.anchor), -1.0)
    return turned._replace(position=add(anchor, back), acceleration=_accelerated(turned, back))


def _accelerated(frame: Frame, arm: Vector) -> Vector:
    """The acceleration of a point that the frame carries, so far from where its own is known."""
    return add(
        add(frame.acceleration, cross(frame.turning_faster, arm)), cross(frame.turning, cross(frame.turning, arm))
    )
