"""The equations of motion that compile, against MuJoCo: trees of all kinds, in double and in single precision."""

import jax
import mujoco
import numpy as np
import pytest

from gapless.core import GaplessError, Parameter, Signals, Simulator
from gapless.simulators import (
    CompiledSimulator,
    MujocoSimulator,
    compiled,
    propose_interface,
    propose_parameters,
    why_not,
)
from gapless.simulators.equations import rolling, unlike

CHAIN = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body pos="0.1 0.2 1" quat="0.9 0.1 0.3 0.2">
      <joint name="lift" type="slide" axis="0.2 0.1 1" damping="2" stiffness="30" springref="0.1" ref="0.05" frictionloss="0.7"/>
      <joint name="yaw" type="hinge" axis="0.3 0.1 1" pos="0.05 0.02 0" damping="0.3" frictionloss="0.2"/>
      <geom type="box" size="0.05 0.1 0.2" mass="1.2" contype="0"/>
      <body pos="0.3 0 0.1" euler="20 40 -10">
        <joint name="elbow" type="hinge" axis="0 1 0" pos="-0.05 0 0.02" armature="0.01" frictionloss="0.1"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.2 0.1 -0.1" mass="0.6" contype="0"/>
        <body pos="0.2 0.1 -0.1">
          <geom type="sphere" size="0.04" mass="0.3" contype="0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="lift" joint="lift" kp="80" kv="4" ctrlrange="-0.5 0.5"/>
    <motor name="yaw" joint="yaw" gear="3" ctrlrange="-2 2" forcerange="-1 1"/>
    <velocity name="elbow" joint="elbow" kv="0.4" gear="2"/>
  </actuator>
</mujoco>
"""
EXPLICIT = CHAIN.replace('<option timestep="0.002"/>', '<option timestep="0.002"><flag eulerdamp="disable"/></option>')
KUTTA = CHAIN.replace('timestep="0.002"', 'timestep="0.004" integrator="RK4"')
WORLDS, STEPS = 12, 120


@pytest.mark.parametrize(("xml", "rubbing"), [(CHAIN, 3), (CHAIN, 2), (EXPLICIT, 1), (KUTTA, 0)])
def test_open_loops_are_mujocos(xml: str, rubbing: int) -> None:
    for loss in (' frictionloss="0.1"', ' frictionloss="0.2"', ' frictionloss="0.7"')[: 3 - rubbing]:
        xml = xml.replace(loss, "")
    simulator = _simulator(xml).with_worlds(WORLDS)
    model, params = simulator.model, _drawn(simulator)
    names = tuple(p.name for p in simulator.physical if not p.name.endswith(".friction"))
    own = rolling(model, names)
    assert own is not None
    params = {name: values for name, values in params.items() if name in names}
    rng = np.random.default_rng(1)
    control = rng.normal(0, 1.5, (WORLDS, STEPS // 10, model.nu)).repeat(10, axis=1)
    state = _begun(simulator, params)
    state.batch.bind("qfrc_applied")[:] = rng.normal(0, 0.1, (WORLDS, model.nv))
    begun = state.batch.state[:, 1 : 1 + model.nq + model.nv].copy()
    applied = state.batch.bind("qfrc_applied").copy()
    theirs = state.batch.rollout(STEPS, control, record=("qpos", "qvel"))
    ours = own.roll(state.params, begun[:, : model.nq], begun[:, model.nq :], control, applied)
    for mine, name in zip(ours, ("qpos", "qvel"), strict=True):
        off, size = np.abs(mine - theirs[name]), np.abs(theirs[name]).max()
        assert off[:, 0].max() < 1e-7 * size  # MuJoCo's solver stops near the answer, and is not exact
        assert off.max() < 2e-4 * size


def test_a_compiled_simulator_moves_as_mujoco_does_in_every_world() -> None:
    simulator = _simulator(EXPLICIT).with_worlds(WORLDS)
    assert why_not(simulator) is None
    trails = [_stepped(s, _drawn(simulator)) for s in (simulator, CompiledSimulator(simulator))]
    assert trails[0].keys() == trails[1].keys()
    assert all(np.abs(trails[0][k] - trails[1][k]).max() < 1e-3 * (1 + np.abs(trails[0][k]).max()) for k in trails[0])


def test_many_worlds_are_rolled_block_by_block_and_none_is_mixed_up() -> None:
    simulator = _simulator(CHAIN)
    own = rolling(simulator.model, ())
    assert own is not None
    rng, nv = np.random.default_rng(2), simulator.model.nv
    rows = [rng.normal(0, 0.3, shape) for shape in ((600, nv), (600, nv), (600, 20, simulator.model.nu), (600, nv))]
    whole, alone = own.roll({}, *rows), own.roll({}, *(r[550:551] for r in rows))
    assert whole[0].shape == (600, 20, nv)
    assert all(np.array_equal(w[550:551], a) for w, a in zip(whole, alone, strict=True))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (('axis="0 1 0"', 'axis="0 1 0" range="-10 10" limited="true"'), "limits of joints"),
        (('name="elbow" type="hinge" axis="0 1 0"', 'name="elbow" type="ball"'), "joints"),
        (('timestep="0.002"', 'timestep="0.002" integrator="implicit"'), "integrator"),
        (('timestep="0.002"', 'timestep="0.002" density="1.2"'), "fluid"),
        (('contype="0"', ""), "contacts"),
    ],
    ids=["limits", "ball", "implicit", "air", "contacts"],
)
def test_what_is_not_compiled_is_named(change: tuple[str, str], what: str) -> None:
    xml = CHAIN.replace('<velocity name="elbow" joint="elbow" kv="0.4" gear="2"/>', "").replace(*change)
    found = unlike(mujoco.MjModel.from_xml_string(xml))
    assert found is not None and what in found


def test_drag_is_mujocos_where_nothing_is_damped_implicitly(cartpole: MujocoSimulator) -> None:
    drag = Parameter("slider.drag", "N s²/m²", 0.0, 0.0, 8.0, "friction")
    simulator = MujocoSimulator(cartpole.model, cartpole.interface, (*cartpole.parameters, drag), WORLDS)
    own, state = (
        rolling(simulator.model, tuple(p.name for p in simulator.physical)),
        _begun(simulator, _drawn(simulator)),
    )
    assert own is not None and own.holds(state.params)
    rows = state.batch.state[:, 1:5].copy()
    control = np.random.default_rng(1).uniform(-9, 9, (WORLDS, 1, 1)).repeat(40, axis=1)
    theirs = state.batch.rollout(40, control, record=("qpos",))["qpos"]
    ours = own.roll(state.params, rows[:, :2], rows[:, 2:], control, np.zeros((WORLDS, 2)))[0]
    assert np.abs(ours - theirs).max() < 1e-5
    assert np.abs(ours - own.roll(state.params | {"slider.drag": np.zeros(WORLDS)}, rows[:, :2], rows[:, 2:], control,
                                  np.zeros((WORLDS, 2)))[0]).max() > 0.01  # fmt: skip


def test_a_parameter_that_no_equation_has_keeps_mujoco(cartpole: MujocoSimulator) -> None:
    whole = Parameter("cart.alpha", "", 0.0, -0.2, 0.2, "inertia")
    stubborn = MujocoSimulator(cartpole.model, cartpole.interface, (*cartpole.parameters, whole))
    assert why_not(stubborn) is None
    assert why_not(stubborn, ["cart.alpha"]) == "the parameter cart.alpha"
    assert compiled(stubborn, ["cart.alpha"]) is stubborn
    with pytest.raises(GaplessError, match=r"cart\.alpha"):
        held = compiled(stubborn)
        held.reset(held.init(), np.ones(1, bool), {"cart.alpha": np.ones(1)}, {}, jax.random.key(0))


def _simulator(xml: str) -> MujocoSimulator:
    model = mujoco.MjModel.from_xml_string(xml)
    interface = propose_interface(model, "chain", 0.02)
    return MujocoSimulator(model, interface, propose_parameters(model, interface))


def _drawn(simulator: Simulator) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    known = [p for p in simulator.parameters if not p.name.endswith(".noise")]
    return {p.name: rng.uniform(p.low, p.high, WORLDS) for p in known if p.free}


def _start(simulator: Simulator) -> Signals:
    rng = np.random.default_rng(4)
    return {
        f"{j}.{side}": rng.normal(0, 0.4, (WORLDS, 1)) for j in simulator.joints for side in ("position", "velocity")
    }


def _begun(simulator: MujocoSimulator, params: dict[str, np.ndarray]):
    return simulator.reset(simulator.init(), np.ones(WORLDS, bool), params, _start(simulator), jax.random.key(0))[0]


def _stepped(simulator: Simulator, params: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    rng, step = np.random.default_rng(5), jax.jit(simulator.step) if simulator.traceable else simulator.step
    begun = simulator.reset(simulator.init(), np.ones(WORLDS, bool), params, _start(simulator), jax.random.key(0))
    state, rows = begun[0], [begun[2]]
    for _ in range(8):
        command = {c.name: rng.normal(0, 1, (WORLDS, c.width)) for c in simulator.interface.commands}
        state, _, true = step(state, command, jax.random.key(0))
        rows.append({k: np.array(v) for k, v in true.items()})
    return {k: np.array([np.asarray(row[k]) for row in rows]) for k in rows[0]}
