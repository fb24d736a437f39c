"""A residual made for a machine and its data: which joints it acts on, what it sees, how large it may get, where it fades."""

from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import mujoco
import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError
from gapless.simulators import MujocoSimulator
from gapless.simulators.model import object_name
from gapless.simulators.parts import Correction, Residual, Sight, silent_correction
from gapless.simulators.servos import driven_joint

from .knots import Linear
from .windows import Windows, read_joints

CENTRES = 96
LEAST_REACH = 1.0
"""Deviations within which nothing fades, however dense the data."""
LARGE, ROOM = 0.9, 1.5
"""The bound is ROOM times this quantile of what the windows ask for: rare peaks are no reason for large forces elsewhere."""
HEARD_S = 2.0
"""How long before a window it is heard what was sent and how joints moved: for what winds up, and what lasts."""
SMOOTHINGS = 8
ROUNDING = 1e-12
"""Share of what logs say below which nothing is believed: without any noise they would say all of it exactly, to rounding."""


Ways = dict[str, tuple[float, float]]
"""How far each joint went, and how fast, typically."""


@dataclass(frozen=True)
class Form:
    """What corrections are made like."""

    kind: str
    """Forces, changes of commands ("action") or of velocities ("state")."""
    history: int
    recall: int
    members: int


def silent_residual(simulator: MujocoSimulator, form: Form, ways: Ways) -> Residual:
    """A correction for every joint that a command drives, and for forces also for those that only sensors read.

    Each sees its joint, and the commands that drive it.
    """
    driven = _driven(simulator)
    if not driven:
        raise GaplessError("no command drives a joint of the model, so that a residual has nowhere to act.")
    passive = {j: [] for j in read_joints(simulator) if j not in driven} if form.kind == "force" else {}
    made = []
    for joint, commands in (driven | passive).items():
        span, speed = ways.get(joint, (1.0, 1.0))
        seen = _turns(simulator, joint), form.history, form.recall, jnp.asarray(span), jnp.asarray(speed)
        sight = Sight(joint, tuple(commands), *seen)
        names = {"force": [f"{joint}.force"], "state": [f"{joint}.velocity.change"]}
        for name in names.get(form.kind, [f"{c}.change" for c in commands]):
            made.append(silent_correction(name, sight, form.members))
    return Residual(tuple(made), round(HEARD_S / simulator.interface.period_s))


def travels(simulator: MujocoSimulator, windows: Windows) -> Ways:
    """How far each joint that is read went, and how fast, typically, where the windows begin."""
    joints, found = read_joints(simulator), {}
    for k, joint in enumerate(joints):
        places, speeds = windows.start[:, k], windows.start[:, len(joints) + k]
        found[joint] = max(float(np.ptp(places)), 1e-6), max(float(speeds.std()), 1e-3)
    return found


def driven_only(residual: Residual) -> Residual:
    """Without the corrections of joints that no command drives."""
    return Residual(tuple(c for c in residual.corrections if c.sight.commands), residual.heard)


def natural_sizes(simulator: MujocoSimulator, residual: Residual, windows: Windows) -> dict[str, float]:
    """What would be a large value of each correction: a force that sets the joint moving within a tenth of a second."""
    ways, sizes = travels(simulator, windows), {}
    for c in residual.corrections:
        thing, _, what = c.name.rpartition(".")
        speed = ways.get(thing.removesuffix(".velocity"), (1.0, 1.0))[1]
        if what == "force":
            joint = simulator.model.joint(thing)
            sizes[c.name] = float(simulator.model.dof_M0[joint.dofadr[0]]) * speed / 0.1
        elif thing in simulator.interface.command_names:
            channel = simulator.interface.channel(thing)
            sizes[c.name] = (channel.high - channel.low) / 4 if np.isfinite(channel.high - channel.low) else 1.0
        else:
            sizes[c.name] = 0.1 * speed
    return sizes


def smoothed(linear: Linear, sizes: dict[str, float]) -> dict[str, Float[np.ndarray, "window period"]]:
    """The smallest additions that explain each window within the noise, their size found on the way."""
    names = list(linear.answer)
    answer = np.concatenate([linear.answer[n] for n in names], axis=-1)
    periods = linear.answer[names[0]].shape[-1]
    variance = np.repeat([0.01 * sizes[n] ** 2 for n in names], periods)
    target = linear.misfit - np.einsum("wqp,wp->wq", answer, np.concatenate([linear.said[n] for n in names], axis=-1))
    gram, pull = np.swapaxes(answer, 1, 2) @ answer, -np.einsum("wqp,wq->wp", answer, target)
    least, one = ROUNDING * np.einsum("wpp->w", gram)[:, None], np.eye(gram.shape[-1])
    for _ in range(SMOOTHINGS):
        covariance = np.linalg.inv(gram + np.maximum(1 / variance, least)[..., None] * one)
        found = np.einsum("wpr,wr->wp", covariance, pull)
        second = (found**2 + np.einsum("wpp->wp", covariance)).reshape(len(found), len(names), periods)
        # The median window sets the size: one that ran away would have it all.
        variance = np.repeat(np.median(second.mean(axis=-1), axis=0), periods)
    return {n: found[:, k * periods : (k + 1) * periods] for k, n in enumerate(names)}


def outfitted(correction: Correction, saw: Float[np.ndarray, "window period number"], asked: np.ndarray) -> Correction:
    """The correction with normalisation, bound and reach from what it saw and what the windows ask of it."""
    raw = saw.reshape(-1, saw.shape[-1]).astype(np.float64)
    shift, scale = raw.mean(axis=0), 1 / np.maximum(raw.std(axis=0), 1e-6)
    now = ((raw - shift) * scale)[:, : correction.sight.present]
    chosen = _spread_out(now, CENTRES)
    apart = np.sqrt(((now[:, None] - now[chosen][None]) ** 2).sum(-1).min(axis=1))
    reach = max(1.5 * float(np.quantile(apart, 0.99)), LEAST_REACH)
    bound = ROOM * max(float(np.quantile(np.abs(asked), LARGE)), 1e-12)
    values = shift, scale, bound, now[chosen], reach
    return eqx.tree_at(
        lambda c: (c.shift, c.scale, c.bound, c.centres, c.reach),
        correction,
        tuple(jnp.asarray(v, jnp.float32) for v in values),
    )


def _spread_out(rows: Float[np.ndarray, "row column"], count: int) -> np.ndarray:
    """Rows far from each other: each next one is the farthest from those chosen before."""
    chosen, apart = [0], ((rows - rows[0]) ** 2).sum(axis=1)
    while len(chosen) < min(count, len(rows)):
        chosen.append(int(apart.argmax()))
        apart = np.minimum(apart, ((rows - rows[chosen[-1]]) ** 2).sum(axis=1))
    return np.array(chosen)


def _driven(simulator: MujocoSimulator) -> dict[str, list[str]]:
    """Joints that commands act on → those commands."""
    model, found = simulator.model, {}
    for command in simulator.interface.commands:
        number = driven_joint(model, model.actuator(command.name).id)
        if number >= 0 and command.width == 1:
            found.setdefault(object_name(model, mujoco.mjtObj.mjOBJ_JOINT, number), []).append(command.name)
    return {joint: commands for joint, commands in found.items() if joint in simulator.joints}


def _turns(simulator: MujocoSimulator, joint: str) -> bool:
    found = simulator.model.joint(joint)
    hinge = mujoco.mjtJoint(int(found.type[0])) == mujoco.mjtJoint.mjJNT_HINGE
    return bool(hinge and not simulator.model.jnt_limited[found.id])
