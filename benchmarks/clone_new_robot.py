"""A cell of the clone benchmark: how many lessons a robot needs that nobody has met, from what all robots share and from nothing.

python benchmarks/clone_new_robot.py --folder FOLDER --shares 0.2 --out new_robot.json
python benchmarks/clone_new_robot.py --folder FOLDER --shares 0.2 --relative 3 --rates 2e-3 7e-4

The second asks a relative how fast to tune, so that the acrobot does not choose that.

The introduction to an ancestor is made of periods in MuJoCo as lessons are: it is counted as lessons, and
as many are left out. From nothing, the network is as large, the lessons are the same, and so is the recipe.
"""

import json
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import tyro

from gapless.core import Parameter, generator_for
from gapless.learn.clone_robot.cousins import Cousin
from gapless.learn.clone_robot.fit import Body, FitClone, Stage, stretch_loss
from gapless.learn.clone_robot.lessons import Lessons, Reach, Teach, lessons
from gapless.learn.clone_robot.questions import inherited, periods_asked
from gapless.learn.clone_robot.relatives import relative
from gapless.learn.clone_robot.tune import Tune, tune
from gapless.simulators import MujocoSimulator, propose_interface
from gapless.simulators.neural.ancestor import Ancestor, load_ancestor
from gapless.simulators.neural.clone import Clone, Trunk
from gapless.simulators.neural.skeleton import Skeleton

ACROBOT = """
<mujoco model="acrobot"><compiler angle="radian"/><option timestep="0.004"/>
  <worldbody>
    <body name="upper"><joint name="shoulder" type="hinge" axis="0 -1 0" damping="0.002"/>
      <inertial pos="0 0 -0.15" mass="0.3" diaginertia="0.00225 0.00225 0.0001"/>
      <body name="lower" pos="0 0 -0.3"><joint name="elbow" type="hinge" axis="0 -1 0" damping="0.01"/>
        <inertial pos="0 0 -0.15" mass="0.25" diaginertia="0.0019 0.0019 0.0001"/></body></body>
  </worldbody>
  <actuator><general name="motor" joint="elbow" gainprm="0.08" ctrlrange="-10 10" ctrllimited="true"/></actuator>
</mujoco>"""
"""Two links that hang from a nail, with a motor between them. Relatives built alike may have taught the ancestor, of
other sizes and weights; this one has not."""
PARAMETERS = (
    Parameter("upper.mass", "kg", 0.3, 0.15, 0.6, "inertia"),
    Parameter("lower.mass", "kg", 0.25, 0.12, 0.5, "inertia"),
    Parameter("elbow.damping", "N m s/rad", 0.01, 0.0, 0.03, "friction"),
    Parameter("motor.gain", "N m/V", 0.08, 0.04, 0.12, "actuation"),
    Parameter("command.latency", "s", 0.0, 0.0, 0.06, "latency"),
)
REACH = {"shoulder": Reach(-np.pi, np.pi, 12.0), "elbow": Reach(-np.pi, np.pi, 18.0)}
LENGTH = 12
STRETCHES = 2000
"""From nothing; each is 0.24 s long."""
SHARES = (0.05, 0.1, 0.2, 0.4, 1.0)
LOOKED_AT = 1000
STAGES = (Stage(1, 1500, 256), Stage(4, 1000, 128), Stage(10, 500, 64))
RATE, INHERITED_RATE = 2e-3, 1e-3
"""Of whoever begins from nothing, and of whoever inherits."""


def new_robot(setting: dict[str, Any]) -> dict[str, Any]:
    """Errors with fewer and fewer lessons, and the share at which what is inherited makes up for the rest."""
    newcomer = Newcomer(acrobot(), setting["seed"], load_ancestor(Path(setting["weights"])), setting["quick"])
    return row(newcomer, (0.1, 1.0) if setting["quick"] else SHARES, INHERITED_RATE) | {"seed": setting["seed"]}


def row(newcomer: "Newcomer", shares: tuple[float, ...], rate: float) -> dict[str, Any]:
    scratch = newcomer.error(1.0, RATE, inherits=False)
    found = [newcomer.error(share, rate, inherits=True) for share in shares]
    return {
        "ratio": crossing(shares, found, scratch), "from nothing": scratch,
        **{f"with {share:g}": e for share, e in zip(shares, found, strict=True)},
    }  # fmt: skip


def acrobot() -> Cousin:
    model = mujoco.MjModel.from_xml_string(ACROBOT)
    return Cousin(MujocoSimulator(model, propose_interface(model, "acrobot"), PARAMETERS), REACH)


class Newcomer:
    """A robot, its lessons, and others to look at it with."""

    def __init__(self, made: Cousin, seed: int, ancestor: Ancestor, quick: bool) -> None:
        self.robot, model = made.physics, made.physics.model
        self.skeleton = Skeleton(model, self.robot.interface.period_s)
        self.key, self.ancestor, self.stages = jax.random.key(seed), ancestor, STAGES
        if quick:
            self.stages = (Stage(1, 200, 128),)
        drawn = partial(lessons, self.robot, made.reach, ())
        self.every = drawn(Teach(STRETCHES, LENGTH, 500), generator_for(seed, "new robot"))
        truth = jax.tree.map(jnp.asarray, drawn(Teach(LOOKED_AT, LENGTH, 500), generator_for(seed, "looked at")))
        self.looked = jax.jit(lambda clone: stretch_loss(clone, self.skeleton, truth))

    def error(self, share: float, rate: float, inherits: bool) -> float:
        """After learning from a share of the lessons."""
        body, begin = self.begun(share, inherits)
        recipe = Tune(FitClone(self.stages, rate=rate, chunk=50))
        return float(self.looked(tune(body, begin, recipe, self.key).clone))

    def begun(self, share: float, inherits: bool) -> tuple[Body, Clone | Trunk]:
        """The lessons that are left, and what the fit begins with."""
        asked = -(-periods_asked(self.robot) // LENGTH) if inherits else 0
        body = Body(self.skeleton, Lessons(*(x[: round(share * STRETCHES) - asked] for x in self.every)))
        trunk = self.ancestor.trunk
        if not inherits:
            return body, Trunk(self.key, trunk.width, len(trunk.layers), trunk.mind.weight.shape[0])
        return body, inherited(self.ancestor, self.robot, body, self.key)


def crossing(shares: tuple[float, ...], errors: list[float], target: float) -> float:
    """The smallest share whose error is at most the target, between two shares by their logarithms."""
    good = [k for k, e in enumerate(errors) if e <= target]
    if not good:
        return float("inf")
    k = good[0]
    if k == 0:
        return shares[0]
    logs, (before, after) = np.log(shares), np.log(errors[k - 1 : k + 1])
    return float(np.exp(logs[k - 1] + (before - np.log(target)) / (before - after) * (logs[k] - logs[k - 1])))


@dataclass(frozen=True)
class NewRobot:
    """A robot that nobody has met."""

    folder: Path
    """Where the ancestor is."""
    seeds: int = 1
    shares: tuple[float, ...] = SHARES
    """Of the lessons that one from nothing gets."""
    rates: tuple[float, ...] = (INHERITED_RATE,)
    """Learning rates of whoever inherits."""
    relative: int | None = None
    """A relative of this number in place of the acrobot; below 16, the ancestor has not met it."""
    out: Path | None = None
    """Written after each fit."""


def main() -> None:
    options = tyro.cli(NewRobot, description=__doc__)
    ancestor, rows, began = load_ancestor(options.folder), list[dict[str, Any]](), time.perf_counter()

    def say(told: dict[str, Any]) -> None:
        rows.append(told | {"seconds": time.perf_counter() - began})
        print(rows[-1], flush=True)
        if options.out:
            options.out.write_text(json.dumps(rows, indent=1))

    for seed in range(options.seeds):
        made = acrobot() if options.relative is None else relative(generator_for(options.relative, "relative"))
        newcomer = Newcomer(made, seed, ancestor, quick=False)
        say({"seed": seed, "before any lesson": float(newcomer.looked(newcomer.begun(options.shares[0], True)[1]))})
        for share in options.shares:
            for rate in options.rates:
                say({"seed": seed, "share": share, "rate": rate, "error": newcomer.error(share, rate, inherits=True)})
        say({"seed": seed, "from nothing": newcomer.error(1.0, RATE, inherits=False)})
        say({"seed": seed, "share": 0.2, "from nothing": newcomer.error(0.2, RATE, inherits=False)})


if __name__ == "__main__":
    main()
