"""`gapless actuator`: hidden friction and latency come out of a workspace's logs, and what cannot be learned is said."""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from gapless.cli import main
from gapless.engine import Workspace
from gapless.learn.actuators import load_actuator
from gapless.nets.actuator_network import ActuatorNetwork, Layer, Scales
from gapless.nets.stored_actuator import save_networks

MODEL = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <body name="arm">
      <joint name="hip" axis="0 -1 0" {joint}/>
      <inertial pos="0 0 -0.2" mass="0.5" diaginertia="0.002 0.002 0.002"/>
    </body>
    <body name="weight"><joint name="lift" type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
  </worldbody>
  <actuator>{actuator}</actuator>
  <sensor><jointpos name="hip.position" joint="hip"/>{sensor}</sensor>
</mujoco>
"""
SERVO = '<position name="hip.target" joint="hip" kp="6" kv="0.1"/>'
TASK = """
from gapless.core import Channel, Feature, Log, Observation, Task, Verdict

class Wave(Task):
    name, seconds, commands = "wave", 1.0, ()
    measurements = (Channel("hip.position", unit="rad"),)
    observe = Observation((Feature("hip.position"),))
    def start(self, key, n): return {}
    def explore(self, key, n): return {}
    def reward(self, before, command, after): return after["hip.position"][..., 0]
    def finished(self, measurement): return measurement["hip.position"][..., 0] > 99
    def judge(self, log): return Verdict(True, 1.0, "")
"""
LATENCY_S, COULOMB, STIFFNESS, PERIOD_S, TICK_S = 0.03, 0.2, 8.0, 0.02, 0.0005
SHORT = ["--climb.no-networks", "--climb.windows", "16", "--climb.laws", "m1", "--climb.iterations", "10"]


def motion(seed: int, rows: int = 200) -> np.ndarray:
    """Time, target, position and torque of a servo with friction and latency that no model file mentions."""
    rng = np.random.default_rng(seed)
    rates, phases = rng.uniform(0.3, 1.5, 3), rng.uniform(0, 6, 3)
    clock = np.arange(rows) * PERIOD_S
    targets = 0.5 * np.sin(2 * np.pi * np.outer(clock, rates) + phases).sum(axis=1)
    q, v, torque, seen = targets[0], 0.0, 0.0, []
    for tick in range(round(rows * PERIOD_S / TICK_S)):
        time_s = tick * TICK_S
        if tick % round(PERIOD_S / TICK_S) == 0:
            seen.append((time_s, targets[len(seen)], q + 1e-3 * rng.normal(), torque))
        heard = targets[max(0, int((time_s - LATENCY_S) / PERIOD_S + 1e-9))]
        pushed = STIFFNESS * (heard - q) - 0.3 * v
        torque = pushed - COULOMB * np.tanh(v / 0.02)
        v += TICK_S * (torque - 0.5 * 9.81 * 0.2 * np.sin(q)) / 0.022
        q += TICK_S * v
    return np.array(seen)


def workspace_in(folder: Path, actuator: str = SERVO, sensor: str = "", joint: str = "") -> Path:
    (folder / "robot.xml").write_text(MODEL.format(actuator=actuator, sensor=sensor, joint=joint))
    (folder / "task.py").write_text(TASK)
    main(["new", str(folder / "bench"), "--model", str(folder / "robot.xml"), "--task", f"{folder / 'task.py'}:Wave"])
    return folder / "bench"


def bring(folder: Path, workspace: Path, columns: str, rows: int = 200, episodes: int = 4) -> None:
    files = [folder / f"{k}.csv" for k in range(episodes)]
    for k, file in enumerate(files):
        table = motion(k, rows)[:, : len(columns.split(","))]
        np.savetxt(file, table, delimiter=",", header=columns, comments="")
    main(["import", *map(str, files), "--workspace", str(workspace)])


def refused(arguments: list[str], capsys: pytest.CaptureFixture) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def learned(workspace: Path, folder: Path, *more: str) -> dict:
    main(["actuator", str(workspace), *SHORT, "--json", str(folder / "said.json"), *more])
    (found,) = json.loads((folder / "said.json").read_text())["actuators"]
    return found


@pytest.mark.slow
def test_friction_and_latency_come_out_of_motion_alone(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    workspace = workspace_in(tmp_path)
    bring(tmp_path, workspace, "t,hip.target,hip.position")
    found = learned(workspace, tmp_path, "--out", str(tmp_path / "out"))
    error = {r["name"]: r["error"] for r in found["rungs"]}
    assert (found["chosen"], found["fitted_to"], found["unit"]) == ("friction m1", "motion", "rad")
    assert error["friction m1"] < 0.3 * min(error["data sheet"], error["pd"], error["motor"])
    value = {p["name"]: p["value"] for p in found["params"]}
    assert value["command.latency"] == pytest.approx(LATENCY_S, abs=0.004)
    assert value["friction.coulomb"] == pytest.approx(COULOMB, rel=0.15)
    assert found["mujoco"]["kp"] == pytest.approx(STIFFNESS, rel=0.15)
    assert found["mujoco"]["frictionloss"] == value["friction.coulomb"]
    said = " ".join(capsys.readouterr().out.split())
    assert "hip: about" in said and "friction m1" in said and "chosen" in said
    rung, params, network = load_actuator(tmp_path / "out" / "hip")
    assert (rung.name, network) == ("friction", None)
    assert float(jnp.ravel(params["friction.coulomb"])[0]) == pytest.approx(value["friction.coulomb"])
    # Asked again, it is found and not made again.
    made = Workspace(workspace).store.all("actuator")
    assert learned(workspace, tmp_path)["actuator"] == made[0].id
    assert len(Workspace(workspace).store.all("actuator")) == 1


def test_torque_is_used_where_it_is_measured(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path, sensor='<jointactuatorfrc name="hip.torque" joint="hip"/>')
    bring(tmp_path, workspace, "t,hip.target,hip.position,hip.torque")
    found = learned(workspace, tmp_path, "--joint", "hip")
    assert (found["chosen"], found["fitted_to"], found["unit"]) == ("friction m1", "torque", "N m")
    value = {p["name"]: p["value"] for p in found["params"]}
    assert value["command.latency"] == pytest.approx(LATENCY_S, abs=0.005)
    assert value["friction.coulomb"] == pytest.approx(COULOMB, rel=0.2)


@pytest.mark.slow
def test_a_network_is_taken_where_physics_has_no_name_for_it_and_leaves_as_onnx(tmp_path: Path) -> None:
    """A fan pushes with the square of its command, and the model says in proportion."""
    workspace = workspace_in(tmp_path, '<motor name="fan" joint="hip"/>')
    rng, clock, files = np.random.default_rng(0), np.arange(400) * PERIOD_S, []
    for k in range(6):
        told = np.sin(2 * np.pi * np.outer(clock, rng.uniform(0.2, 1.5, 3)) + rng.uniform(0, 6, 3)).sum(axis=1)
        q, v, seen = 0.0, 0.0, []
        for row, u in enumerate(told):
            seen.append((clock[row], u, q + 1e-3 * rng.normal()))
            for _ in range(40):
                v += TICK_S * (0.12 * u * abs(u) - 0.1 * v - 0.5 * 9.81 * 0.2 * np.sin(q)) / 0.022
                q += TICK_S * v
        files.append(tmp_path / f"{k}.csv")
        np.savetxt(files[-1], seen, delimiter=",", header="t,fan,hip.position", comments="")
    main(["import", *map(str, files), "--workspace", str(workspace)])
    found = learned(workspace, tmp_path, "--climb.networks", "--climb.windows", "36", "--climb.window-s", "0.6")
    error = {r["name"]: r["error"] for r in found["rungs"]}
    assert found["chosen"] in ("mlp", "gru") and error[found["chosen"]] < 0.6 * error["friction m1"]
    main(["export", "actuator", str(workspace), "--out", str(tmp_path / "fan.onnx")])
    assert (tmp_path / "fan.onnx").is_file()


def test_what_cannot_be_learned_is_said_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    workspace = workspace_in(tmp_path)
    assert "no logs to learn from" in refused(["actuator", str(workspace)], capsys)
    bring(tmp_path, workspace, "t,hip.target,hip.position", rows=45, episodes=2)
    said = refused(["actuator", str(workspace), "--joint", "lift"], capsys)
    assert "'lift' is no driven joint" in said and "hip" in said
    assert "long enough" in refused(["actuator", str(workspace)], capsys)


def test_a_command_that_never_changes_teaches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    workspace, clock = workspace_in(tmp_path), np.arange(300) * PERIOD_S
    rows = np.column_stack([clock, 0 * clock, 0.1 * np.sin(clock)])
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",", header="t,hip.target,hip.position", comments="")
    main(["import", str(tmp_path / "a.csv"), "--workspace", str(workspace)])
    said = refused(["actuator", str(workspace)], capsys)
    assert "hip.target never changes" in said and "--joint" in said


def test_a_joint_without_a_position_channel_is_not_learned(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    workspace = workspace_in(tmp_path, '<motor name="lift.force" joint="lift"/>')
    said = refused(["actuator", str(workspace)], capsys)
    assert "lift has no position channel" in said
    assert "has no position channel" in refused(["actuator", str(workspace), "--joint", "lift"], capsys)


def test_a_workspaces_newest_actuator_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    workspace = workspace_in(tmp_path)
    to = ["--out", str(tmp_path / "hip.onnx")]
    assert "has no actuator yet" in refused(["export", "actuator", str(workspace), *to], capsys)
    scales = Scales(np.zeros(2), np.ones(2))
    plain = ActuatorNetwork((Layer(np.ones((1, 2)), np.zeros(1)),), "relu", (0,), scales, PERIOD_S)
    store = Workspace(workspace).store

    def build(folder: Path) -> dict:
        save_networks(folder, [plain], {"command": "effort"})
        return {"joint": "hip"}

    store.make("actuator", {}, {"crank": 0}, build)
    main(["export", "actuator", str(workspace), *to, "--json", str(tmp_path / "said.json")])
    said = json.loads((tmp_path / "said.json").read_text())
    assert (said["joint"], said["sees"]) == ("hip", "command") and (tmp_path / "hip.onnx").is_file()
    assert "it has: hip" in refused(["export", "actuator", str(workspace), *to, "--joint", "knee"], capsys)
