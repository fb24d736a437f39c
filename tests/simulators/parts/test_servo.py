"""Motors keep within their volts and amperes, friction sticks, gears have play: numbers worked out by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.simulators.parts.friction import LAWS, Friction, FrictionLaw, budget
from gapless.simulators.parts.servo import MOTOR, DcMotor, IdealPD
from gapless.simulators.parts.transmission import Backlash, Compliance, Latency

KEY = jax.random.key(0)
PARAMS = {p.name: jnp.asarray(p.nominal) for p in MOTOR} | {
    "motor.gain": jnp.asarray(2.0),
    "motor.constant": jnp.asarray(0.5),
    "motor.resistance": jnp.asarray(4.0),
    "motor.supply": jnp.asarray(12.0),
    "motor.sag": jnp.asarray(0.0),
    "motor.current": jnp.asarray(2.5),
}


def exerted(inputs: dict[str, float], **changes: float) -> float:
    params = PARAMS | {f"motor.{k}": jnp.asarray(v) for k, v in changes.items()}
    held = {k: jnp.asarray(v) for k, v in inputs.items()}
    return float(DcMotor().step(params, None, held, 0.001, KEY)[1]["torque"])


def test_an_ideal_pd_has_no_limit() -> None:
    params = {"pd.stiffness": 10.0, "pd.damping": 2.0, "pd.bias": 0.0}
    _, out = IdealPD().step(params, None, {"target": 5.0, "position": 1.0, "velocity": 3.0}, 0.001, KEY)
    assert out["torque"] == 10 * 4 - 2 * 3


def test_a_motor_is_proportional_then_limited_by_volts_then_by_current() -> None:
    # 2 · 0.1 of duty · 12 V / 4 Ω · 0.5 N m/A.
    assert exerted({"target": 0.1, "position": 0.0, "velocity": 0.0}) == pytest.approx(0.3)
    # Full duty would be 3 A, and 2.5 A are allowed.
    assert exerted({"target": 9.0, "position": 0.0, "velocity": 0.0}) == pytest.approx(1.25)
    assert exerted({"target": 9.0, "position": 0.0, "velocity": 0.0}, current=5.0) == pytest.approx(1.5)


def test_back_emf_leaves_no_torque_at_the_speed_without_load() -> None:
    assert exerted({"target": 9.0, "position": 0.0, "velocity": 24.0}) == pytest.approx(0.0)


def test_a_weak_supply_sags_with_the_square_of_the_duty() -> None:
    # Duty 1: 12 V over 4 + 2 Ω; duty 0.2: 2.4 V over 4 + 0.08 Ω.
    assert exerted({"target": 9.0, "position": 0.0, "velocity": 0.0}, sag=2.0) == pytest.approx(0.5 * 2.0)
    assert exerted({"target": 0.1, "position": 0.0, "velocity": 0.0}, sag=2.0) == pytest.approx(0.5 * 2.4 / 4.08)


def test_a_motor_that_is_switched_off_exerts_nothing() -> None:
    assert exerted({"target": 9.0, "position": 0.0, "velocity": 5.0, "enabled": 0.0}) == 0.0


def resisted(law: str, torque: float, velocity: float, load: float = 0.0) -> float:
    params = {p.name: jnp.asarray(p.nominal) for p in LAWS[law].parameters}
    inputs = {"torque": torque, "load": load, "velocity": velocity, "inertia": 0.01}
    held = {k: jnp.asarray(v) for k, v in inputs.items()}
    return float(Friction(LAWS[law]).step(params, None, held, 0.001, KEY)[1]["friction"])


@pytest.mark.parametrize("law", ["m1", "m4", "m6"])
def test_friction_holds_what_is_pushed_weakly_and_opposes_what_moves(law: str) -> None:
    assert resisted(law, 0.01, 0.0) == pytest.approx(-0.01)
    assert resisted(law, 0.0, 2.0) < 0 < resisted(law, 0.0, -2.0)


@pytest.mark.parametrize("law", ["m1", "m4", "m6"])
def test_friction_never_turns_a_joint_back(law: str) -> None:
    # One step of 1 ms at 0.01 kg m²: stopping 0.0005 rad/s takes 0.005 N m, less than any budget here.
    friction = resisted(law, 0.0, 0.0005)
    assert 0.0005 + friction * 0.001 / 0.01 == pytest.approx(0.0, abs=1e-9)


def test_stribeck_friction_fades_with_speed_and_load_presses_teeth() -> None:
    def of(law: str, motor: float, outside: float, velocity: float) -> float:
        params = {p.name: jnp.asarray(p.nominal) for p in LAWS[law].parameters}
        return float(budget(LAWS[law], params, *map(jnp.asarray, (motor, outside, velocity))))

    assert of("m2", 0, 0, 0.01) > of("m2", 0, 0, 1.0)
    # Coulomb 0.02, viscous 0.005 · 1, load 0.05 · |−1 − 2|.
    assert of("m3", 2.0, -1.0, 1.0) == pytest.approx(0.02 + 0.005 + 0.15)
    assert of("m6", 2.0, -1.0, 0.0) > of("m5", 2.0, -1.0, 0.0)


def test_a_law_with_terms_that_need_others_is_refused() -> None:
    with pytest.raises(GaplessError, match="directional"):
        FrictionLaw(directional=True)


def test_backlash_follows_only_at_the_edge_of_its_gap() -> None:
    block, params = Backlash(), {"gear.gap": jnp.asarray(0.2)}
    memory, seen = block.init(KEY), []
    for target in (0.0, 0.05, 0.3, 0.25, 0.0):
        memory, out = block.step(params, memory, {"target": jnp.asarray(target)}, 0.001, KEY)
        seen.append(float(out["target"]))
    np.testing.assert_allclose(seen, [0.0, 0.0, 0.2, 0.2, 0.1], atol=1e-6)


@pytest.mark.parametrize("dt_s", [0.002, 0.02])
def test_latency_is_in_seconds_whatever_the_step(dt_s: float) -> None:
    block, params = Latency(), {"command.latency": jnp.asarray(0.037)}
    times = jnp.arange(round(0.3 / dt_s) + 1) * dt_s
    _, seen = jax.lax.scan(lambda m, t: block.step(params, m, {"target": 2 * t}, dt_s, KEY), block.init(KEY), times)
    assert float(seen["target"][-1]) == pytest.approx(2.0 * (float(times[-1]) - 0.037), abs=1e-4)


def test_a_compliant_gear_hands_on_the_torque_in_the_end_and_less_at_first() -> None:
    params = {"gear.stiffness": 50.0, "gear.damping": 0.5, "gear.rotor": 0.01}
    inputs = {"torque": jnp.asarray(1.0), "position": jnp.asarray(0.3), "velocity": jnp.asarray(0.0)}
    gear = Compliance()
    memory, out = jax.lax.scan(lambda m, _: gear.step(params, m, inputs, 0.001, KEY), gear.init(KEY), length=4000)
    assert float(out["torque"][0]) < 0.2
    assert float(out["torque"][-1]) == pytest.approx(1.0, abs=1e-3)
    assert float(memory["angle"]) == pytest.approx(0.3 + 1 / 50, abs=1e-3)
