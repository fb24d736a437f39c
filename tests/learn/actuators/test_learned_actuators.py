"""Hidden friction comes out of motion alone and of measured torque; a rung is taken only where it wins; all of it is stored."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import pytest

from gapless.cli import main
from gapless.core import Chain, GaplessError, Params
from gapless.learn.actuators.choose import choose
from gapless.learn.actuators.ladder import geared, ladder
from gapless.learn.actuators.motion import MatchMotion, fit_folds, fit_joints, fit_network_to_motion
from gapless.learn.actuators.stored import load_actuator, plain_networks, save_actuator
from gapless.learn.actuators.torque import Measured, fit_network_to_torque, fit_torque, torques
from gapless.nets.fitting import FitNetwork
from gapless.simulators.joints import PLANT, Joints, Pieces, hold_weights
from gapless.simulators.latency import hold_weights as numpy_hold_weights
from gapless.simulators.parts.actuator_network import NetworkActuator, NetworkForm, new_network
from gapless.simulators.parts.friction import LAWS, Drag
from gapless.simulators.parts.servo import PD, IdealPD
from gapless.simulators.parts.transmission import TRANSMISSION, Latency

KEY = jax.random.key(0)
HIDDEN = {
    "motor.gain": 4.0,
    "motor.lead": 0.0,
    "motor.bias": 0.0,
    "motor.constant": 0.5,
    "motor.resistance": 4.0,
    "motor.supply": 12.0,
    "motor.sag": 0.0,
    "motor.current": 50.0,
    "joint.inertia": 0.02,
    "command.latency": 0.013,
    "friction.coulomb": 0.15,
    "friction.viscous": 0.06,
}


def pendulum(law: str = "m1") -> Joints:
    rung = ladder(law)[2]

    def load(params: Params, position: jnp.ndarray) -> jnp.ndarray:
        return -0.4 * jnp.sin(position)

    def inertia(params: Params, position: jnp.ndarray) -> jnp.ndarray:
        return params["joint.inertia"] + 0 * position

    return Joints(rung.actuator, rung.friction, load, inertia, 0.01, 2, 4)


def values(**changes: float) -> Params:
    named = HIDDEN | {k.replace("__", "."): v for k, v in changes.items()}
    return {k: jnp.full(1, v) for k, v in named.items()}


def recorded(params: Params, windows: int = 4, samples: int = 150) -> Pieces:
    time = np.arange(samples) * 0.01
    phases = np.linspace(0, 5, windows)[:, None]
    target = np.sin(4 * time + phases) + 0.5 * np.sin(1.7 * time * (1 + phases / 4))
    held = jnp.asarray(target, jnp.float32)[..., None]
    still = Pieces(held[:, 0], jnp.zeros((windows, 1)), {"target": held}, held)
    return still._replace(seen=pendulum().play(params, still, KEY))


def test_friction_and_latency_come_out_of_motion_alone() -> None:
    pieces = recorded(values())
    names = ("friction.coulomb", "friction.viscous", "command.latency", "motor.gain")
    free = [p for p in ladder("m1")[2].parameters if p.name in names]
    begin = values(friction__coulomb=0.03, friction__viscous=0.02, command__latency=0.003, motor__gain=3.0)
    found, cost = fit_joints(pendulum(), free, begin, pieces, MatchMotion(iterations=10))
    assert {k: float(found[k][0]) for k in names} == pytest.approx({k: HIDDEN[k] for k in names}, rel=0.05)
    assert float(cost[0]) < 0.01


def test_folds_are_fitted_to_their_own_windows() -> None:
    one, other = (recorded(values(friction__coulomb=c), 2) for c in (0.1, 0.2))
    pieces = jax.tree.map(lambda *x: jnp.concatenate(x), one, other)
    free = [p for p in ladder("m1")[2].parameters if p.name == "friction.coulomb"]
    used = np.array([[True, True, False, False], [False, False, True, True]])
    begins = [values(friction__coulomb=c) for c in (0.02, 0.5)]
    found = fit_folds(pendulum(), free, begins, pieces, used, MatchMotion(iterations=8))
    assert [float(p["friction.coulomb"]) for p in found] == pytest.approx([0.1, 0.2], rel=0.03)


def test_hold_weights_agree_with_the_simulators_own() -> None:
    latency = np.array([0.0, 0.0043, 0.017])
    expected = numpy_hold_weights(latency, 0.01, 4, 3)
    np.testing.assert_allclose(hold_weights(jnp.asarray(latency), 0.01, 4, 3), expected, atol=1e-5)


def measured(params: Params, block: Chain) -> Measured:
    time = np.arange(60) * 0.02
    phases = np.linspace(0, 6, 12)[:, None]
    target = np.sin(3 * time + phases) + 0.4 * np.sin(11 * time - 2 * phases)
    position = np.sin(3 * time + phases - 0.2) + 0.2 * np.sin(11 * time - 2 * phases - 1)
    velocity = 3 * np.cos(3 * time + phases - 0.2) + 2.2 * np.cos(11 * time - 2 * phases - 1)
    rows = [target, position, velocity, 0 * target]
    blank = Measured(*(jnp.asarray(r, jnp.float32) for r in rows), 0.02)
    return Measured(blank.target, blank.position, blank.velocity, torques(block, params, blank), 0.02)


SERVO = Chain((Latency(0.06, 0.02), IdealPD(), Drag(LAWS["m1"])))
SERVO_HIDDEN = {
    "pd.stiffness": 80.0,
    "pd.damping": 1.5,
    "pd.bias": 0.01,
    "friction.coulomb": 0.6,
    "friction.viscous": 0.3,
    "command.latency": 0.025,
}


def test_gains_friction_and_latency_come_out_of_torque() -> None:
    hidden = {k: jnp.asarray(v) for k, v in SERVO_HIDDEN.items()}
    free = (*PD, *(p for p in LAWS["m1"].parameters if p.name != "friction.viscous"), PLANT[0])
    begin = hidden | {"pd.stiffness": jnp.asarray(30.0), "command.latency": jnp.asarray(0.01)}
    begin |= {"pd.damping": jnp.asarray(0.3), "pd.bias": jnp.asarray(0.0), "friction.coulomb": jnp.asarray(0.1)}
    found = fit_torque(SERVO, free, begin, measured(hidden, SERVO), 4)
    assert {k: float(v) for k, v in found.items()} == pytest.approx(SERVO_HIDDEN, rel=0.03)


POOR = SERVO_HIDDEN | {"pd.stiffness": 60.0, "friction.coulomb": 0.0}


@pytest.fixture(scope="module")
def seen() -> Measured:
    return measured({k: jnp.asarray(v) for k, v in SERVO_HIDDEN.items()}, SERVO)


@pytest.fixture(scope="module")
def networks(seen: Measured) -> tuple[NetworkActuator, NetworkActuator]:
    """A network before and after it has learned what a poor PD leaves."""
    inputs = {"target": seen.target, "position": seen.position, "velocity": seen.velocity}
    made = new_network(NetworkForm(adds=True, hidden=(12, 1)), IdealPD(), inputs, jnp.asarray(3.0), 0.02, KEY)
    last, recipe = np.arange(12) >= 9, FitNetwork(rate=1e-2, batch=9, steps=120, looks=4)
    poor = {k: jnp.asarray(v) for k, v in POOR.items()}
    fitted, _ = fit_network_to_torque(made, poor, seen.windows(~last), seen.windows(last), recipe, 4, KEY)
    return made, fitted


def test_a_network_learns_what_the_rung_below_leaves(seen: Measured, networks: tuple) -> None:
    poor = {k: jnp.asarray(v) for k, v in POOR.items()}
    left = [torques(b, poor, seen) - seen.torque for b in networks]
    before, after = (float(jnp.abs(x[9:, 4:]).mean()) for x in left)
    assert after < 0.3 * before


def test_a_learned_network_leaves_as_onnx_through_the_command_line(
    seen: Measured, networks: tuple, tmp_path: Path
) -> None:
    _, fitted = networks
    rung = ladder("m1")[0]
    save_actuator(tmp_path / "hip", rung, {k: jnp.asarray(v) for k, v in POOR.items()}, "m1", fitted)
    main(["export", "actuator", str(tmp_path / "hip"), "--out", str(tmp_path / "hip.onnx"), "--joint", "hip"])
    session = onnxruntime.InferenceSession(tmp_path / "hip.onnx", providers=["CPUExecutionProvider"])
    (held,) = session.get_modelmeta().custom_metadata_map.values()
    assert json.loads(held) == {"joint": "hip", "history": [0, 1, 2, 3], "step_s": 0.02, "adds": True}
    # The past of the eleventh and later rows, as the file wants it: the newest first.
    error, velocity = (np.asarray(x[9]) for x in (seen.target - seen.position, seen.velocity))
    rows = np.arange(10, 60)
    past = [np.stack([x[rows - k] for k in range(4)], axis=1).astype(np.float32) for x in (error, velocity)]
    found = session.run(["torque"], {"error": past[0], "velocity": past[1]})[0]
    params = {k: jnp.asarray(v) for k, v in POOR.items()}
    corrected, below = (np.asarray(torques(b, params, seen))[9, rows] for b in (fitted, IdealPD()))
    assert np.ptp(corrected - below) > 0.5  # or the agreement would say little
    assert found == pytest.approx(corrected - below, abs=1e-3)


@pytest.mark.slow
def test_a_network_is_trained_through_the_simulation() -> None:
    pieces, joints = recorded(values(), 6, 40), pendulum()
    wrong = values(motor__gain=3.0)
    trace = joints.trace(wrong, pieces, KEY)
    form = NetworkForm(lags_s=(0.0, 0.02), hidden=(8, 1), adds=True)
    made = new_network(form, joints.actuator, {**pieces.inputs, **trace}, jnp.ones(1), 0.01, KEY)
    held = Joints(made, joints.friction, joints.load, joints.inertia, 0.01, 2, 4)
    first, last = (jax.tree.map(lambda x, s=s: x[s], pieces) for s in (slice(0, 4), slice(4, 6)))
    recipe = FitNetwork(rate=1e-2, batch=4, steps=30, looks=3)
    _, fitted = fit_network_to_motion(held, wrong, first, last, recipe, KEY)
    assert float(fitted.held_out) < 0.7 * float(fitted.before)
    with pytest.raises(GaplessError, match="fit_joints"):
        fit_network_to_motion(joints, wrong, first, last, recipe, KEY)


def test_a_network_that_does_not_win_on_held_out_logs_is_refused() -> None:
    rungs = {"pd": np.array([3.0, 3.0, 3.0]), "friction": np.array([1.0, 1.1, 0.9])}
    choice = choose(rungs | {"mlp": np.array([0.99, 1.09, 0.9])})
    assert choice.rung == "friction"
    assert "mlp" in choice.why
    # A better mean by one log alone is luck.
    assert choose(rungs | {"mlp": np.array([1.1, 1.2, 0.1])}).rung == "friction"
    assert choose(rungs | {"mlp": np.array([0.7, 0.8, 0.95])}).rung == "mlp"


def test_rungs_are_not_compared_on_different_logs() -> None:
    with pytest.raises(GaplessError, match="same held-out logs"):
        choose({"pd": np.ones(3), "motor": np.ones(2)})


@pytest.mark.parametrize("recurrent", [0, 4])
def test_an_actuator_is_stored_and_read_back_exactly(tmp_path: Path, recurrent: int) -> None:
    pieces, rung = recorded(values(), 2, 30), ladder("m1")[2]
    seen = {**pieces.inputs, **pendulum().trace(values(), pieces, KEY)}
    form = NetworkForm(recurrent=recurrent, adds=True)
    made = new_network(form, rung.actuator, seen, jnp.ones(1), 0.01, KEY)
    save_actuator(tmp_path, rung, values(), "m1", made)
    again_rung, params, again = load_actuator(tmp_path)
    assert (again_rung, {k: v.tolist() for k, v in params.items()}) == (
        rung,
        {k: v.tolist() for k, v in values().items()},
    )
    assert all(bool((a == b).all()) for a, b in zip(jax.tree.leaves(made), jax.tree.leaves(again), strict=True))
    assert again is not None and again.history == made.history
    path = tmp_path / "actuator.json"
    path.write_text(path.read_text().replace('"friction"', '"warp"', 1))
    with pytest.raises(GaplessError, match="names no rung of the ladder"):
        load_actuator(tmp_path)


def test_a_rung_without_a_network_is_stored_too(tmp_path: Path) -> None:
    save_actuator(tmp_path, ladder("m1")[1], values(), "m1")
    rung, params, network = load_actuator(tmp_path)
    assert (rung.name, network, float(params["motor.gain"][0])) == ("motor", None, 4.0)


@pytest.mark.parametrize("recurrent", [0, 4])
def test_plain_networks_answer_as_the_block_does_at_their_own_step(recurrent: int) -> None:
    pieces = recorded(values(), 2, 30)
    seen = {**pieces.inputs, **pendulum().trace(values(), pieces, KEY)}
    made = new_network(NetworkForm(recurrent=recurrent), IdealPD(), seen, jnp.asarray([2.0]), 0.01, KEY)
    keys = iter(jax.random.split(KEY, 20))
    made = made.with_weights(jax.tree.map(lambda w: jax.random.normal(next(keys), w.shape), made.weights))
    (plain,) = plain_networks(made)
    width = 1.3 * (made.range.high - made.range.low)  # some of it beyond the training range
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, (6, 1, 8)) * np.asarray(width)
    hidden, kept = jnp.zeros((1, recurrent)), None
    for features in (np.asarray(made.range.low + made.range.high) / 2 + noise).astype(np.float32):
        hidden, expected = made.answer(jnp.asarray(features), hidden, made.history.spacing_s)
        found, kept = plain.torque(features, kept)
        assert found == pytest.approx(np.asarray(expected), rel=1e-3, abs=1e-3)
    assert (plain.history, plain.step_s) == ((0, 1, 2, 3), 0.02)


def test_a_past_between_steps_is_refused() -> None:
    pieces = recorded(values(), 2, 30)
    seen = {**pieces.inputs, **pendulum().trace(values(), pieces, KEY)}
    made = new_network(NetworkForm(lags_s=(0.0, 0.03)), IdealPD(), seen, jnp.ones(1), 0.01, KEY)
    with pytest.raises(GaplessError, match=r"no whole steps of 0\.02 s"):
        plain_networks(made)


def test_an_actuator_told_by_force_is_stored_with_what_its_network_sees(tmp_path: Path) -> None:
    pieces, rung = recorded(values(), 2, 30), ladder("m1", "effort")[2]
    seen = {**pieces.inputs, **pendulum().trace(values(), pieces, KEY)}
    made = new_network(NetworkForm(adds=True, relative=False), rung.actuator, seen, jnp.ones(1), 0.01, KEY)
    save_actuator(tmp_path, rung, {"amplifier.gain": jnp.full(1, 0.3)}, "m1", made)
    again_rung, _, again = load_actuator(tmp_path)
    assert again_rung == rung and again is not None and not again.relative
    # The range that it was trained on is that of the commands, not of their distance from the position.
    assert float(again.range.high[0, 0]) == pytest.approx(float(pieces.inputs["target"].max()))


@pytest.mark.parametrize("name", ["backlash", "compliance"])
def test_gears_with_play_and_gears_that_give_are_rungs_and_stored(tmp_path: Path, name: str) -> None:
    rung = next(r for r in geared("m1") if r.name == name)
    save_actuator(tmp_path, rung, values(), "m1")
    assert load_actuator(tmp_path)[0] == rung
    params = values() | {p.name: jnp.full(1, p.nominal) for p in TRANSMISSION} | {"gear.gap": jnp.full(1, 0.2)}
    joints, pieces = pendulum(), recorded(values())
    loose = Joints(rung.actuator, joints.friction, joints.load, joints.inertia, 0.01, 2, 4)
    missed = float(jnp.abs(loose.play(params, pieces, KEY) - pieces.seen).mean())
    assert 0.005 < missed < 0.3  # it moves, and not as without a gear


def test_commands_before_a_window_still_act_in_it() -> None:
    whole = recorded(values(command__latency=0.03), 2, 60)
    trace = pendulum().trace(values(command__latency=0.03), whole, KEY)
    late = Pieces(
        trace["position"][:, 20],
        trace["velocity"][:, 20],
        {"target": whole.inputs["target"][:, 20:]},
        whole.seen[:, 20:],
    )
    told = late._replace(inputs=late.inputs | {"before": whole.inputs["target"][:, 14:20]})
    missed = [
        float(jnp.abs(pendulum().play(values(command__latency=0.03), p, KEY) - late.seen).max()) for p in (late, told)
    ]
    assert missed[1] < 1e-4 < missed[0]


def test_a_load_known_along_the_motion_does_what_its_function_would() -> None:
    pieces, joints = recorded(values(), 2, 80), pendulum()
    bare = Joints(joints.actuator, joints.friction, lambda params, q: 0 * q, joints.inertia, 0.01, 2, 4)
    about = pieces.seen + 0.05
    known = {"load": -0.4 * jnp.sin(about), "pull": -0.4 * jnp.cos(about), "about": about}
    played = bare.play(values(), pieces._replace(inputs=pieces.inputs | known), KEY)
    assert float(jnp.abs(played - pieces.seen).max()) < 2e-3
