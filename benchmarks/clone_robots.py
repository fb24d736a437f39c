"""The robots that the clone benchmark knows: their MuJoCo models, where they may be, and their tasks."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from gapless import robots
from gapless.core import Task
from gapless.learn.clone_robot.lessons import Begin, Reach
from gapless.simulators import MujocoSimulator, load_model, propose_interface, read_parameters
from gapless.simulators.neural.skeleton import Skeleton
from gapless.tasks import Hop, HopBack, RotarySwingUp, Slide, SwingUp

MODELS = Path(robots.__file__).parent / "models"
TURN = np.pi


@dataclass(frozen=True)
class Known:
    """A robot of the benchmark."""

    name: str
    reach: dict[str, Reach]
    tasks: tuple[Task, ...]

    @property
    def begins(self) -> tuple[Begin, ...]:
        return tuple(t.explore for t in self.tasks)


ROBOTS = {
    r.name: r
    for r in (
        Known("cartpole", {"slider": Reach(-0.5, 0.5, 3.0), "hinge": Reach(-TURN, TURN, 18.0)}, (SwingUp(),)),
        Known("furuta", {"arm": Reach(-2.2, 2.2, 18.0), "pendulum": Reach(-TURN, TURN, 25.0)}, (RotarySwingUp(),)),
        Known(
            "puck",
            {
                "shoulder": Reach(-1.4, 1.4, 12.0), "elbow": Reach(-1.4, 1.4, 18.0), "puck_x": Reach(-0.2, 0.8, 1.5),
                "puck_y": Reach(-0.4, 0.4, 1.0), "puck_z": Reach(-0.0006, 0.001, 0.02),
            },
            (Slide(),),
        ),
        Known(
            "hopper",
            {
                "root_x": Reach(-1.0, 1.0, 2.0), "root_z": Reach(-0.2, 0.5, 2.5), "pitch": Reach(-0.8, 0.8, 5.0),
                "hip": Reach(-1.1, 1.1, 10.0), "leg": Reach(-0.12, 0.1, 4.0),
            },
            (Hop(), HopBack()),
        ),
    )
}  # fmt: skip

UNTAUGHT = {"hopper": ("hip.friction", "leg.friction", "floor.softness")}
"""Parameters that clones take as the data sheet has them."""


@cache
def physics(name: str) -> MujocoSimulator:
    """C MuJoCo's version of a robot."""
    model, listed = load_model(MODELS / f"{name}.xml"), read_parameters(MODELS / f"{name}.toml")
    taught = tuple(replace(p, free=p.free and p.name not in UNTAUGHT.get(name, ())) for p in listed)
    return MujocoSimulator(model, propose_interface(model, name), taught)


@cache
def skeleton(name: str) -> Skeleton:
    found = physics(name)
    return Skeleton(found.model, found.interface.period_s)
