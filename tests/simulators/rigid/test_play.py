"""A thrown body flies as Newton says, rests on its floor, and slides as far as friction lets it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Params
from gapless.simulators.rigid import Body, Start, box, parameters, play
from gapless.simulators.rigid.play import Seen

CUBE = box(0.05, 0.04, 0.2, 0.125)
PERIOD_S = 0.005


def _params(**changed: float) -> Params:
    values = {p.name: p.nominal for p in parameters(CUBE)} | {k.replace("__", "."): v for k, v in changed.items()}
    return {k: jnp.full(1, v, jnp.float32) for k, v in values.items()}


def _start(height: float, velocity: tuple[float, ...] = (0, 0, 0), spin: tuple[float, ...] = (0, 0, 0)) -> Start:
    columns = ((0, 0, height), (1, 0, 0, 0), velocity, spin)
    return Start(*(jnp.asarray(c, jnp.float32)[:, None] for c in columns))


@jax.jit
def _played(params: Params, start: Start) -> Seen:
    return play(CUBE, params, start, 200, PERIOD_S)


def _play(start: Start, samples: int, **changed: float) -> Seen:
    return Seen(*(x[:samples] for x in _played(_params(**changed), start)))


def test_free_flight_is_a_parabola_and_a_steady_turn() -> None:
    seen = _play(_start(1.0, (0.5, 0, 0), (0, 0, 2.0)), 41)
    time = 40 * PERIOD_S
    assert float(seen.position[-1, 0, 0]) == pytest.approx(0.5 * time, abs=1e-5)
    assert float(seen.position[-1, 2, 0]) == pytest.approx(1 - 9.81 * time**2 / 2, abs=1e-3)
    assert 2 * np.arccos(float(seen.quaternion[-1, 0, 0])) == pytest.approx(2.0 * time, abs=1e-3)


def test_a_tracked_frame_off_the_centre_of_mass_circles_about_it() -> None:
    seen = _play(_start(3.0, spin=(0, 0, 10.0)), 101, body__centre_x=0.005)
    # The frame stands still at first, so its centre of mass flies off sideways at 10 rad/s × 5 mm.
    time, turn = 100 * PERIOD_S, 10 * 100 * PERIOD_S
    across = 0.05 * time - 0.005 * np.sin(turn)
    assert float(seen.position[-1, 1, 0]) == pytest.approx(across, abs=2e-4)


def test_a_resting_cube_stays() -> None:
    seen = _play(_start(0.05), 200)
    assert float(jnp.abs(seen.position[-1, :2]).max()) < 1e-5
    sag = 9.81 / (4 * (2 * np.pi * 45) ** 2)
    assert float(seen.position[-1, 2, 0]) == pytest.approx(0.05 - sag, abs=1e-5)


def test_friction_stops_a_slide_after_as_far_as_it_should() -> None:
    seen = _play(_start(0.05 - 3.07e-5, (0.6, 0, 0)), 120)
    assert float(seen.position[-1, 0, 0]) == pytest.approx(0.6**2 / (2 * 0.2 * 9.81), rel=0.02)
    assert float(jnp.abs(seen.position[-1] - seen.position[-10]).max()) < 1e-5


def test_a_flat_fall_rebounds_by_its_damping() -> None:
    seen = _play(_start(0.15), 60, contact__frequency=20.0)
    falling, rising = (
        -np.diff(np.asarray(seen.position[:, 2, 0])) / PERIOD_S,
        np.diff(np.asarray(seen.position[:, 2, 0])) / PERIOD_S,
    )
    assert 0.05 < rising.max() / falling.max() < 0.3


def test_all_axes_of_the_world_are_alike() -> None:
    turn = np.pi / 2
    about = np.array([np.cos(turn / 2), 0, 0, np.sin(turn / 2)], np.float32)
    tilted = np.array([0.9, 0.3, 0.2, 0.1], np.float32) / np.sqrt(0.95)
    w, x, y, z = tilted
    spun = np.array(
        [
            about[0] * w - about[3] * z,
            about[0] * x - about[3] * y,
            about[0] * y + about[3] * x,
            about[0] * z + about[3] * w,
        ]
    )
    one = _start(0.15, (0.8, 0.3, 0), (1, 2, 3))._replace(quaternion=jnp.asarray(tilted)[:, None])
    other = _start(0.15, (-0.3, 0.8, 0), (1, 2, 3))._replace(quaternion=jnp.asarray(spun)[:, None])
    a, b = _play(one, 30).position[-1, :, 0], _play(other, 30).position[-1, :, 0]
    assert np.allclose([-a[1], a[0], a[2]], b, atol=1e-4)


def test_energy_never_grows() -> None:
    seen = _play(_start(0.2, (0.5, 0, 0), (3, 5, 1)), 200)
    speed = np.linalg.norm(np.diff(np.asarray(seen.position[..., 0]), axis=0), axis=1) / PERIOD_S
    assert np.isfinite(speed).all() and speed[-5:].max() < 1e-3


def test_a_body_without_corners_is_refused() -> None:
    with pytest.raises(GaplessError, match=r"corners of the shape \(3, n\)"):
        Body(np.zeros((2, 4), np.float32), 0.04, 0.2, 0.1)
