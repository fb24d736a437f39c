"""Position servos as other tools see them: stiffness and damping of a joint."""

import mujoco
import numpy as np


def servo_gains(model: mujoco.MjModel, actuator: int) -> tuple[float, float] | None:
    """Stiffness and damping of a position servo; None for any other actuator."""
    gain, bias = float(model.actuator_gainprm[actuator, 0]), model.actuator_biasprm[actuator]
    if not gain or not np.isclose(bias[1], -gain):
        return None
    return gain, -float(bias[2])


def driven_joint(model: mujoco.MjModel, actuator: int) -> int:
    """The joint that an actuator turns; −1 where it acts on something else."""
    on_joint = model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_JOINT
    return int(model.actuator_trnid[actuator, 0]) if on_joint else -1
