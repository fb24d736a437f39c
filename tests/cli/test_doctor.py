"""`gapless doctor`: a sound robot, task and model pass; every defect is named, with the line where it is in user's code."""

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gapless.cli import main
from gapless.core.conformance import clock

EXAMPLE = Path(__file__).parents[2] / "examples" / "fan_arm"
MODEL = str(EXAMPLE / "robot.xml")
TWO_JOINTS = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <body><joint name="pan" axis="0 0 1" damping="0.1"/><geom type="box" size="0.1 0.1 0.1" contype="0"/></body>
    <body><joint name="tilt" axis="0 0 1" damping="0.1"/><geom type="box" size="0.1 0.1 0.1" contype="0"/></body>
  </worldbody>
  <actuator><motor name="pan.torque" joint="pan" ctrlrange="-9 9"/><motor name="tilt.torque" joint="tilt" ctrlrange="-9 9"/>
  </actuator>
  <sensor><jointpos name="pan.angle" joint="pan"/><jointpos name="tilt.angle" joint="tilt"/></sensor>
</mujoco>
"""
PAN_TILT = """
import numpy as np
from gapless.core import Channel, Interface, Robot

TURNS = {"low": -3.0, "high": 3.0, "rate": 50.0}


class PanTilt(Robot):
    simulated = True
    interface = Interface(
        "pan and tilt", 0.02,
        (Channel("pan.torque", low=-9, high=9), Channel("tilt.torque", low=-9, high=9)),
        (Channel("pan.angle", unit="rad", **TURNS), Channel("tilt.angle", unit="rad", **TURNS)), ("pan", "tilt"))

    def connect(self): self.reset(0)
    def disconnect(self): pass
    def reset(self, episode):
        self.t, self.x, self.v, self.u = 0.0, np.full(2, 0.001 * episode), np.zeros(2), np.zeros(2)
    def get_observation(self): return {"pan.angle": self.x[:1].copy(), "tilt.angle": self.x[1:].copy()}
    def send_action(self, command):
        self.u = np.clip([command["pan.torque"][0], command["tilt.torque"][0]], -9, 9)
        return {"pan.torque": self.u[:1].copy(), "tilt.torque": self.u[1:].copy()}
    def now(self): return self.t
    def wait_until(self, time_s):
        for _ in range(round((time_s - self.t) / 0.01)):
            self.v = self.v + 0.01 * (self.u - 0.1 * self.v) / 0.053
            self.x = self.x + 0.01 * self.v
            self.t += 0.01
"""


@pytest.fixture
def doctor(tmp_path: Path, capsys: pytest.CaptureFixture) -> Callable[..., tuple[int, dict[str, Any], str]]:
    def examine(*arguments: str) -> tuple[int, dict[str, Any], str]:
        """The exit status, what was written as JSON, and what was printed, in one line."""
        out, status = tmp_path / "found.json", 0
        try:
            main(["doctor", *arguments, "--json", str(out)])
        except SystemExit as ended:
            status = int(ended.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.out + said.err
        return status, json.loads(out.read_text()), " ".join(said.out.split())

    return examine


@pytest.fixture
def broken(tmp_path: Path, doctor: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    # The laws of simulators have tests of their own.
    monkeypatch.setattr("gapless.cli.doctor.SIMULATOR_LAWS", {})

    def failed(kind: str, body: str, *arguments: str, base: str = "") -> list[str]:
        """What the doctor names as failed in the example's robot or task with parts of its class replaced."""
        name = {"robot": "FanArm", "task": "Lift"}[kind]
        text = (base or (EXAMPLE / f"{kind}.py").read_text()).replace("PanTilt", name)
        file = tmp_path / f"{kind}.py"
        file.write_text(f"{text}\n\nclass Broken({name}):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n")
        status, found, said = doctor(f"--{kind}", f"{file}:Broken", *arguments)
        off = [c for c in found["checks"] if c["mark"] == "fail"]
        assert status == (1 if off else 0)
        assert all(c["remedy"] in said and c["rule"] for c in off)
        return [c["seen"] for c in off]

    return failed


def test_a_sound_robot_task_and_model_pass_without_a_note(doctor: Callable) -> None:
    status, found, said = doctor(
        "--robot", f"{EXAMPLE / 'robot.py'}:FanArm", "--task", f"{EXAMPLE / 'task.py'}:Lift", "--model", MODEL
    )  # fmt: skip
    assert (status, found["failed"], found["notes"]) == (0, 0, 0), said
    assert {c["area"] for c in found["checks"]} == {"interface", "units", "clock", "limits", "determinism", "speed"}
    assert "checks pass. Next: gapless new" in said


def named(said: str, file: Path, found: list[str]) -> bool:
    """Whether one finding says so; {line} stands for the number of the line of the file that is marked with it."""
    marked = [k for k, line in enumerate(file.read_text().splitlines(), 1) if "{line}" in line]
    return any(said.format(line=marked[0] if marked else "") in f for f in found)


ROBOTS = {
    "a missing channel": ("def get_observation(self): return {}", "arm.angle is missing"),
    "a wrong width": ("def get_observation(self): return {'arm.angle': np.zeros(2)}", "arm.angle has shape (2,)"),
    "no number": ("def get_observation(self): return {'arm.angle': np.array([np.nan])}", "arm.angle is not finite"),
    "degrees": ("def get_observation(self): return {'arm.angle': np.array([90.0])}", "reads 90 rad, which looks like degrees"),
    "a unit that is not SI": ("""
        interface = Interface("arm", 0.02, (Channel("fan", low=0, high=1),), (Channel("arm.angle", unit="deg"),))
        """, "the robot gives arm.angle in deg, which is to be rad"),
    "limits in degrees": ("""
        interface = Interface("arm", 0.02, (Channel("fan", low=-2, high=2),),
                              (Channel("arm.angle", unit="rad", low=-180, high=180),))
        """, "is limited to 180 rad, which looks like degrees"),
    "a start outside the limits": ("""
        def get_observation(self): return {"arm.angle": np.array([3.0])}
        """, "arm.angle is [3.0], outside -2.5 to 2.5"),
    "commands without limits": ("""
        interface = Interface("arm", 0.02, (Channel("fan"),), (Channel("arm.angle", unit="rad", low=-2, high=2),))
        """, "fan may be commanded from -inf to inf"),
    "a clock that stands still": ("def now(self): return 0.0", "it shows 0.0 s after waiting until 0.02 s"),
    "a clock that goes back": ("def now(self): return -self._time_s", "0.0 s to -0.02 s"),
    "a clock in milliseconds": ("""
        def now(self): return 1e3 * __import__("time").monotonic()
        """, "1e+03 times as fast as time"),
    "waiting that oversleeps": ("""
        def wait_until(self, time_s): super().wait_until(time_s + 0.015)
        """, "waits return 15 ms late, of a period of 20 ms"),
    "stamps from the future": ("""
        def get_observation(self): return {"arm.angle": np.zeros(1), "arm.angle.time": self.now() + 1.0}
        """, "arm.angle was taken at 1.08 s and read at 0.08 s"),
    "stamps that stand still": ("""
        def get_observation(self): return {"arm.angle": np.zeros(1), "arm.angle.time": 0.0}
        """, "arm.angle was taken at 0 s, again and again"),
    "no clipping": ("def send_action(self, command): return command", "fan is [200.0], outside -2.0 to 2.0"),
    "episodes that do not repeat": ("""
        def get_observation(self): return {"arm.angle": np.random.default_rng().normal(0, 0.01, 1)}
        """, "the two times differ in arm.angle"),
    "a second connect that fails": ("""
        def connect(self):
            if hasattr(self, "_there"):
                raise RuntimeError("port is busy")  # line {line}
            self._there = True
        """, "RuntimeError was raised in robot.py, line {line} (port is busy)"),
    "a driver that raises": ("""
        def get_observation(self):
            return {"arm.angle": self.bus.read()}  # line {line}
        """, "AttributeError was raised in robot.py, line {line} ('Broken' object has no attribute 'bus')"),
}  # fmt: skip


@pytest.mark.parametrize("defect", ROBOTS)
def test_a_robots_defect_is_named(broken: Callable, tmp_path: Path, defect: str) -> None:
    body, said = ROBOTS[defect]
    found = broken("robot", body)
    assert named(said, tmp_path / "robot.py", found), found


def test_a_driver_that_cannot_be_read_is_told_once(broken: Callable) -> None:
    assert len(broken("robot", "def get_observation(self): return self.bus.read()")) == 1


def test_a_clock_that_never_comes_is_interrupted(broken: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "PATIENCE_S", 0.1)
    found = broken("robot", "def wait_until(self, time_s):\n    while True:\n        __import__('time').sleep(0.01)")
    assert any("TimeoutError was raised in robot.py, line" in f and "within 0.12 s" in f for f in found), found


def test_a_robot_slower_than_its_period_is_named(broken: Callable) -> None:
    slow = """
        import time
        def now(self): return self.time.monotonic()
        def wait_until(self, time_s): self.time.sleep(max(0.0, time_s - self.now()))
        def get_observation(self): return self.time.sleep(0.03) or {"arm.angle": np.zeros(1)}
        """
    found = broken("robot", slow)
    for _ in range(4):
        if any("waits return" in f for f in found):  # this machine was busy, which is told first
            found = broken("robot", slow)
    assert any("ms of a period of 20 ms" in f for f in found), found


BESIDE_THE_MODEL = {
    "another name": ("""
        interface = Interface("arm", 0.02, (Channel("thrust", low=-2, high=2),), (Channel("arm.angle", low=-2, high=2),))
        """, "the robot's commands lack fan, which the model has"),
    "another pace": ("""
        interface = Interface("arm", 0.05, (Channel("fan", low=-2, high=2),), (Channel("arm.angle", low=-2, high=2),))
        """, "the robot every 0.05 s and the model every 0.02 s"),
    "other units": ("""
        interface = Interface("arm", 0.02, (Channel("fan", low=-2, high=2),), (Channel("arm.angle", unit="m", low=-2, high=2),))
        """, "arm.angle is in rad for the model, m for the robot"),
    "a narrower range than the model's": ("""
        interface = Interface("arm", 0.02, (Channel("fan", low=-1, high=1),), (Channel("arm.angle", low=-2, high=2),))
        """, "fan is -2 to 2 in the model, and the robot takes -1 to 1"),
    "degrees near zero": ("""
        interface = Interface("arm", 0.02, (Channel("fan", low=-2, high=2),), (Channel("arm.angle", low=-150, high=150),))
        def get_observation(self): return {"arm.angle": np.degrees([self._angle])}
        """, "times as far as in the model"),
    "a flipped sign": ("""
        def get_observation(self): return {"arm.angle": -super().get_observation()["arm.angle"]}
        """, "the other way"),
}  # fmt: skip


@pytest.mark.parametrize("defect", BESIDE_THE_MODEL)
def test_a_robot_unlike_its_model_is_named(broken: Callable, defect: str) -> None:
    body, said = BESIDE_THE_MODEL[defect]
    found = broken("robot", body, "--model", MODEL)
    assert any(said in f for f in found), found


SWAPPED = {
    "values": ("""
        def get_observation(self): return {"pan.angle": self.x[1:].copy(), "tilt.angle": self.x[:1].copy()}
        """, "pan.torque moves tilt.angle (number 1) and in the model pan.angle (number 1)"),
    "joints": ("""
        interface = __import__("dataclasses").replace(FanArm.interface, joints=("tilt", "pan"))
        """, "the robot has tilt, pan and the model pan, tilt"),
    "channels": ("""
        interface = __import__("dataclasses").replace(FanArm.interface, commands=FanArm.interface.commands[::-1])
        """, "the robot's commands come as tilt.torque, pan.torque and the model's as pan.torque, tilt.torque"),
}  # fmt: skip


@pytest.mark.parametrize("what", SWAPPED)
def test_swapped_joints_are_named(broken: Callable, tmp_path: Path, what: str) -> None:
    (tmp_path / "model.xml").write_text(TWO_JOINTS)
    body, said = SWAPPED[what]
    found = broken("robot", body, "--model", str(tmp_path / "model.xml"), base=PAN_TILT)
    assert any(said in f for f in found), found


def test_two_joints_in_their_order_pass(broken: Callable, tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(TWO_JOINTS)
    assert broken("robot", "pass", "--model", str(tmp_path / "model.xml"), base=PAN_TILT) == []


HARDWARE = """
    simulated = False
    def reset(self, episode): raise AssertionError("it was reset")
    def send_action(self, command): raise AssertionError("it was moved")
    def connect(self): super().reset(0)
"""


def test_hardware_is_not_moved_unasked(broken: Callable, doctor: Callable, tmp_path: Path) -> None:
    assert broken("robot", HARDWARE, "--model", MODEL) == []
    _, found, said = doctor("--robot", f"{tmp_path / 'robot.py'}:Broken", "--model", MODEL)
    assert "not tried: the robot was read and not moved" in {c["seen"] for c in found["checks"]}
    assert "Run again with --move when it may move" in said


def test_hardware_is_moved_when_asked(broken: Callable) -> None:
    assert any("it was reset" in f for f in broken("robot", HARDWARE, "--move"))


TASKS = {
    "a reward that is no number": ("""
        def reward(self, before, command, after): return 1.0 / (after["arm.angle"] - before["arm.angle"])[..., 0]
        """, "it is inf at arm.angle [0.0]"),
    "a branch on a value": ("""
        def reward(self, before, command, after):
            return jnp.asarray([1.0 if a > 0 else 0.0 for a in after["arm.angle"][..., 0]])
        """, "TracerBoolConversionError was raised in task.py"),
    "NumPy on a traced value": ("""
        def finished(self, measurement): return np.abs(np.asarray(measurement["arm.angle"]))[..., 0] > 2.4
        """, "TracerArrayConversionError was raised in task.py, line"),
    "chance": ("""
        def reward(self, before, command, after): return after["arm.angle"][..., 0] + np.random.default_rng().normal()
        """, "two calls differ in reward"),
    "an unknown joint": ("def start(self, key, n): return {'elbow.position': jnp.zeros((n, 1))}", "start names 'elbow.position'"),
    "an unknown channel": ("measurements = (Channel('arm.speed'),)", "arm.speed is none of the measurements arm.angle"),
    "one number for all rows": ("def reward(self, before, command, after): return jnp.zeros(())", "rows are rewarded with 0.0"),
    "another unit": ("measurements = (Channel('arm.angle', unit='m'),)", "arm.angle is in rad for the model, m for the task"),
    "a pass for a stopped robot": ("def judge(self, log): return Verdict(True, 1.0, 'fine')", "a stopped one passed"),
    "a verb that raises": ("""
        def judge(self, log): return self.nobody  # line {line}
        """, "AttributeError was raised in task.py, line {line} ('Broken' object has no attribute 'nobody')"),
}  # fmt: skip


@pytest.mark.parametrize("defect", TASKS)
def test_a_tasks_defect_is_named(broken: Callable, tmp_path: Path, defect: str) -> None:
    body, said = TASKS[defect]
    found = broken("task", body, "--model", MODEL)
    assert named(said, tmp_path / "task.py", found), found


def test_a_start_beyond_the_robots_limits_is_named(broken: Callable) -> None:
    robot = f"{EXAMPLE / 'robot.py'}:FanArm"
    body = "def start(self, key, n): return {'hinge.position': jnp.full((n, 1), 3.0)}"
    found = broken("task", body, "--model", MODEL, "--robot", robot)
    assert any("start: arm.angle is [3.0, 3.0], outside -2.5 to 2.5" in f for f in found), found
    assert any("and the task starts between 3 and 3" in f for f in found), found


def test_a_model_whose_commands_have_no_limits_is_named(doctor: Callable, tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(TWO_JOINTS.replace(' ctrlrange="-9 9"', ""))
    status, found, _ = doctor("--model", str(tmp_path / "model.xml"))
    assert status == 1
    assert "pan.torque may be commanded from -inf to inf" in {c["seen"] for c in found["checks"]}


UNLOADABLE = {
    "swapped limits": ("class Mine(Robot):\n    channel = Channel('fan', low=2.0, high=-2.0)", "robot.py, line 3)"),
    "no syntax": ("class Mine(Robot:", "robot.py, line 2"),
    "a name that is not there": ("Mine = nobody", "NameError was raised in robot.py, line 2"),
    "a verb left out": ("class Mine(Robot):\n    interface = None", "abstract"),
    "no such class": ("pass", "has no attribute 'Mine'"),
    "no robot": ("class Mine: ...", "must derive from gapless.core.Robot"),
}


@pytest.mark.parametrize("defect", UNLOADABLE)
def test_a_robot_that_cannot_be_loaded_costs_one_sentence(doctor: Callable, tmp_path: Path, defect: str) -> None:
    text, said = UNLOADABLE[defect]
    (tmp_path / "robot.py").write_text(f"from gapless.core import Channel, Robot\n{text}\n")
    status, found, _ = doctor("--robot", f"{tmp_path / 'robot.py'}:Mine")
    (only,) = [c for c in found["checks"] if c["mark"] == "fail"]
    assert status == 1
    assert said in only["seen"]


def test_nothing_to_examine_says_what_to_name(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    assert ended.value.code == 2
    assert "Name a --robot, a --task, a --model" in " ".join(capsys.readouterr().err.split())
