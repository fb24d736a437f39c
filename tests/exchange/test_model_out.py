"""The exported model runs in plain MuJoCo as the calibrated simulator runs here, and says what it left behind."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from jaxtyping import PRNGKeyArray

from gapless import robots, simulators
from gapless.core import Block, GaplessError, Holds, Parameter, Params, Signals
from gapless.exchange import export_model
from gapless.simulators import Around, MujocoSimulator
from gapless.simulators.binding import bind
from gapless.simulators.log_cholesky import DEVIATIONS

MODELS = Path(robots.__file__).parent / "models"

ODDITIES = {
    "<option": '<compiler inertiafromgeom="true" settotalmass="1.1"/><option',
    "</default>": '<joint damping="0.2"/></default>',
    '"upper"': '"upper" euler="10 20 30"',
    ' damping="0.2" range="-90 90"': ' range="-90 90" springdamper="0.3 0.8"',
    '"0 0 0 0 0 -0.3"': '"0 0 0 0.05 0.02 -0.3"',
    '<joint name="elbow" axis="0 1 0" damping="0.1"/>': """
        <inertial pos="0 0 -0.1" mass="0.3" euler="10 0 40" diaginertia="0.003 0.004 0.005"/>
        <joint name="elbow" axis="0 1 0"/>
    """,
    'kp="20" kv="1"': 'kp="20" dampratio="0.7"',
    '<jointvel name="elbow.speed" joint="elbow"/>': "",
}
"""What MuJoCo's compiler resolves, in place of plain numbers."""


@pytest.fixture
def odd_arm(arm_xml: str) -> str:
    for plain, odd in ODDITIES.items():
        assert arm_xml.count(plain) == 1
        arm_xml = arm_xml.replace(plain, odd)
    return arm_xml


def wandering(simulator: MujocoSimulator, periods: int) -> np.ndarray:
    """Held commands, at rest in the beginning, each (period, width)."""
    rng = np.random.default_rng(4)
    sides = [(c.low, c.high) for c in simulator.interface.commands for _ in range(c.width)]
    values = np.array([rng.uniform(low / 2, high / 2, periods) for low, high in sides]).T
    values[:2] = 0
    return values


def predicted(simulator: MujocoSimulator, params: dict[str, float], values: np.ndarray) -> Signals:
    """What the calibrated simulator measures at every time step, open loop."""
    sent = np.arange(len(values)) * simulator.interface.period_s
    times = np.arange(len(values) * simulator.substeps) * simulator.model.opt.timestep
    holds = Holds([sent], [values], np.zeros(1, int), np.zeros(1))
    seen = simulator.play({k: np.full(1, v) for k, v in params.items()}, {}, holds, times[None])
    return {name: rows[0] for name, rows in seen.items()}


def run(path: Path, simulator: MujocoSimulator, values: np.ndarray) -> Signals:
    """What plain MuJoCo measures with the exported file: a step's sensors describe the state before it."""
    model = mujoco.MjModel.from_xml_path(str(path))
    state, rows = mujoco.MjData(model), []
    for k in range(len(values) * simulator.substeps):
        state.ctrl[:] = values[k // simulator.substeps]
        mujoco.mj_step(model, state)
        rows.append(state.sensordata.copy())
    columns, found = np.array(rows), {}
    for c in simulator.interface.measurements:
        sensor = model.sensor(c.name)
        found[c.name] = columns[:, sensor.adr[0] : sensor.adr[0] + sensor.dim[0]]
    return found


def largest_difference(simulator: MujocoSimulator, params: dict[str, float], out: Path, skip: int = 0) -> float:
    values = wandering(simulator, 60)
    here, there = predicted(simulator, params, values), run(out, simulator, values)
    assert max(np.ptp(rows) for rows in here.values()) > 0.1  # or the agreement would say little
    return max(float(np.abs(here[name] - there[name])[skip:].max()) for name in here)


CARTPOLE: dict[str, float] = {
    "cart.mass": 0.6123456789, "pole.mass": 0.19, "pole.com": 0.3, "pole.inertia": 1.2, "slider.damping": 5.5,
    "slider.friction": 0.7, "hinge.damping": 0.0012, "motor.gain": 1.1, "gravity.tilt_x": 0.021,
}  # fmt: skip


def built_in(name: str) -> MujocoSimulator:
    model = simulators.load_model(MODELS / f"{name}.xml")
    interface = simulators.propose_interface(model, name)
    return MujocoSimulator(model, interface, simulators.read_parameters(MODELS / f"{name}.toml"))


@pytest.mark.parametrize("latency_s", [0.002, 0.0071, 0.0213, 0.06])
def test_plain_mujoco_runs_the_exported_cartpole_as_we_do_delay_included(latency_s: float, tmp_path: Path) -> None:
    simulator, params = built_in("cartpole"), {**CARTPOLE, "command.latency": latency_s}
    done = export_model(simulator, params, MODELS / "cartpole.xml", tmp_path / "robot.xml")
    assert done.left_out == ()
    assert largest_difference(simulator, params, tmp_path / "robot.xml") < 1e-6
    moved = {**params, "command.latency": latency_s + 0.001}
    assert largest_difference(simulator, moved, tmp_path / "robot.xml") > 1e-5


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("furuta", {"arm.inertia": 1.3, "pendulum.mass": 0.13, "pendulum.com": 0.11, "command.latency": 0.013}),
        (
            "puck",
            {"lower.mass": 0.4, "puck.mass": 0.1, "table.sliding": 0.3, "elbow.gain": 0.1, "command.latency": 0.01},
        ),
        ("arm", {"lower.mass": 0.4, "payload.mass": 0.3, "elbow.friction": 0.1, "command.latency": 0.02}),
        ("hopper", {"floor.sliding": 0.5, "floor.softness": 0.02, "hip.friction": 0.1, "command.latency": 0.02}),
    ],
)
def test_the_other_built_in_models_agree_too(name: str, params: dict[str, float], tmp_path: Path) -> None:
    simulator = built_in(name)
    assert export_model(simulator, params, MODELS / f"{name}.xml", tmp_path / "robot.xml").left_out == ()
    assert largest_difference(simulator, params, tmp_path / "robot.xml") < 1e-6


@pytest.fixture
def servo_arm(odd_arm: str, tmp_path: Path) -> tuple[MujocoSimulator, Path]:
    """Servos, springs, inertias from geoms that are scaled to a total, general sensors, and every kind of parameter."""
    source = tmp_path / "arm.xml"
    source.write_text(odd_arm)
    model = simulators.load_model(source)
    doubted = ("upper.mass", "lower.mass", "lower.inertia", "lower.com", "shoulder.damping", "shoulder.stiffness")
    doubted += ("elbow.armature", "elbow.friction", "shoulder_servo.gain", "elbow_servo.gain", "elbow_servo.damping")
    doubted += ("gravity.tilt_x", "gravity.tilt_y")
    parameters = tuple(Parameter(n, "", bind(model, n).nominal, -50.0, 50.0, "inertia") for n in doubted)
    parameters += tuple(Parameter(f"{n}.latency", "s", 0.0, 0.0, 0.06, "latency") for n in ("command", "measurement"))
    return MujocoSimulator(model, simulators.propose_interface(model, "arm"), parameters), source


SERVO_PARAMS = {
    "upper.mass": 0.9, "lower.mass": 0.5, "lower.inertia": 1.4, "lower.com": 0.13, "shoulder.damping": 0.31,
    "shoulder.stiffness": 1.7, "elbow.armature": 0.02, "elbow.friction": 0.05, "shoulder_servo.gain": 25.0,
    "elbow_servo.gain": 8.0, "elbow_servo.damping": 0.7, "gravity.tilt_x": 0.02, "gravity.tilt_y": -0.03,
    "command.latency": 0.0117, "measurement.latency": 0.0123,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:compiler attribute")
def test_servos_springs_and_late_sensors_agree_too(
    servo_arm: tuple[MujocoSimulator, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log
    simulator, source = servo_arm
    done = export_model(simulator, SERVO_PARAMS, source, tmp_path / "out" / "robot.xml")
    assert len(done.left_out) == 1 and "read zero" in done.left_out[0]
    assert largest_difference(simulator, SERVO_PARAMS, tmp_path / "out" / "robot.xml", skip=4) < 1e-6
    written = mujoco.MjModel.from_xml_path(str(tmp_path / "out" / "robot.xml"))
    assert written.actuator("elbow_servo").biasprm[1:3] == pytest.approx([-8.0, -0.7])
    assert written.actuator_delay == pytest.approx(np.full(2, 0.0117 + 0.0025))
    assert written.sensor_delay == pytest.approx(np.full(2, 0.0123))


@pytest.mark.parametrize(("latency_s", "written_s"), [(0.0, 0.0), (0.0011, 0.004)])
def test_a_delay_under_one_step_is_rounded_and_named(latency_s: float, written_s: float, tmp_path: Path) -> None:
    simulator = built_in("cartpole")
    done = export_model(simulator, {"command.latency": latency_s}, MODELS / "cartpole.xml", tmp_path / "robot.xml")
    assert len(done.left_out) == 1 and "under one time step" in done.left_out[0]
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml")).actuator_delay[0] == written_s


def test_rk4_has_no_lead(tmp_path: Path, make_simulator: Callable[..., MujocoSimulator]) -> None:
    source = tmp_path / "own.xml"
    source.write_text((MODELS / "cartpole.xml").read_text().replace("<option ", '<option integrator="RK4" ', 1))
    simulator = make_simulator(source.read_text())
    export_model(simulator, {"command.latency": 0.02}, source, tmp_path / "robot.xml")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml")).actuator_delay[0] == 0.02


def test_noise_is_written_and_its_fate_told(pendulum: MujocoSimulator, tmp_path: Path) -> None:
    source = tmp_path / "own.xml"
    mujoco.mj_saveLastXML(str(source), pendulum.model)
    done = export_model(pendulum, {"hinge.position.noise": 0.01}, source, tmp_path / "robot.xml")
    assert any("does not apply" in sentence for sentence in done.left_out)
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml")).sensor("hinge.position").noise == 0.01


def test_a_parameter_that_mjcf_has_no_place_for_is_named(tmp_path: Path) -> None:
    class Biased(MujocoSimulator):
        """A simulator that knows a parameter beyond the physics."""

        def _in_physics(self, name: str, beside: set[str]) -> bool:
            return not name.endswith(".bias") and super()._in_physics(name, beside)

    plain = built_in("cartpole")
    bias = Parameter("pole.angle.bias", "rad", 0.0, -0.1, 0.1, "sensing")
    simulator = Biased(plain.model, plain.interface, (*plain.parameters, bias))
    params = {"command.latency": 0.02, bias.name: 0.05}
    done = export_model(simulator, params, MODELS / "cartpole.xml", tmp_path / "robot.xml")
    assert done.left_out == ("pole.angle.bias is no attribute of MJCF.",)


class Nothing(Block):
    def init(self, key: PRNGKeyArray) -> Any:
        return ()

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        return memory, {}


def test_learned_blocks_are_named_as_left_out(tmp_path: Path) -> None:
    plain = built_in("cartpole")
    simulator = MujocoSimulator(plain.model, plain.interface, plain.parameters, around=Around(residual=Nothing()))
    done = export_model(simulator, {"command.latency": 0.02}, MODELS / "cartpole.xml", tmp_path / "robot.xml")
    assert [s for s in done.left_out if "residual block Nothing" in s]
    assert "residual block Nothing" in (tmp_path / "robot.xml").read_text()


def tetrahedron(path: Path, size: float) -> None:
    corners = np.array([[0, 0, 0], [size, 0, 0], [0, size, 0], [0, 0, size]], np.float32)
    content = b"\0" * 80 + struct.pack("<I", 4)
    for sides in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)):
        content += b"\0" * 12 + corners[list(sides)].tobytes() + b"\0\0"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def picture(path: Path, shade: int) -> None:
    """Two by two pixels."""
    parts = {
        b"IHDR": struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0),
        b"IDAT": zlib.compress(bytes([0, shade, shade] * 2)),
    }
    content = b"\x89PNG\r\n\x1a\n"
    for kind, part in {**parts, b"IEND": b""}.items():
        content += struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_pictures_come_along_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    sides = {f"file{side}": f"{k}.png" for k, side in enumerate(("right", "left", "up", "down", "front", "back"))}
    for k in range(7):
        picture(home / "pictures" / f"{k}.png", 30 * k)
    named = " ".join(f'{side}="{name}"' for side, name in sides.items())
    text = (MODELS / "cartpole.xml").read_text()
    asset = '<compiler texturedir="pictures"/><asset>'
    asset += f'<texture name="sky" type="skybox" {named}/><texture name="wood" type="2d" file="6.png"/></asset>'
    (home / "own.xml").write_text(text.replace("<default>", f"{asset}<default>", 1))
    model = simulators.load_model(home / "own.xml")
    simulator = MujocoSimulator(model, simulators.propose_interface(model, "cart"), built_in("cartpole").parameters)
    done = export_model(simulator, {"command.latency": 0.02}, home / "own.xml", tmp_path / "out" / "robot.xml")
    assert len(done.files) == 7
    home.rename(tmp_path / "gone")
    written = mujoco.MjModel.from_xml_path(str(tmp_path / "out" / "robot.xml"))
    assert np.array_equal(written.tex_data, model.tex_data)


def test_a_model_of_several_files_is_written_as_one_with_its_meshes_beside(tmp_path: Path) -> None:
    home = tmp_path / "home"
    tetrahedron(home / "meshes" / "part.stl", 0.1)
    tetrahedron(home / "child" / "meshes" / "part.stl", 0.2)
    (home / "child" / "child.xml").write_text(
        '<mujoco><compiler meshdir="meshes"/><asset><mesh name="part" file="part.stl"/></asset><worldbody><body name="tip">'
        '<joint name="wrist"/><geom type="mesh" mesh="part"/></body></worldbody></mujoco>'
    )
    (home / "more.xml").write_text(
        '<mujocoinclude><body name="base"><joint name="waist"/><geom type="mesh" mesh="part" contype="0"/></body>'
        "</mujocoinclude>"
    )
    (home / "main.xml").write_text(
        '<mujoco><compiler meshdir="meshes"/><asset><mesh name="part" file="part.stl"/><model name="child" '
        'file="child/child.xml"/></asset><worldbody><include file="more.xml"/><frame pos="0 1 0"><attach model="child" '
        'body="tip" prefix="c_"/></frame></worldbody><actuator><motor name="m" joint="waist" ctrlrange="-1 1"/></actuator>'
        '<sensor><jointpos name="waist.angle" joint="waist"/></sensor></mujoco>'
    )
    model = simulators.load_model(home / "main.xml")
    interface = simulators.propose_interface(model, "arm")
    simulator = MujocoSimulator(model, interface, simulators.propose_parameters(model, interface))
    params = {"base.mass": 0.4, "command.latency": 0.013}
    done = export_model(simulator, params, home / "main.xml", tmp_path / "out" / "robot.xml")
    assert len(done.files) == 2 and done.left_out == ()
    home.rename(tmp_path / "gone")
    assert largest_difference(simulator, params, tmp_path / "out" / "robot.xml") < 1e-6


def test_names_of_strangers_stay_in_the_comment(tmp_path: Path, make_simulator: Callable[..., MujocoSimulator]) -> None:
    source = tmp_path / "own.xml"
    name = "a--&gt;&lt;x/&gt;&lt;!--"
    source.write_text(
        f'<mujoco><worldbody><body name="{name}"><joint name="j"/><geom size="0.1" pos="0 0 1"/></body></worldbody>'
        '<actuator><motor joint="j" ctrlrange="-1 1"/></actuator></mujoco>'
    )
    simulator = make_simulator(source.read_text(), 0.02)
    mass = simulator.parameters[0]
    export_model(simulator, {mass.name: mass.nominal * 1.5}, source, tmp_path / "robot.xml", made_of="-->\n<x/>--")
    text = (tmp_path / "robot.xml").read_text()
    assert text.count("-->") == 1 and text.count("<!--") == 1
    assert mujoco.MjModel.from_xml_string(text).body_mass[1] == pytest.approx(mass.nominal * 1.5)


def test_what_cannot_be_written_is_refused_in_one_sentence(tmp_path: Path) -> None:
    simulator = built_in("cartpole")
    with pytest.raises(GaplessError, match=r"end in \.xml"):
        export_model(simulator, {}, MODELS / "cartpole.xml", tmp_path / "robot.urdf")
    with pytest.raises(GaplessError, match="no parameter"):
        export_model(simulator, {"wheel.mass": 1.0}, MODELS / "cartpole.xml", tmp_path / "robot.xml")
    assert not list(tmp_path.iterdir())


def test_digits_are_those_of_mujoco_again_afterwards(tmp_path: Path) -> None:
    export_model(built_in("cartpole"), {}, MODELS / "cartpole.xml", tmp_path / "robot.xml")
    spec = mujoco.MjSpec.from_file(str(MODELS / "cartpole.xml"))
    spec.compile()
    assert "0.707107 " in spec.to_xml()


def test_a_whole_inertia_is_carried_into_the_file(odd_arm: str, tmp_path: Path) -> None:
    """Ten deviations of two bodies, over a mass and a centre that differ too, as principal moments and a quaternion."""
    source = tmp_path / "arm.xml"
    source.write_text(odd_arm.replace('inertiafromgeom="true" settotalmass="1.1"', 'inertiafromgeom="auto"'))
    model = simulators.load_model(source)
    interface = simulators.propose_interface(model, "arm")
    simulator = MujocoSimulator(model, interface, simulators.propose_parameters(model, interface))
    by = (0.1, 0.2, -0.15, 0.1, 0.3, -0.2, 0.1, 0.02, -0.01, 0.03)
    params = {f"lower.{d}": v for d, v in zip(DEVIATIONS, by, strict=True)}
    params |= {"lower.mass": 0.35, "upper.s13": 0.2, "upper.t1": 0.03, "upper.com": 0.17, "command.latency": 0.02}
    done = export_model(simulator, params, source, tmp_path / "robot.xml")
    assert done.left_out == ()
    assert largest_difference(simulator, params, tmp_path / "robot.xml") < 1e-6
    assert largest_difference(simulator, {**params, "lower.s12": 0.2}, tmp_path / "robot.xml") > 1e-5
    written = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    assert written.body("lower").mass[0] == pytest.approx(0.35 * np.exp(0.2))
    assert "lower.s12 = 0.3 (nominal 0)" in (tmp_path / "robot.xml").read_text()
