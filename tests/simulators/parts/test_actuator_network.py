"""Networks see the past in seconds, answer at any rate, and step back where they were not trained."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Signals
from gapless.simulators.parts.actuator_network import NetworkActuator, NetworkForm, new_network, spoken
from gapless.simulators.parts.history import History
from gapless.simulators.parts.servo import IdealPD

KEY = jax.random.key(0)
PARAMS = {"pd.stiffness": jnp.asarray(3.0), "pd.damping": jnp.asarray(0.1), "pd.bias": jnp.asarray(0.0)}


def moving(time_s: np.ndarray) -> Signals:
    """A sine that a joint follows with a lag, one window."""
    return {
        "target": jnp.asarray(np.sin(3 * time_s))[None],
        "position": jnp.asarray(np.sin(3 * time_s - 0.3))[None],
        "velocity": jnp.asarray(3 * np.cos(3 * time_s - 0.3))[None],
    }


def network(form: NetworkForm) -> NetworkActuator:
    """A network with random weights, scaled to two seconds of the motion."""
    made = new_network(form, IdealPD(), moving(np.arange(0, 2, 0.02)), jnp.asarray(0.5), 0.02, KEY)
    keys = iter(jax.random.split(KEY, 100))
    weights = jax.tree.map(lambda w: 0.3 * jax.random.normal(next(keys), w.shape), made.weights)
    return made.with_weights(weights)


def run(block: NetworkActuator, seconds: float, dt_s: float) -> Signals:
    """What comes out at the end of the motion."""
    rows = {k: v[0] for k, v in moving(np.arange(0, seconds + dt_s / 2, dt_s)).items()}

    def step(memory: object, row: Signals) -> tuple[object, Signals]:
        return block.step(PARAMS, memory, row, dt_s, KEY)  # pyright: ignore[reportArgumentType]

    _, out = jax.lax.scan(step, block.init(KEY), rows)
    return {k: np.asarray(v) for k, v in out.items()}


@pytest.mark.parametrize("dt_s", [0.001, 0.01, 0.025])
def test_history_is_asked_in_seconds(dt_s: float) -> None:
    history = History((0.0, 0.03, 0.1), 1, 0.02)
    times = jnp.arange(round(0.3 / dt_s) + 1) * dt_s
    _, past = jax.lax.scan(lambda memory, now: history.step(memory, now[None], dt_s), history.init(), 4 * times)
    now = float(times[-1])
    # A ramp is interpolated exactly, however it was sampled.
    np.testing.assert_allclose(past[-1, :, 0], [4 * now, 4 * (now - 0.03), 4 * (now - 0.1)], atol=2e-4)


def test_the_first_moment_fills_the_whole_past() -> None:
    history = History((0.0, 0.05), 2, 0.01)
    _, past = history.step(history.init(), jnp.asarray([1.0, -2.0]), 0.001)
    np.testing.assert_allclose(past, [[1, -2], [1, -2]])


def test_a_history_without_lags_is_refused() -> None:
    with pytest.raises(GaplessError, match="lags"):
        History((), 1, 0.01)


FORMS = {"mlp": NetworkForm(), "gru": NetworkForm(recurrent=6)}


@pytest.mark.parametrize("form", FORMS)
def test_torque_does_not_depend_on_the_time_step(form: str) -> None:
    coarse, fine = (run(network(FORMS[form]), 1.0, dt)["torque"] for dt in (0.02, 0.004))
    assert np.std(coarse) > 0.05
    np.testing.assert_allclose(coarse[-1], fine[-1], atol=0.03 * np.std(coarse))


def test_a_gru_at_its_own_step_is_equinoxs() -> None:
    gru = network(FORMS["gru"]).gru
    assert gru is not None
    cell = eqx.nn.GRUCell(gru.weight_in.shape[1], gru.width, key=KEY)
    places = lambda c: (c.weight_ih, c.weight_hh, c.bias, c.bias_n)  # noqa: E731
    cell = eqx.tree_at(places, cell, (gru.weight_in, gru.weight_hidden, gru.bias, gru.bias_new))
    x, h = jnp.linspace(-1, 1, gru.weight_in.shape[1]), jnp.linspace(0.5, -0.5, gru.width)
    np.testing.assert_allclose(gru(x, h, gru.step_s), cell(x, h), rtol=1e-5)


def test_inside_its_range_the_network_answers_and_outside_the_rung_below() -> None:
    block = network(NetworkForm())
    inside = run(block, 1.0, 0.02)
    assert inside["trusted"].min() == 1
    below = 3 * (np.sin(3.0) - np.sin(2.7)) - 0.1 * 3 * np.cos(2.7)
    assert abs(inside["torque"][-1] - below) > 0.05
    far = {"target": jnp.asarray(9.0), "position": jnp.asarray(0.0), "velocity": jnp.asarray(0.0)}
    _, outside = block.step(PARAMS, block.init(KEY), far, 0.002, KEY)
    assert float(outside["trusted"]) == 0
    assert float(outside["torque"]) == pytest.approx(27.0)
    assert spoken(inside["trusted"], "pd") == ""
    assert "100.0%" in spoken(outside["trusted"], "pd")


def test_an_untrained_correction_changes_nothing() -> None:
    made = new_network(NetworkForm(adds=True), IdealPD(), moving(np.arange(0, 2, 0.02)), jnp.asarray(0.5), 0.02, KEY)
    now = {"target": jnp.asarray(0.3), "position": jnp.asarray(0.1), "velocity": jnp.asarray(0.2)}
    _, out = made.step(PARAMS, made.init(KEY), now, 0.002, KEY)
    assert float(out["torque"]) == pytest.approx(3 * 0.2 - 0.1 * 0.2)
