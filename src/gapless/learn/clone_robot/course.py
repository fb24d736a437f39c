"""The whole course of one robot: scout where it may come, draw lessons there, and tune each member on its trunk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gapless.core import GaplessError, generator_for, key_for
from gapless.simulators.mujoco_cpu import MujocoSimulator
from gapless.simulators.neural.ancestor import Ancestor
from gapless.simulators.neural.clone import Clone, Trunk
from gapless.simulators.neural.skeleton import Skeleton

from .fit import Body, foretold
from .lessons import Begin, Teach, lessons
from .questions import inherited
from .scout import scouted
from .tune import Tune, tune

AHEAD = Teach(stretches=300, length=25, worlds=300)
"""Lessons that a clone is looked at with, half a second long where a period is 20 ms."""


@dataclass(frozen=True)
class RobotCourse:
    """How a robot is cloned."""

    members: int = 2
    """Independent clones: each its own first limb, lessons and order."""
    teach: Teach = field(default_factory=lambda: Teach(stretches=6000, length=12))
    """The lessons of each."""
    tune: Tune = field(default_factory=Tune)
    """How each is fitted."""

    def __post_init__(self) -> None:
        if self.members < 1:
            raise GaplessError(f"a course needs a member (found {self.members}).")


class Joined(NamedTuple):
    """A member, and its errors."""

    clone: Clone
    aside: float
    """Its loss on lessons that it was not fitted to."""
    ahead: dict[str, float]
    """Median error of each joint after the longest look ahead, in rad or m."""


def join(
    physics: MujocoSimulator, begins: tuple[Begin, ...], course: RobotCourse, firsts: Sequence[Trunk | Ancestor], seed: int,
    tell: Callable[[str], None] = lambda what: None,
) -> list[Joined]:  # fmt: skip
    """All members: on trunks that other robots have taught, from ancestors, or from nothing."""
    tell("scouting where it may come")
    reach = scouted(physics, begins, generator_for(seed, "scout", physics.interface.robot))
    skeleton, found = Skeleton(physics.model, physics.interface.period_s), []
    truth = lessons(physics, reach, begins, AHEAD, generator_for(seed, "ahead"))
    for member in range(course.members):
        tell(f"member {member + 1} of {course.members}: {course.teach.stretches} stretches in MuJoCo")
        taught = lessons(physics, reach, begins, course.teach, generator_for(seed, "lessons", member))
        tell(f"member {member + 1} of {course.members}: fitting, {sum(s.steps for s in course.tune.fit.stages)} steps")
        first, body, key = (
            firsts[member % len(firsts)] if firsts else None,
            Body(skeleton, taught),
            key_for(seed, "clone", member),
        )
        begin = inherited(first, physics, body, key) if isinstance(first, Ancestor) else first
        made = tune(body, begin, course.tune, key)
        off = np.abs(np.asarray(foretold(made.clone, skeleton, truth)[0]) - truth.position)
        last = np.median(off[truth.counts[:, -1] > 0, -1], 0)
        found.append(Joined(made.clone, made.aside, dict(zip(physics.joints, last.tolist(), strict=True))))
    return found
