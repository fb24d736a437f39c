"""A small machine with one command and two measurements, and logs of it with true clocks."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gapless.core import Channel, Interface, Log


@pytest.fixture(scope="session")
def machine() -> Interface:
    """A cart with a pole and a two-axis force sensor, commanded at 50 Hz."""
    force = Channel("cart.force", unit="N", low=-10.0, high=10.0)
    measured = (Channel("pole.angle", unit="rad"), Channel("cart.sensor", width=2, unit="N"))
    return Interface("cart", 0.02, (force,), measured, ("cart", "pole"))


@pytest.fixture(scope="session")
def make_log(machine: Interface) -> Callable[..., Log]:
    def make(rows: int = 20, samples: int | None = None, seed: int = 0, **source: object) -> Log:
        """A log with jittering clocks; `samples` of the sensor, one per command unless said otherwise."""
        noise = np.random.default_rng(seed)
        sent = np.arange(rows) * 0.02 + noise.uniform(0, 0.002, rows)
        count = rows if samples is None else samples
        taken = {
            "pole.angle": sent + 0.003,
            "cart.sensor": np.linspace(0, max(rows, 1) * 0.02, count) + noise.uniform(0, 1e-4),
        }
        measured = {"pole.angle": noise.normal(size=(rows, 1)), "cart.sensor": noise.normal(size=(count, 2))}
        return Log(machine, {"cart.force": noise.normal(size=(rows, 1))}, measured, sent, taken, dict(source))

    return make


@pytest.fixture(scope="session")
def same() -> Callable[[Log, Log], bool]:
    def equal(a: Log, b: Log) -> bool:
        """Whether two logs are the same in every bit."""
        pairs = [(a.command_time, b.command_time)]
        for name in ("commands", "measurements", "measurement_time"):
            mine, theirs = getattr(a, name), getattr(b, name)
            if mine.keys() != theirs.keys():
                return False
            pairs += [(mine[k], theirs[k]) for k in mine]
        bits = all(x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in pairs)
        return bits and a.interface == b.interface and a.source == b.source

    return equal


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The folder of real recordings."""
    folder = Path(os.environ.get("GAPLESS_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the real recordings are not here; name their folder in GAPLESS_DATA.")
    return folder


HEADER = """std_msgs/Header header
"""
TYPES = """
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
================================================================================
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
================================================================================
MSG: geometry_msgs/Wrench
geometry_msgs/Vector3 force
geometry_msgs/Vector3 torque
================================================================================
MSG: std_msgs/MultiArrayDimension
string label
uint32 size
uint32 stride
================================================================================
MSG: std_msgs/MultiArrayLayout
std_msgs/MultiArrayDimension[] dim
uint32 data_offset
================================================================================
MSG: trajectory_msgs/JointTrajectoryPoint
float64[] positions
float64[] velocities
float64[] accelerations
float64[] effort
builtin_interfaces/Duration time_from_start
================================================================================
MSG: control_msgs/InterfaceValue
string[] interface_names
float64[] values
"""
IMU = """geometry_msgs/Quaternion orientation
float64[9] orientation_covariance
geometry_msgs/Vector3 angular_velocity
float64[9] angular_velocity_covariance
geometry_msgs/Vector3 linear_acceleration
float64[9] linear_acceleration_covariance
"""
SCHEMAS = {
    "sensor_msgs/msg/JointState": HEADER + "string[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n",
    "sensor_msgs/msg/Imu": HEADER + IMU,
    "sensor_msgs/msg/Image": HEADER + "uint8[] data\n",
    "std_msgs/msg/Float64": "float64 data\n",
    "std_msgs/msg/Float64MultiArray": "std_msgs/MultiArrayLayout layout\nfloat64[] data\n",
    "geometry_msgs/msg/Twist": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular\n",
    "geometry_msgs/msg/WrenchStamped": HEADER + "geometry_msgs/Wrench wrench\n",
    "trajectory_msgs/msg/JointTrajectory": HEADER
    + "string[] joint_names\ntrajectory_msgs/JointTrajectoryPoint[] points\n",
    "control_msgs/msg/DynamicJointState": HEADER
    + "string[] joint_names\ncontrol_msgs/InterfaceValue[] interface_values\n",
}
"""ROS 2's message definitions, as a recorder writes them into the file."""


@pytest.fixture(scope="session")
def write_bag() -> Callable[..., None]:
    def write(path: Path, messages: list[tuple]) -> None:
        """An MCAP file of (topic, type, message, stamp or None, time of recording), times in nanoseconds."""
        from mcap_ros2.writer import Writer

        with path.open("wb") as file:
            writer, schemas = Writer(file, chunk_size=2000), {}
            for topic, kind, message, stamp, at in messages:
                if kind not in schemas:
                    schemas[kind] = writer.register_msgdef(kind, SCHEMAS[kind] + TYPES)
                seconds, rest = divmod(stamp or 0, 10**9)
                header = {"header": {"stamp": {"sec": seconds, "nanosec": rest}, "frame_id": ""}}
                writer.write_message(topic, schemas[kind], {**header, **message}, at, at)
            writer.finish()

    return write
