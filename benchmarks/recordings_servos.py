"""Recordings of real servos: the SO-101 arm, the XL330 on its bench, and the joints of an H1-2, each with its traps undone."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from recordings import recordings

JAW_RAD = 2.336
"""Servo travel of the gripper, of which the logs give the opened fraction."""
ARM_JOINTS = ("Rotation", "Pitch", "Elbow", "Wrist_Pitch", "Wrist_Roll", "Jaw")
ENCODER_STEP_RAD = 0.00153
ARM_CHANNELS = ("time", "command", "position")
BENCH_CHANNELS = ("goal_position", "torque_enable", "position", "speed", "meta_kp", "meta_mass", "meta_length")
JOINT_CHANNELS = ("command", "position", "velocity", "torque")


@dataclass(frozen=True)
class ArmLog:
    """One motion of the arm, all six joints in the logs' own units (Jaw: opened fraction)."""

    name: str
    command: Float[np.ndarray, "time joint"]
    position: Float[np.ndarray, "time joint"]
    period_s: float


@dataclass(frozen=True)
class BenchLog:
    """One motion of the servo with its pendulum, at 200 Hz."""

    name: str
    goal: Float[np.ndarray, " time"]
    enabled: Float[np.ndarray, " time"]
    position: Float[np.ndarray, " time"]
    speed: Float[np.ndarray, " time"]
    kp: float
    mass_kg: float
    length_m: float


@dataclass(frozen=True)
class JointWindows:
    """Windows of one joint of the humanoid; torques in N m."""

    name: str
    command: Float[np.ndarray, "window time"]
    position: Float[np.ndarray, "window time"]
    velocity: Float[np.ndarray, "window time"]
    torque: Float[np.ndarray, "window time"]


def arm_logs(path: Path) -> list[ArmLog]:
    """Motions of an so101_arm file; the two runs of dev keep their own calibration and are told apart by name."""
    found = []
    for name, c in recordings(path, ARM_CHANNELS).items():
        found.append(ArmLog(name, c["command"], c["position"], float(np.median(np.diff(c["time"])))))
    return found


def bench_logs(path: Path) -> list[BenchLog]:
    """Logs of a servo_xl330 file with a uniform clock (train.npz, not train_raw)."""
    return [
        BenchLog(
            name,
            c["goal_position"],
            (c["torque_enable"] > 0.5).astype(float),
            c["position"],
            c["speed"],
            float(c["meta_kp"]),
            float(c["meta_mass"]),
            float(c["meta_length"]),
        )
        for name, c in recordings(path, BENCH_CHANNELS).items()
    ]


def joint_windows(path: Path) -> list[JointWindows]:
    """Files of an h1_motor archive."""
    return [
        JointWindows(name, *(c[channel] for channel in JOINT_CHANNELS))
        for name, c in recordings(path, JOINT_CHANNELS).items()
    ]
