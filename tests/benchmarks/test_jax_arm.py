"""The benchmark's compiled arm moves as the MuJoCo model of the data sheet, also when its load becomes another one."""

import sys
from pathlib import Path

import jax
import mujoco
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from gapless import robots
from gapless.core import Simulator
from gapless.robots.arm import INTERFACE
from gapless.simulators import MujocoSimulator, read_parameters
from jax_arm import JaxArm

PERIODS, CHANGED = 50, 25
PARAMS = {"payload.mass": 0.1, "lower.mass": 0.42, "command.latency": 0.013, "elbow.gain": 0.4}


def trail(simulator: Simulator) -> np.ndarray:
    """Both angles, period by period; from half way on the load is a heavy one."""
    start = {"shoulder.position": np.array([[0.3]]), "elbow.velocity": np.array([[-0.2]])}
    params = {name: np.full(1, value) for name, value in PARAMS.items()}
    state, seen, _ = simulator.reset(simulator.init(), np.ones(1, bool), params, start, jax.random.key(0))
    step = jax.jit(simulator.step) if simulator.traceable else simulator.step
    rows = []
    for k in range(PERIODS):
        if k == CHANGED:
            state = simulator.change(state, {"payload.mass": np.full(1, 0.5)})
        volts = {"shoulder": np.array([[5 * np.sin(k / 7)]]), "elbow": np.array([[np.cos(k / 5)]])}
        state, seen, _ = step(state, volts, jax.random.key(k))
        rows.append([float(seen[c.name][0, 0]) for c in INTERFACE.measurements])
    return np.array(rows)


def test_the_compiled_arm_agrees_with_mujoco_before_and_after_its_load_changes() -> None:
    models = Path(robots.__file__).parent / "models"
    parameters = read_parameters(models / "arm.toml")
    model = mujoco.MjModel.from_xml_path(str(models / "arm.xml"))
    one, other = trail(MujocoSimulator(model, INTERFACE, parameters)), trail(JaxArm(INTERFACE, parameters, 5))
    assert np.abs(one).max() > 0.5
    assert np.abs(one - other)[:CHANGED].max() < 2e-4
    assert np.abs(one - other).max() < 2e-3
