"""Lift the arm to 1 rad and hold it there."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import Channel, Feature, Log, Observation, Signals, Task, Verdict

TARGET_RAD, TOLERANCE_RAD = 1.0, 0.15


class Lift(Task):
    """Reward: how near the arm is to the target, less for uneven thrust."""

    name = "lift"
    seconds = 4.0
    commands = (Channel("fan", unit="N"),)
    measurements = (Channel("arm.angle", unit="rad"),)
    observe = Observation((Feature("arm.angle"), Feature("arm.angle", "rate")), frames=2, commands=3)

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        return {"hinge.position": 0.05 * jax.random.normal(key, (n, 1))}

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        keys = jax.random.split(key)
        position = jax.random.uniform(keys[0], (n, 1), minval=-0.5, maxval=1.5)
        return {"hinge.position": position, "hinge.velocity": jax.random.normal(keys[1], (n, 1))}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        off = (after["arm.angle"] - TARGET_RAD)[..., 0]
        moved = (after["arm.angle"] - before["arm.angle"])[..., 0]
        return jnp.exp(-((off / 0.4) ** 2)) - 5.0 * moved**2

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        return jnp.abs(measurement["arm.angle"][..., 0]) > 2.4

    def judge(self, log: Log) -> Verdict:
        if log.source.get("stopped") or log.seconds < self.seconds - 2 * log.interface.period_s:
            return Verdict(False, -1.0, f"it ended after {log.seconds:.1f} s: {log.source.get('stopped')}")
        last = log.measurements["arm.angle"][log.measurement_time["arm.angle"] > log.seconds - 1.0, 0]
        off = float(np.abs(last - TARGET_RAD).max())
        return Verdict(off < TOLERANCE_RAD, 1 - off / TOLERANCE_RAD, f"{off:.2f} rad off in the last second")
