"""A LeRobot robot's own process: verbs in on standard input, answers out, one JSON object a line.

It runs in LeRobot's environment, whose pins others cannot live with, and so imports nothing but LeRobot and the standard
library. When the other side hangs up, the robot is disconnected.
"""

import contextlib
import dataclasses
import importlib
import json
import os
import pkgutil
import signal
import sys
import time
import types
import typing
from pathlib import Path

# Beside this file lies one called lerobot.py, which is not the package that is wanted.
sys.path = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).resolve().parent]


class Refusal(Exception):
    """A user's mistake: one sentence."""


def make_robot(kind: str, options: dict, module: str):
    """The registered robot of that name, not yet connected; its cameras are left out."""
    from lerobot.robots import RobotConfig, make_robot_from_config  # type: ignore[import-not-found]

    _register_all(module)
    known = RobotConfig.get_known_choices()
    if kind not in known:
        raise Refusal(f"LeRobot has no robot {kind!r} (it has: {', '.join(sorted(known))}).")
    return make_robot_from_config(configured(known[kind], options, kind))


def _register_all(module: str) -> None:
    """Robots register when their modules are imported: LeRobot's own, plug-ins, and one that the user names."""
    import lerobot.robots  # type: ignore[import-not-found]

    for found in pkgutil.iter_modules(lerobot.robots.__path__):
        with contextlib.suppress(Exception):  # a robot whose own driver is not installed is no robot here
            importlib.import_module(f"lerobot.robots.{found.name}")
    with contextlib.suppress(ImportError):
        from lerobot.utils.import_utils import (  # type: ignore[import-not-found]
            register_third_party_plugins,
        )

        register_third_party_plugins()
    if module:
        importlib.import_module(module)


def configured(config: type, options: dict, kind: str):
    """The dataclass with the options in its fields, each converted to the field's type; `a.b` is a field of a field."""
    types_of = typing.get_type_hints(config)
    fields = {f.name: f for f in dataclasses.fields(config) if f.init and f.name != "cameras"}
    unknown = sorted({name.partition(".")[0] for name in options} - set(fields))
    if unknown:
        raise Refusal(f"{kind} has no option {unknown[0]!r} (it has: {', '.join(fields)}).")
    given = {}
    for name in fields:
        below = {k.partition(".")[2]: v for k, v in options.items() if k.startswith(f"{name}.")}
        if name in options:
            given[name] = converted(options[name], types_of[name], f"{kind}'s option {name!r}")
        elif below:
            given[name] = configured(types_of[name], below, f"{kind}'s {name}")
    missing = [n for n, f in fields.items() if n not in given and _has_no_default(f)]
    if missing:
        raise Refusal(f"{kind} needs the option{'s' * (len(missing) > 1)} {', '.join(missing)}: add ?{missing[0]}=…")
    if any(f.name == "cameras" for f in dataclasses.fields(config)):
        given["cameras"] = {}
    return config(**given)


def _has_no_default(field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def converted(text: str, kind, what: str):
    """The text as a value of the type; of several types, the first that fits."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        choices = typing.get_args(kind)
        if type(None) in choices and text.lower() in ("none", "null"):
            return None
        for choice in choices:
            with contextlib.suppress(Refusal):
                return converted(text, choice, what)
    elif kind is bool and text.lower() in ("true", "false", "1", "0", "yes", "no"):
        return text.lower() in ("true", "1", "yes")
    elif kind in (int, float, str, Path):
        with contextlib.suppress(ValueError):
            return kind(text)
    elif (typing.get_origin(kind) or kind) in (list, dict):
        with contextlib.suppress(ValueError):
            value = json.loads(text)
            if isinstance(value, typing.get_origin(kind) or kind):
                return value
    raise Refusal(f"{what} is {text!r}, which is no {getattr(kind, '__name__', kind)}.")


def described(robot) -> dict:
    """What can be sent and read, and how each motor's position is normalised."""
    return {
        "name": robot.name,
        "actions": _numbers_of(robot.action_features),
        "observations": _numbers_of(robot.observation_features),
        "cameras": [k for k, v in robot.observation_features.items() if isinstance(v, tuple)],
        "motors": {f"{prefix}{name}.pos": m for prefix, part in _arms(robot) for name, m in _motors(part).items()},
        "calibration": str(getattr(robot, "calibration_fpath", "")),
    }


def _numbers_of(features: dict) -> list:
    return [name for name, kind in features.items() if not isinstance(kind, tuple)]


def _arms(robot) -> list:
    parts = [("", robot), ("left_", getattr(robot, "left_arm", None)), ("right_", getattr(robot, "right_arm", None))]
    return [(prefix, part) for prefix, part in parts if hasattr(part, "bus")]


def _motors(arm) -> dict:
    """Motor → its normalisation, counts per turn and calibrated range in counts, as far as they are known."""
    found = {}
    for name, motor in arm.bus.motors.items():
        calibration = (arm.calibration or {}).get(name)
        found[name] = {
            "mode": getattr(motor.norm_mode, "value", str(motor.norm_mode)),
            "counts": getattr(arm.bus, "model_resolution_table", {}).get(motor.model),
            "range": [calibration.range_min, calibration.range_max] if calibration else None,
        }
    return found


class Server:
    """The verbs, each with the keys of its request as arguments."""

    def __init__(self, robot) -> None:
        self.robot = robot

    def describe(self) -> dict:
        return described(self.robot)

    def connect(self) -> dict:
        """Never calibrates: that asks a person to move the arm, and here is no one to ask."""
        self.robot.connect(calibrate=False)
        if not self.robot.is_calibrated:
            self.disconnect()
            raise Refusal(f"{self.robot} is not calibrated, or not as {self.robot.calibration_fpath} says")
        return {}

    def read(self) -> dict:
        """The numbers, and when they were taken: half-way through the reading."""
        before = time.monotonic()
        seen = self.robot.get_observation()
        taken = (before + time.monotonic()) / 2
        return {"seen": _plain(seen, self.robot.observation_features), "taken": taken}

    def send(self, action: dict) -> dict:
        return {"sent": _plain(self.robot.send_action(action) or action, self.robot.action_features)}

    def disconnect(self) -> dict:
        if self.robot.is_connected:
            self.robot.disconnect()
        return {}


def _plain(values: dict, features: dict) -> dict:
    return {k: float(v) for k, v in values.items() if k in features and not isinstance(features[k], tuple)}


def _own_pipes():
    """The pipes to the other side; what libraries print or ask for goes elsewhere."""
    asked, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return asked, answers


def _ended(*_) -> None:
    raise SystemExit


def main() -> None:
    asked, answers = _own_pipes()
    signal.signal(signal.SIGTERM, _ended)
    server = None
    try:
        for line in asked:
            request = json.loads(line)
            verb = request.pop("verb")
            try:
                if verb == "make":
                    server = Server(make_robot(**request))
                    answer = {}
                else:
                    answer = getattr(server, verb)(**request)
            except Refusal as error:
                answer = {"refused": str(error)}
            except Exception as error:  # whatever a driver raises is told, not lost
                answer = {"refused": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    finally:
        if server is not None:
            server.disconnect()


if __name__ == "__main__":
    main()
