"""A robot that is described by a URDF file, without actuators or sensors, from `gapless new` to its first crank."""

import json
from pathlib import Path

import pytest

from gapless.cli import main

FAN_ARM = Path(__file__).parents[2] / "examples" / "fan_arm"
URDF = """
<robot name="fan_arm">
  <link name="base"/>
  <link name="arm">
    <inertial><origin xyz="0 0 -0.2"/><mass value="0.18"/>
      <inertia ixx="0.002" iyy="0.002" izz="0.0001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 -1 0"/>
    <limit lower="-3" upper="3" effort="0.6" velocity="20"/><dynamics damping="0.01" friction="0"/>
  </joint>
</robot>
"""
RENAMED = {'"fan"': '"hinge.torque"', "arm.angle": "hinge.position", "0.23 * thrust": "0.8 * thrust", "2.0": "0.6"}
SMALL = (
    "--recipe.excite-s", "4", "--recipe.deploy", "1", "--recipe.checks", "8", "--recipe.draws", "8",
    "--recipe.excite.candidates", "8", "--recipe.excite.doubts", "2",
    "--recipe.train.method.budget", "60000", "--recipe.train.looks", "2", "--recipe.train.worlds", "8",
)  # fmt: skip


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the example's robot and task under the names that a completed URDF gives, and the URDF."""
    monkeypatch.chdir(tmp_path)
    Path("arm.urdf").write_text(URDF)
    for name in ("robot.py", "task.py"):
        text = (FAN_ARM / name).read_text()
        for old, new in RENAMED.items():
            text = text.replace(old, new)
        Path(name).write_text(text)


@pytest.mark.usefixtures("files")
def test_the_doctor_examines_a_urdf_as_it_will_be_completed() -> None:
    main(["doctor", "--robot", "robot.py:FanArm", "--model", "arm.urdf", "--json", "found.json"])
    assert json.loads(Path("found.json").read_text())["failed"] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_a_urdf_comes_to_its_first_crank(capsys: pytest.CaptureFixture) -> None:
    main(["new", "arm", "--model", "arm.urdf", "--task", "task.py:Lift"])
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "arm.urdf names no actuator: added the motor hinge.torque (-0.6 to 0.6 N m), and sensors hinge.position."
        in said
    )
    main(["crank", "-n", "1", "--workspace", "arm", "--robot", "robot.py:FanArm", *SMALL, "--json", "turn.json"])
    (turn,) = json.loads(Path("turn.json").read_text())["cranks"]
    assert turn["gap_after"] < 0.2 * turn["gap_before"]
    assert turn["return"] > 2.0
