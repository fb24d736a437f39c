"""Models that leave out what drives and reads them, as URDF files do."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.engine import new_workspace
from gapless.simulators import complete_model, load_model

URDF = """
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.15"/><mass value="0.4"/>
      <inertia ixx="0.004" iyy="0.004" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="lower">
    <inertial><origin xyz="0 0 -0.1"/><mass value="0.2"/>
      <inertia ixx="0.001" iyy="0.001" izz="0.0002" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.5" effort="2.5" velocity="4"/><dynamics damping="0.05" friction="0.01"/>
  </joint>
  <joint name="elbow" type="continuous">
    <origin xyz="0 0 -0.3"/><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>
  </joint>
</robot>
"""
TASK = """
import jax.numpy as jnp
from gapless.core import Channel, Feature, Observation, Task, Verdict


class Hold(Task):
    name = "hold"
    seconds = 1.0
    commands = (Channel("shoulder.torque", unit="N m"),)
    measurements = (Channel("shoulder.position", unit="rad"),)
    observe = Observation((Feature("shoulder.position"), Feature("shoulder.position", "rate")))

    def start(self, key, n):
        return {"shoulder.position": jnp.zeros((n, 1))}

    def reward(self, before, command, after):
        return -((after["shoulder.position"][..., 0] - 0.5) ** 2)

    def finished(self, measurement):
        return jnp.abs(measurement["shoulder.position"][..., 0]) > 1.4

    def judge(self, log):
        return Verdict(False, -1.0, "never")
"""


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    (tmp_path / "arm.urdf").write_text(URDF)
    return tmp_path / "arm.urdf"


def test_joints_with_an_effort_limit_get_a_motor_and_all_joints_a_sensor(urdf: Path) -> None:
    completed = complete_model(urdf)
    assert (completed.model.nu, completed.model.nsensor) == (1, 2)
    assert completed.model.actuator_ctrlrange.tolist() == [[-2.5, 2.5]]
    assert completed.added == (
        "arm.urdf names no actuator: added the motor shoulder.torque (-2.5 to 2.5 N m), and sensors shoulder.position, "
        "elbow.position; nothing drives elbow, for want of an effort limit."
    )


def test_a_completed_model_keeps_the_physics_of_its_file(urdf: Path, tmp_path: Path) -> None:
    (tmp_path / "again.xml").write_text(complete_model(urdf).xml)
    before, after = load_model(urdf), load_model(tmp_path / "again.xml")
    for field in ("body_mass", "body_inertia", "body_ipos", "dof_damping", "dof_frictionloss", "jnt_range", "jnt_axis"):
        np.testing.assert_allclose(getattr(after, field), getattr(before, field), rtol=1e-6)


def test_a_motor_stronger_than_its_limit_says_can_be_learned(urdf: Path) -> None:
    assert not complete_model(urdf).model.jnt_actfrclimited.any()


def test_a_model_with_actuators_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_text(
        '<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>'
        '<actuator><motor joint="j"/></actuator></mujoco>'
    )
    completed = complete_model(tmp_path / "m.xml")
    assert (completed.xml, completed.added, completed.model.nsensor) == ("", "", 0)


def test_a_model_without_effort_limits_says_what_to_write(urdf: Path) -> None:
    urdf.write_text(URDF.replace('effort="2.5"', 'effort="0"'))
    with pytest.raises(GaplessError, match=r"no joint in it has an effort limit \(joints: shoulder, elbow\)\. Write"):
        complete_model(urdf)


def test_a_workspace_of_a_urdf_holds_the_completed_model(urdf: Path, tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(TASK)
    made = new_workspace(tmp_path / "arm", str(urdf), f"{tmp_path / 'task.py'}:Hold")
    assert "added the motor shoulder.torque" in json.loads((made.folder / "workspace.json").read_text())["added"]
    assert made.interface.command_names == ("shoulder.torque",)
    assert [c.unit for c in made.interface.commands] == ["N m"]
    assert made.simulator.joints == ("shoulder", "elbow")
    assert "<motor" in (made.folder / "model.xml").read_text() or "<general" in (made.folder / "model.xml").read_text()


CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
TETRAHEDRON = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def test_a_completed_model_finds_the_meshes_of_its_file(urdf: Path, tmp_path: Path) -> None:
    rows = [struct.pack("<12fH", 0, 0, 0, *(0.1 * x for k in face for x in CORNERS[k]), 0) for face in TETRAHEDRON]
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "shell.stl").write_bytes(bytes(80) + struct.pack("<I", 4) + b"".join(rows))
    shape = '<collision><geometry><mesh filename="meshes/shell.stl"/></geometry></collision>'
    urdf.write_text(URDF.replace('<link name="upper">', f'<link name="upper">{shape}'))
    (tmp_path / "task.py").write_text(TASK)
    made = new_workspace(tmp_path / "arm", str(urdf), f"{tmp_path / 'task.py'}:Hold")
    assert made.model.nmesh == 1
