"""What a policy's own episodes would teach: nothing where it rests, more where it moves."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Block, Params, Signals, prior_belief
from gapless.learn import lesson_of
from gapless.simulators import MujocoSimulator


class Waving(Block):
    """Pushes to and fro."""

    size: float = eqx.field(static=True)

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> tuple[Any, Signals]:
        return memory + dt_s, {"motor": jnp.full(1, self.size * jnp.sin(6.0 * memory))}


def test_an_episode_teaches_by_what_the_policy_moves(cartpole: MujocoSimulator) -> None:
    belief = prior_belief(cartpole.parameters)
    noise = dict.fromkeys(cartpole.interface.measurement_names, 1e-3)
    still, waving = (
        lesson_of(cartpole, belief, cartpole.interface, Waving(size), 2.0, 0.6, noise) for size in (0.0, 4.0)
    )
    assert still.now == waving.now
    assert still.now == {n: float(v) for n, v in belief.deviation().items() if n in still.now}
    left = np.array([(still.after[n] / still.now[n], waving.after[n] / waving.now[n]) for n in still.now])
    assert np.median(left[:, 0]) == pytest.approx(1.0, rel=1e-3)
    assert np.median(left[:, 1]) < 0.2


def test_louder_sensors_teach_less(cartpole: MujocoSimulator) -> None:
    belief, names = prior_belief(cartpole.parameters), cartpole.interface.measurement_names
    quiet, loud = (
        lesson_of(cartpole, belief, cartpole.interface, Waving(4.0), 1.0, 0.5, dict.fromkeys(names, noise))
        for noise in (1e-3, 1e-1)
    )
    assert all(loud.after[n] > quiet.after[n] for n in quiet.after)
