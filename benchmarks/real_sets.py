"""The pendulum-like machines: their models, what may be fitted, and which logs are learned from and which are held out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from gapless.core import Log, Parameter
from gapless.learn.anchored import Anchored
from gapless.simulators import MujocoSimulator
from recordings import MACHINES, UNUSED, Machine, motion

UNITS = {
    "inertia": ("", "inertia"), "mass": ("kg", "inertia"), "com": ("m", "inertia"), "armature": ("kg m²", "inertia"),
    "damping": ("N m s/rad", "friction"), "friction": ("N m", "friction"), "drag": ("N m s²/rad²", "friction"),
    "stiffness": ("N m/rad", "friction"), "springref": ("rad", "friction"), "gain": ("N m/unit", "actuation"),
    "bias": ("N m", "actuation"), "latency": ("s", "latency"), "tilt_x": ("rad", "inertia"), "tilt_y": ("rad", "inertia"),
}  # fmt: skip
Split = Callable[[list[Log]], tuple[list[Log], list[Log]]]


@dataclass(frozen=True)
class Set:
    """One machine of the table."""

    machine: Machine
    shared: tuple[Parameter, ...]
    """What both `mujoco.sysid` and ours may move, with the values both start from."""
    more: tuple[Parameter, ...]
    """What the data sheet does not mention and ours may move too."""
    split: Split
    """Logs of the training file → those learned from and those held out."""
    recipe: Anchored
    expected_s: float
    """How long our fit takes on two free cores."""
    step_s: float = 0.004
    """Time step of what is fitted, with RK4: a first-order step would change the measured rate by half a step's acceleration."""
    every_s: float = 1.0
    """Windows begin so often."""
    absolute: bool = False
    """Whether the scores are of absolute angles where the joints' are relative."""
    whole: bool = False
    """Whether whole logs are scored too."""
    by_folds: bool = False
    """Whether left-out training logs choose how long windows are; else the recipe says it."""
    driven: bool = False
    """Whether forces beside the physics are learned too."""
    groups: dict[str, Callable[[Log], bool]] = field(default_factory=dict)
    """Parts of the held-out logs that have a row of their own."""


def make_spec(machine: Machine, file: Path, step_s: float | None = None) -> mujoco.MjSpec:
    """The model file with a sensor for every joint, motors that may have a bias, and a motor where there is none."""
    spec = mujoco.MjSpec.from_file(str(file))
    if machine.commands == (UNUSED,):
        spec.add_actuator(name=UNUSED, target=machine.joints[0], trntype=mujoco.mjtTrn.mjTRN_JOINT)
    for actuator in spec.actuators:
        actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    for channel in machine.interface.measurements:
        joint, _, quantity = channel.name.rpartition(".")
        kind = mujoco.mjtSensor.mjSENS_JOINTPOS if quantity == "position" else mujoco.mjtSensor.mjSENS_JOINTVEL
        spec.add_sensor(name=channel.name, type=kind, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=joint)
    if step_s is not None:
        spec.option.timestep, spec.option.integrator = step_s, mujoco.mjtIntegrator.mjINT_RK4
    return spec


def make_simulator(machine: Machine, spec: mujoco.MjSpec, parameters: tuple[Parameter, ...] = ()) -> MujocoSimulator:
    return MujocoSimulator(spec.compile(), machine.interface, parameters)


def authors_spec(machine: Machine, file: Path, numbers: Path) -> mujoco.MjSpec:
    """The double pendulum of the authors' parameter file; its Coulomb torque saturates at coefficient × π/2."""
    lines = (line.split(":") for line in numbers.read_text().splitlines() if ":" in line)
    v = {key.strip(): float(value) for key, value in lines}
    spec = make_spec(machine, file)
    inertias = (v["I1"] - v["m1"] * v["r1"] ** 2, v["I2"] - 6 * v["Ir"] - v["m2"] * v["r2"] ** 2)
    for link, inertia, rotors in zip("12", inertias, (43, 42), strict=True):
        body, joint = spec.body(f"link{link}"), spec.joint(f"q{link}")
        body.mass, body.ipos, body.inertia = v[f"m{link}"], [0, 0, -v[f"r{link}"]], [inertia, inertia, 1e-4]
        joint.armature, joint.frictionloss = rotors * v["Ir"], v[f"cf{link}"] * np.pi / 2
        joint.damping[0] = v[f"b{link}"]
    spec.body("link2").pos = [0, 0, -v["l1"]]
    return spec


def _parameters(*listed: tuple[str, float, float, float]) -> tuple[Parameter, ...]:
    found = []
    for name, nominal, low, high in listed:
        unit, family = UNITS[name.rpartition(".")[2]]
        found.append(Parameter(name, unit, nominal, low, high, family))
    return tuple(found)


def _repeats(unseen: tuple[str, ...]) -> Split:
    """Held out: every log of the unseen motions, and the last repeat of each other motion."""

    def split(logs: list[Log]) -> tuple[list[Log], list[Log]]:
        by: dict[str, list[Log]] = {}
        for log in logs:
            by.setdefault(str(log.source["log"]).rpartition(".")[0], []).append(log)
        held = {id(log) for name, mine in by.items() for log in (mine if name in unseen else mine[-1:])}
        return [log for log in logs if id(log) not in held], [log for log in logs if id(log) in held]

    return split


def _last_quarter(logs: list[Log]) -> tuple[list[Log], list[Log]]:
    cut = 3 * len(logs) // 4
    return logs[:cut], logs[cut:]


def _same_design(logs: list[Log]) -> tuple[list[Log], list[Log]]:
    """The identification runs of the design that the swing-ups were made with."""
    return [log for log in logs if motion(log) not in ("sysid_C0", "sysid_A0")], []


def _is(word: str) -> Callable[[Log], bool]:
    return lambda log: word in str(log.source["log"])


LATENCY = ("command.latency", 0.004, 0.0, 0.03)
TILTS = (("gravity.tilt_x", 0.0, -0.03, 0.03), ("gravity.tilt_y", 0.0, -0.03, 0.03))
CHIRPS = {"chirps": _is("chirp"), "swing-ups": _is("swingup")}
SETS = {
    "furuta": Set(
        MACHINES["furuta"],
        _parameters(
            ("arm.inertia", 1.0, 0.5, 4.0), ("pendulum.inertia", 1.0, 0.5, 2.0), ("pendulum.com", 0.0645, 0.05, 0.08),
            ("theta.damping", 5e-6, 0.0, 5e-4), ("theta.friction", 0.0, 0.0, 2e-3),
            ("alpha.damping", 1e-6, 0.0, 4e-5), ("alpha.friction", 0.0, 0.0, 2e-4),
            ("voltage.gain", 0.005, 0.003, 0.008), ("voltage.damping", 0.00021, 0.0, 6e-4), LATENCY,
        ),
        _parameters(
            ("theta.stiffness", 0.0, 0.0, 6e-3), ("theta.springref", 0.0, -0.3, 0.3), ("voltage.bias", 0.0, -1e-3, 1e-3),
            *TILTS,
        ),
        _repeats(("chirp_neg", "swingup_10s")), Anchored(windows=60, iterations=14), 60.0, groups=CHIRPS, driven=True,
    ),
    "cartpole": Set(
        MACHINES["cartpole"],
        _parameters(
            ("cart.mass", 0.38, 0.2, 2.0), ("pole.inertia", 1.0, 0.5, 2.0), ("pole.com", 0.16825, 0.14, 0.2),
            ("x.damping", 5.4, 0.0, 12.0), ("x.friction", 0.0995, 0.0, 4.0),
            ("theta.damping", 0.0024, 0.0, 0.006), ("theta.friction", 0.0, 0.0, 0.004),
            ("voltage.gain", 1.256463, 0.6, 3.0), LATENCY,
        ),
        _parameters(
            ("voltage.bias", 0.0, -0.6, 0.6), ("x.stiffness", 0.0, 0.0, 4.0), ("x.springref", 0.0, -0.1, 0.1),
            ("x.drag", 0.0, 0.0, 8.0),
        ),
        _repeats(("chirp_neg",)), Anchored(windows=60, iterations=14), 60.0, groups=CHIRPS, driven=True,
    ),
    "double_pendulum": Set(
        MACHINES["double_pendulum"],
        _parameters(
            ("link1.mass", 0.54762, 0.3, 0.8), ("link1.inertia", 1.0, 0.3, 12.0), ("link2.mass", 0.59786, 0.4, 0.8),
            ("link2.inertia", 1.0, 0.5, 2.0), ("link2.com", 0.275, 0.2, 0.35),
            ("q1.damping", 0.011, 0.0, 0.05), ("q2.damping", 0.0044, 0.0, 0.05),
            ("q1.friction", 0.146, 0.0, 0.5), ("q2.friction", 0.121, 0.0, 0.5),
            ("q2.armature", 0.00264, 0.0, 0.015), LATENCY,
        ),
        (),  # no gains: in the training logs tau_meas is tau_con less the rotor's inertia, within 1 %
        _same_design, Anchored(windows=300, iterations=12, share=0.04, loose=6.0), 150.0, by_folds=True,
        groups={"pendubot": _is("pendubot"), "acrobot": _is("acrobot")}, driven=True,
    ),
    "wam_arm": Set(
        MACHINES["wam_arm"],
        _parameters(
            *((f"j{j}.damping", 0.05, 0.0, 2.0 if j < 5 else 0.5) for j in range(1, 8)),
            *((f"j{j}.friction", 0.4, 0.0, 4.0 if j < 5 else 1.0) for j in range(1, 8)),
            LATENCY,
        ),
        _parameters(*((f"j{j}.armature", 0.0, 0.0, 0.4 if j < 5 else 0.05) for j in range(1, 8))),
        _repeats(("sine_neg",)), Anchored(0.4, 0.2, 0.5, 24, 8), 100.0, step_s=0.002, whole=True,
    ),
    "free_double_pendulum": Set(
        MACHINES["free_double_pendulum"],
        _parameters(
            ("arm1.mass", 0.09384, 0.06, 0.13), ("arm1.com", 0.10857, 0.08, 0.14), ("arm1.inertia", 1.0, 0.6, 1.5),
            ("arm2.com", 0.11678, 0.09, 0.15), ("arm2.inertia", 1.0, 0.6, 1.5),
            ("q1.damping", 2.371e-4, 0.0, 1e-3), ("q2.damping", 1e-5, 0.0, 2e-4), ("q1.friction", 0.0, 0.0, 2e-3),
            ("q2.friction", 0.0, 0.0, 1e-3),
        ),
        _parameters(("q1.drag", 0.0, 0.0, 2e-4), ("q2.drag", 0.0, 0.0, 1e-4), TILTS[0]),
        _last_quarter, Anchored(0.6, 0.2, 0.5, 40, 10), 40.0, step_s=0.002, absolute=True, whole=True,
    ),
    "free_triple_pendulum": Set(
        MACHINES["free_triple_pendulum"],
        _parameters(
            ("arm1.mass", 0.25817, 0.18, 0.34), ("arm1.com", 0.16, 0.12, 0.2), ("arm1.inertia", 1.0, 0.3, 3.0),
            ("arm2.mass", 0.27943, 0.2, 0.36), ("arm2.com", 0.20294, 0.15, 0.26), ("arm2.inertia", 1.0, 0.3, 3.0),
            ("arm3.com", 0.18371, 0.14, 0.23), ("arm3.inertia", 1.0, 0.3, 3.0),
            ("q1.damping", 1.477e-3, 0.0, 4e-3), ("q2.damping", 2.596e-4, 0.0, 1e-3), ("q3.damping", 1e-5, 0.0, 2e-4),
            ("q1.friction", 0.0, 0.0, 4e-3), ("q2.friction", 0.0, 0.0, 2e-3), ("q3.friction", 0.0, 0.0, 1e-3),
        ),
        _parameters(("q1.drag", 0.0, 0.0, 2e-4), ("q2.drag", 0.0, 0.0, 1e-4), ("q3.drag", 0.0, 0.0, 1e-4), TILTS[0]),
        _last_quarter, Anchored(0.5, 0.2, 0.4, 40, 10), 60.0, step_s=0.002, every_s=0.5, absolute=True, whole=True,
    ),
}  # fmt: skip
