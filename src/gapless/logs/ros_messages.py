"""A decoded ROS 2 message as named numbers: fields by their path, joints by their name."""

from collections.abc import Iterator, Sequence
from typing import Any

from gapless.core import GaplessError

Numbers = dict[str, tuple[float, ...]]
"""Field → its numbers; `position[hip]` where the message itself names joints."""

HEAVY = {"Image", "CompressedImage", "CompressedVideo", "PointCloud", "PointCloud2", "OccupancyGrid", "TFMessage"}
HEAVY |= {"Marker", "MarkerArray", "Log", "String", "ParameterEvent"}
"""Messages that hold no channel of a robot, by the last word of their type."""


def is_light(schema: str) -> bool:
    """Whether messages of this type may hold channels."""
    return schema.rpartition("/")[2] not in HEAVY


def numbers(message: Any) -> Numbers:
    """All numbers of a message: JointState, JointTrajectory and control messages by joint, others by field."""
    return dict(_numbers(message, "", ()))


def stamp_ns(message: Any) -> int | None:
    """The header's time in nanoseconds, if there is a header whose time was set."""
    stamp = _fields(_fields(message).get("header")).get("stamp")
    parts = _fields(stamp)
    seconds, rest = parts.get("sec", 0), parts.get("nanosec", parts.get("nsec", 0))
    return (int(seconds) * 10**9 + int(rest)) or None


def _fields(message: Any) -> dict[str, Any]:
    """Field → value, of a message decoded from CDR or from JSON; nothing of anything else."""
    if isinstance(message, dict):
        return message
    names = getattr(type(message), "__slots__", ())
    return {name: getattr(message, name) for name in names} if isinstance(names, list) else {}


def _numbers(message: Any, path: str, joints: Sequence[str]) -> Iterator[tuple[str, tuple[float, ...]]]:
    fields = _fields(message)
    joints = _joints(fields) or joints
    for name, value in fields.items():
        where = f"{path}.{name}" if path else name
        if name == "header":
            continue
        if isinstance(value, bool | int | float):
            yield where, (float(value),)
        elif name == "points":
            yield from _numbers(_only_point(value), path, joints)
        elif _fields(value):
            yield from _numbers(value, where, joints)
        elif isinstance(value, list | tuple) or hasattr(value, "typecode"):
            yield from _listed(list(value), where, path, joints)


def _joints(fields: dict[str, Any]) -> Sequence[str]:
    for name in ("name", "joint_names"):
        listed = fields.get(name)
        if isinstance(listed, list) and listed and all(isinstance(joint, str) for joint in listed):
            return listed
    return ()


def _listed(values: list[Any], where: str, path: str, joints: Sequence[str]) -> Iterator[tuple[str, tuple[float, ...]]]:
    by_joint = joints and len(values) == len(joints)
    if values and all(isinstance(v, bool | int | float) for v in values):
        if by_joint:
            yield from ((f"{where}[{joint}]", (float(v),)) for joint, v in zip(joints, values, strict=True))
        else:
            yield where, tuple(float(v) for v in values)
    elif by_joint and all("interface_names" in _fields(v) for v in values):  # control_msgs/DynamicJointState
        for joint, value in zip(joints, map(_fields, values), strict=True):
            for name, number in zip(value["interface_names"], value["values"], strict=True):
                yield f"{path}.{name}[{joint}]".lstrip("."), (float(number),)


def _only_point(points: Any) -> Any:
    if not isinstance(points, list) or len(points) != 1:
        raise GaplessError(
            f"a trajectory message has {len(points)} points: that is a plan, not a command of one instant. "
            "Record the controller's reference instead, e.g. /controller_state."
        )
    return points[0]
