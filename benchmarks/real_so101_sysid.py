"""The SO-101 arm by `mujoco.sysid`: each servo's stiffness, damping, dry friction and rotor, and one latency."""

from pathlib import Path

import numpy as np
from jaxtyping import Float

from gapless.core import Log
from real_scores import whole_log
from real_sets import LATENCY, make_simulator, make_spec, parameters
from real_so101 import TO_RAD
from recordings import Columns, Machine
from recordings_servos import ARM_CHANNELS, ARM_JOINTS
from stretches import between, moving

CLOSED_RAD = -0.1745
"""Where the jaw is when its opened fraction is 0."""
STRETCH_S, STRETCHES = 1.2, 36
"""How long and how many are the stretches that it learns from: all of them would take it hours."""
STEP_S = 0.004


def _read(machine: Machine, columns: Columns) -> Log:
    position = columns["position"] * TO_RAD
    position[:, -1] += CLOSED_RAD
    return machine.log(columns["time"], columns["command"], columns["time"], position)


ARM = Machine("so101_arm", 0.02, ARM_JOINTS, ARM_JOINTS, _read, ARM_CHANNELS)
PARAMETERS = parameters(
    *((f"{j}.damping", 0.624, 0.0, 3.0) for j in ARM_JOINTS),
    *((f"{j}.friction", 0.052, 0.0, 0.6) for j in ARM_JOINTS),
    *((f"{j}.armature", 0.028, 0.002, 0.1) for j in ARM_JOINTS),
    *((f"{j}.gain", 7.81, 2.0, 40.0) for j in ARM_JOINTS[:-1]),  # the jaw's servo contains a map of its own
    LATENCY,
)


def sysid_errors(nominal: Path, train: Path, test: Path, names: list[str]) -> Float[np.ndarray, "log joint"]:
    """RMSE over the named motions of the test file, whole and open loop, in the logs' units."""
    from real_sysid import sysid_fit  # its own packages may be missing

    spec = make_spec(ARM, nominal, STEP_S)
    simulator = make_simulator(ARM, spec, PARAMETERS)
    params = sysid_fit(simulator, spec, _stretches(ARM.logs(train)))
    judged = {log.source["log"]: log for log in ARM.logs(test)}
    return np.array([whole_log(simulator, params, judged[name], False) / TO_RAD for name in names])


def _stretches(logs: list[Log]) -> list[Log]:
    """Beginnings of stretches that move, evenly chosen."""
    found = moving(logs, STRETCH_S)
    chosen = np.unique(np.linspace(0, len(found) - 1, STRETCHES).astype(int))
    starts = [next(iter(found[i].measurement_time.values()))[0] for i in chosen]
    return [between(found[i], begin, begin + STRETCH_S) for i, begin in zip(chosen, starts, strict=True)]
