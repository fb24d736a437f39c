"""Ten free numbers make a body: always one that could be built, the nominal one at zero, and the one that MuJoCo compiles."""

from collections.abc import Callable
from dataclasses import replace

import jax
import mujoco
import numpy as np
import pytest
from mujoco.batch import Batch

from gapless.core import GaplessError, Parameter
from gapless.simulators import MujocoSimulator
from gapless.simulators.binding import bind
from gapless.simulators.log_cholesky import DEVIATIONS, FIELDS, Inertia, deformed, read_inertia, write_inertia

TOP = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body name="arm">
      <joint name="pan" axis="0 0 1"/>
      <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02" mass="0.3"/>
      <body name="top" pos="0.2 0 0" euler="10 20 30">
        <joint name="roll" axis="1 0 0"/>
        <joint name="tilt" axis="0 1 0"/>
        <inertial pos="0.02 0.01 -0.15" mass="0.5" fullinertia="0.006 0.007 0.004 0.0005 -0.0004 0.0003"/>
        <geom name="ball" size="0.03" pos="0 0 -0.1" contype="0" conaffinity="0"/>
      </body>
    </body>
    <body name="puck" pos="0 0 1"><freejoint/><geom type="cylinder" size="0.1 0.02" mass="0.2"/></body>
  </worldbody>
  <actuator><motor name="motor" joint="pan" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
TOP_BODY, PUCK = 2, 3
SOME = dict(zip(DEVIATIONS, (0.1, 0.2, -0.15, 0.1, 0.3, -0.2, 0.1, 0.02, -0.01, 0.03), strict=True))


@pytest.fixture(scope="module")
def top(make_simulator: Callable[..., MujocoSimulator]) -> MujocoSimulator:
    return make_simulator(TOP)


def draws(count: int, size: float = 1.0) -> np.ndarray:
    return np.random.default_rng(0).normal(0, size, (count, len(DEVIATIONS)))


def nominal(model: mujoco.MjModel, body: int, count: int = 1) -> Inertia:
    return read_inertia(Batch(model, count, 1), np.arange(count), body)


def pseudo_inertia(body: Inertia) -> np.ndarray:
    """The integral of (x, 1)(x, 1)ᵀ over the mass, about the frame's origin."""
    centred = np.trace(body.tensor, axis1=1, axis2=2)[:, None, None] / 2 * np.eye(3) - body.tensor
    first, whole = body.mass[:, None] * body.centre, np.zeros((len(body.mass), 4, 4))
    whole[:, :3, :3] = centred + body.centre[:, :, None] * first[:, None, :]
    whole[:, :3, 3], whole[:, 3, :3], whole[:, 3, 3] = first, first, body.mass
    return whole


def with_params(simulator: MujocoSimulator, params: dict[str, float]) -> mujoco.MjModel:
    """The model of one world with these parameters."""
    values = {name: np.full(1, v) for name, v in params.items()}
    state, _, _ = simulator.reset(simulator.init(), np.ones(1, bool), values, {}, jax.random.key(0))
    return state.batch.get_model(0)


@pytest.mark.parametrize("size", [0.3, 1.0, 2.0])
def test_any_ten_numbers_are_a_body_that_could_be_built(top: MujocoSimulator, size: float) -> None:
    found = deformed(nominal(top.model, TOP_BODY, 4000), draws(4000, size))
    scale = 1 / np.sqrt(np.einsum("nii->ni", pseudo_inertia(found)))
    assert np.linalg.eigvalsh(pseudo_inertia(found) * scale[:, :, None] * scale[:, None, :]).min() > 0
    a, b, c = np.linalg.eigvalsh(found.tensor).T
    assert (a > 0).all() and (a + b > c * (1 - 1e-9)).all()
    assert np.ptp(found.mass) > 0.1 and np.ptp(found.centre) > 0.1


def test_what_is_written_is_what_was_meant(top: MujocoSimulator) -> None:
    batch, worlds = Batch(top.model, 500, 1), np.arange(500)
    meant = deformed(read_inertia(batch, worlds, TOP_BODY), draws(500, 0.5))
    write_inertia(batch, worlds, TOP_BODY, meant)
    for expected, found in zip(meant, read_inertia(batch, worlds, TOP_BODY), strict=True):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert np.linalg.norm(batch.expand("body_iquat")[:, TOP_BODY], axis=1) == pytest.approx(np.ones(500))


def test_mass_centre_and_spread_worked_out_by_hand() -> None:
    """Two point masses of 1 kg at x = ±1 m, made twice as far apart, e times as heavy and moved by 0.5 m along y."""
    pair = Inertia(np.array([2.0]), np.zeros((1, 3)), np.diag([0.0, 2.0, 2.0])[None])
    by = np.zeros((1, 10))
    by[0, [0, 1, 8]] = 0.5, np.log(2), 0.5
    found = deformed(pair, by)
    assert found.mass[0] == pytest.approx(2 * np.e)
    assert found.centre[0] == pytest.approx([0, 0.5, 0])
    assert found.tensor[0] == pytest.approx(np.diag([0, 8 * np.e, 8 * np.e]))


def test_a_shear_leans_a_rod() -> None:
    """A rod along z of which each point moves by s13 z along x lies along (s13, 0, 1)."""
    rod = Inertia(np.ones(1), np.zeros((1, 3)), np.diag([1.0, 1.0, 0.0])[None])
    by = 0.3 * (np.array(DEVIATIONS) == "s13")[None]
    along = np.array([0.3, 0, 1])
    assert deformed(rod, by).tensor[0] @ along == pytest.approx(np.zeros(3))


def test_zero_is_the_nominal_body_to_the_last_bit(top: MujocoSimulator) -> None:
    deviating = with_params(top, {f"top.{d}": v for d, v in SOME.items()})
    assert not np.allclose(deviating.body_inertia[TOP_BODY], top.model.body_inertia[TOP_BODY])
    state = top.init()
    for params in (SOME, dict.fromkeys(SOME, 0.0)):
        values = {f"top.{d}": np.full(1, v) for d, v in params.items()}
        top.reset(state, np.ones(1, bool), values, {}, jax.random.key(0))
    for field in (*FIELDS, "body_subtreemass", "dof_invweight0", "body_sameframe", "geom_sameframe"):
        assert np.array_equal(getattr(state.batch.get_model(0), field), getattr(top.model, field)), field


def compiled(top: MujocoSimulator) -> mujoco.MjModel:
    """The same body, written as a full inertia into the model's text."""
    mass, centre, tensor = deformed(nominal(top.model, TOP_BODY), np.array([list(SOME.values())]))
    spec = mujoco.MjSpec.from_string(TOP)
    body, t = spec.body("top"), tensor[0]
    body.mass, body.ipos = mass[0], centre[0]
    body.fullinertia = [t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]]
    return spec.compile()


def test_the_body_moves_as_the_one_that_mujoco_compiles_from_the_same_numbers(top: MujocoSimulator) -> None:
    ends = []
    for model in (with_params(top, {f"top.{d}": v for d, v in SOME.items()}), compiled(top), top.model):
        state = mujoco.MjData(model)
        state.qpos[:3] = 0.3, 0.5, -0.4
        state.ctrl[:] = 0.3
        mujoco.mj_step(model, state, 200)
        ends.append(np.concatenate([state.qpos[:3], state.geom("ball").xpos]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
    assert np.abs(ends[0] - ends[2]).max() > 0.05


def test_mujocos_own_constants_follow(top: MujocoSimulator) -> None:
    found, expected = with_params(top, {f"top.{d}": v for d, v in SOME.items()}), compiled(top)
    for field in ("body_subtreemass", "body_invweight0", "dof_invweight0", "dof_M0"):
        assert getattr(found, field) == pytest.approx(getattr(expected, field), rel=1e-9), field


def test_deviations_are_from_the_body_that_mass_and_centre_make(top: MujocoSimulator) -> None:
    plain = with_params(top, {"top.mass": 0.8, "top.com": 0.2})
    deviating = with_params(top, {"top.alpha": 0.2, "top.t1": 0.05, "top.mass": 0.8, "top.com": 0.2})
    assert deviating.body_mass[TOP_BODY] == pytest.approx(0.8 * np.exp(0.4))
    assert deviating.body_ipos[TOP_BODY] == pytest.approx(plain.body_ipos[TOP_BODY] + [0.05, 0, 0])
    assert deviating.body_inertia[TOP_BODY] == pytest.approx(np.exp(0.4) * plain.body_inertia[TOP_BODY], rel=1e-9)


def test_what_was_said_before_of_a_body_stays_when_one_number_changes(top: MujocoSimulator) -> None:
    two, state = top.with_worlds(2), top.with_worlds(2).init()
    for where, params in (
        ((1, 1), {"top.d1": 0.2, "top.mass": 0.8}),
        ((0, 1), {"top.s12": 0.3}),
        ((0, 1), {"top.mass": 0.7}),
    ):
        two.reset(state, np.array(where, bool), {n: np.full(2, v) for n, v in params.items()}, {}, jax.random.key(0))
    alone = with_params(top, {"top.d1": 0.2, "top.mass": 0.8})
    both = with_params(top, {"top.d1": 0.2, "top.mass": 0.7, "top.s12": 0.3})
    for world, expected in enumerate((alone, both)):
        assert state.batch.get_model(world).body_inertia == pytest.approx(expected.body_inertia, rel=1e-12)


def test_bodies_that_mujoco_takes_for_simple_can_be_stretched_and_say_how_to_be_moved(top: MujocoSimulator) -> None:
    names = [p.name for p in top.parameters if p.name.startswith("puck.")]
    assert "puck.d1" in names and "puck.t1" not in names
    wider = with_params(top, {"puck.alpha": 0.1, "puck.d1": 0.2})
    assert wider.body_iquat[PUCK] == pytest.approx([1, 0, 0, 0])
    assert wider.body_inertia[PUCK, 0] == pytest.approx(np.exp(0.2) * top.model.body_inertia[PUCK, 0])
    with pytest.raises(GaplessError, match=r"body 'puck' for a centre .* never move\. Write <body simple=\"false\">"):
        bind(top.model, "puck.t1")
    with pytest.raises(GaplessError, match="never move"):
        bind(top.model, "puck.com_x")
    movable = mujoco.MjModel.from_xml_string(TOP.replace('name="puck"', 'name="puck" simple="false"'))
    assert bind(movable, "puck.t1").nominal == 0


def test_a_single_binding_moves_the_body_by_its_own_number(top: MujocoSimulator) -> None:
    batch = Batch(top.model, 2, 1)
    bind(top.model, "top.d3").write(batch, np.array([1]), np.array([0.2]))
    assert batch.expand("body_mass")[:, TOP_BODY] == pytest.approx([0.5, 0.5])
    expected = deformed(nominal(top.model, TOP_BODY), 0.2 * (np.array(DEVIATIONS) == "d3")[None])
    assert read_inertia(batch, np.array([1]), TOP_BODY).tensor == pytest.approx(expected.tensor)


@pytest.mark.parametrize(("one", "other"), [("mass", "alpha"), ("inertia", "d2"), ("com", "t3"), ("com_x", "t1")])
def test_what_would_be_said_twice_is_refused(top: MujocoSimulator, one: str, other: str) -> None:
    doubted = [Parameter(f"top.{q}", "", bind(top.model, f"top.{q}").nominal, -9, 9, "inertia") for q in (one, other)]
    with pytest.raises(GaplessError, match=rf"'top.{one}' and 'top.{other}' are both free .* Set free = false"):
        MujocoSimulator(top.model, top.interface, tuple(doubted))
    MujocoSimulator(top.model, top.interface, (replace(doubted[0], free=False), doubted[1]))


def test_none_of_the_ten_is_free_until_somebody_says_so(top: MujocoSimulator) -> None:
    proposed = {p.name: p for p in top.parameters if p.name.startswith("top.") and p.name[4:] in DEVIATIONS}
    assert len(proposed) == 10 and not any(p.free for p in proposed.values())
    assert proposed["top.t1"].unit == "m"
    # Half a radius of gyration either way: sqrt(0.017 / 2 / 0.5) m.
    assert proposed["top.t1"].high == pytest.approx(np.sqrt(0.0085 / 0.5) / 2)
