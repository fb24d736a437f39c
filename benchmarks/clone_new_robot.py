"""A cell of the clone benchmark: how many lessons a robot needs that the shared trunk has never met, with it and without."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from gapless.core import Parameter, generator_for
from gapless.learn.clone_robot.fit import Body, FitClone, Stage, stretch_loss
from gapless.learn.clone_robot.lessons import Lessons, Reach, Teach, lessons
from gapless.learn.clone_robot.tune import Tune, tune
from gapless.simulators import MujocoSimulator, propose_interface
from gapless.simulators.neural.clone import Trunk
from gapless.simulators.neural.skeleton import Skeleton
from gapless.simulators.neural.stored import load_family

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
"""Two links that hang from a nail, with a motor between them: no robot of the pretraining is driven there."""
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
RECIPE = Tune(FitClone((Stage(1, 1500, 256), Stage(4, 1000, 128), Stage(10, 500, 64)), chunk=50))
QUICK = Tune(FitClone((Stage(1, 200, 128),), chunk=50))


def new_robot(setting: dict[str, Any]) -> dict[str, Any]:
    """Errors with fewer and fewer lessons, and the share at which the trunk makes up for the rest."""
    seed, recipe = setting["seed"], QUICK if setting["quick"] else RECIPE
    model = mujoco.MjModel.from_xml_string(ACROBOT)
    robot = MujocoSimulator(model, propose_interface(model, "acrobot"), PARAMETERS)
    skeleton = Skeleton(model, robot.interface.period_s)
    every = lessons(robot, REACH, (), Teach(STRETCHES, LENGTH, 500), generator_for(seed, "new robot"))
    truth = jax.tree.map(
        jnp.asarray, lessons(robot, REACH, (), Teach(LOOKED_AT, LENGTH, 500), generator_for(seed, "looked at"))
    )
    looked = jax.jit(lambda clone: stretch_loss(clone, skeleton, truth))
    trunks = [next(iter(member.values())).trunk for member in load_family(Path(setting["weights"]))]

    def error(share: float, trunk: Trunk | None) -> float:
        body = Body(skeleton, Lessons(*(x[: round(share * STRETCHES)] for x in every)))
        return float(looked(tune(body, trunk, recipe, jax.random.key(seed)).clone))

    scratch = error(1.0, None)
    shares = (0.1, 1.0) if setting["quick"] else SHARES
    found = [error(share, trunks[seed % len(trunks)]) for share in shares]
    return {
        "seed": seed, "ratio": crossing(shares, found, scratch), "from nothing": scratch,
        **{f"with {share:g}": e for share, e in zip(shares, found, strict=True)},
    }  # fmt: skip


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
