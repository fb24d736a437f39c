"""How a robot introduces itself: what a period does to it from a few places, at a few speeds and commands, the same for all.

Everything is in the robot's own typical speeds and changes, so that robots of other sizes that move alike answer alike.
"""

import mujoco
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from gapless.core import generator_for
from gapless.simulators.mujoco_cpu import MujocoSimulator
from gapless.simulators.neural.ancestor import ANSWERS, QUESTIONS, SLOTS, Ancestor, Introduced, columns
from gapless.simulators.neural.clone import Clone, Limb
from gapless.simulators.neural.skeleton import Skeleton

from .fit import Body, new_limb
from .lessons import begun, record

ASIDE = 0.6
"""Share of half a parameter's range by which it is moved to see what it changes."""
FAST = 1.2
"""Largest speed that is asked about, in deviations."""


def inherited(ancestor: Ancestor, physics: MujocoSimulator, body: Body, key: PRNGKeyArray) -> Clone:
    """The clone that a robot begins with; its lessons are asked for scales only."""
    limb = new_limb(ancestor.trunk, body, key)
    return ancestor.bequeath(limb, introduced(physics, limb))


def introduced(physics: MujocoSimulator, limb: Limb) -> Introduced:
    """The robot's answers, in the scales of a limb: `periods_asked` periods of MuJoCo."""
    skeleton = Skeleton(physics.model, physics.interface.period_s)
    moved = [p for p in physics.physical if p.free]
    shares = np.concatenate([np.zeros((1, len(moved))), ASIDE * np.eye(len(moved)), -ASIDE * np.eye(len(moved))])
    rows = columns(skeleton, physics.model)
    answers = _answers(physics, limb, shares, rows)
    ups, downs = np.split(answers[1:], 2)
    return Introduced(rows, answers[0], (ups - downs) / (2 * ASIDE))


def periods_asked(physics: MujocoSimulator) -> int:
    """How many periods of MuJoCo an introduction takes."""
    return QUESTIONS * (1 + 2 * sum(p.free for p in physics.physical))


def _answers(
    physics: MujocoSimulator, limb: Limb, shares: Float[np.ndarray, "row param"], rows: np.ndarray
) -> Float[np.ndarray, "row answer"]:
    """What is answered with each row of parameters."""
    count, joints = len(shares), len(physics.joints)
    simulator = physics.with_worlds(count * QUESTIONS)
    moved = [p for p in physics.physical if p.free]
    each = np.repeat(shares, QUESTIONS, 0)
    params = {p.name: p.low + (each[:, k] + 1) / 2 * (p.high - p.low) for k, p in enumerate(moved)}
    asked = generator_for(0, "questions").uniform(-1, 1, (QUESTIONS, 3, SLOTS))
    speed = _speeds(limb, rows)
    place, fast, sent = (np.tile(asked[:, k], (count, 1)) for k in range(3))
    slid = physics.model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE
    start = {}
    for k, name in enumerate(physics.joints):
        start[f"{name}.position"] = (0.3 if slid[k] else np.pi) * place[:, k : k + 1]
        start[f"{name}.velocity"] = FAST * speed[k] * fast[:, k : k + 1]
    middle, half = (np.array([(c.high + s * c.low) / 2 for c in physics.interface.commands]) for s in (1, -1))
    slots = physics.model.actuator_trnid[:, 0].astype(int)
    found = record(
        simulator,
        begun(simulator, simulator.init(), params, start),
        params,
        lambda _: middle + half * sent[:, slots],
        1,
    )
    first, last = found.velocity[:, 0], found.velocity[:, 1]
    change = (last - first) / np.asarray(limb.change)
    curve = (found.position[:, 1] - found.position[:, 0]) / physics.interface.period_s - (last + first) / 2
    told = np.zeros((2, count, QUESTIONS, SLOTS))
    told[0, ..., :joints] = change.reshape(count, QUESTIONS, joints)
    told[1, ..., :joints] = (curve / np.asarray(limb.curve)).reshape(count, QUESTIONS, joints)
    lasting = np.broadcast_to(_lasting(physics, limb, speed), (count, 5 * SLOTS))
    answers = np.concatenate([np.arcsinh(np.moveaxis(told, 0, 1)).reshape(count, -1), lasting], 1)
    assert answers.shape[1] == ANSWERS
    return answers.astype(np.float32)


def _speeds(limb: Limb, rows: np.ndarray) -> Float[np.ndarray, " joint"]:
    """Deviation of each joint's speed."""
    return 1 / np.asarray(limb.scale)[(rows >= 3 * SLOTS) & (rows < 4 * SLOTS)]


def _lasting(physics: MujocoSimulator, limb: Limb, speed: np.ndarray) -> Float[np.ndarray, " answer"]:
    """What parameters do not change: which slots there are, which turn, which are driven, and the sizes of motions."""
    joints, found = len(physics.joints), np.zeros((5, SLOTS))
    found[0, :joints] = 1
    found[1, :joints] = physics.model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE
    found[2, physics.model.actuator_trnid[:, 0].astype(int)] = 1
    found[3, :joints] = np.log(speed * physics.interface.period_s)
    found[4, :joints] = np.log(np.asarray(limb.change) / speed)
    return found.ravel()
