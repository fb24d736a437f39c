"""Ends drawn in by what a simulator may be wrong: nothing else of the task changes, and episodes can still begin."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Task, nominal_belief
from gapless.core.conformance import check_task
from gapless.simulators import MujocoSimulator
from gapless.tasks import Hop, SwingUp
from gapless.train.inset import Inset, inset
from gapless.train.train import _keys


def at(cart: float) -> dict:
    return {"cart.position": jnp.full((1, 1), cart), "pole.angle": jnp.zeros((1, 1))}


@pytest.mark.parametrize(
    ("cart", "over", "own"),
    [(0.38, False, False), (0.40, True, False), (-0.40, True, False), (0.43, True, True)],
)
def test_an_episode_is_over_a_margin_before_its_end(cart: float, over: bool, own: bool) -> None:
    task = SwingUp()  # which ends at 0.42 m
    drawn_in = Inset(task, {"cart.position": 0.03})
    assert bool(drawn_in.finished(at(cart))[0]) is over
    assert bool(task.finished(at(cart))[0]) is own


def test_ends_on_both_sides_are_drawn_in() -> None:
    def over(task: Task, height: float) -> bool:
        seen = {"torso.z": height, "torso.pitch": 0.0, "hip.angle": 0.0}
        return bool(task.finished({k: jnp.full((1, 1), v) for k, v in seen.items()})[0])

    hop = Hop()
    ends = [h for h in np.linspace(-1.0, 1.0, 401) if not over(hop, h)]
    drawn_in = Inset(hop, {"torso.z": 0.05})
    within = [h for h in np.linspace(-1.0, 1.0, 401) if not over(drawn_in, h)]
    assert within[0] - ends[0] == pytest.approx(0.05, abs=0.011)
    assert ends[-1] - within[-1] == pytest.approx(0.05, abs=0.011)


def test_all_else_stays_as_it_is(cartpole: MujocoSimulator) -> None:
    task = SwingUp()
    drawn_in = Inset(task, {"cart.position": 0.03})
    before, after, command = at(0.1), at(0.2), {"motor": jnp.ones((1, 1))}
    assert drawn_in.reward(before, command, after) == task.reward(before, command, after)
    assert drawn_in.terms(before, command, after) == task.terms(before, command, after)
    assert drawn_in.seconds == task.seconds and drawn_in.changes == task.changes
    assert check_task(drawn_in, cartpole) == []


def test_margins_shrink_until_episodes_can_begin(cartpole: MujocoSimulator) -> None:
    belief, key = nominal_belief(cartpole.parameters), jax.random.key(0)
    drawn_in = inset(SwingUp(), {"cart.position": 0.5}, cartpole, belief, key)
    assert isinstance(drawn_in, Inset) and drawn_in.margins["cart.position"] == pytest.approx(0.25)
    small = inset(SwingUp(), {"cart.position": 0.03}, cartpole, belief, key)
    assert isinstance(small, Inset) and small.margins["cart.position"] == pytest.approx(0.03)
    assert not isinstance(inset(SwingUp(), {"cart.position": 100.0}, cartpole, belief, key), Inset)


def test_beginnings_differ_in_all_but_what_they_are_looked_at_with() -> None:
    first, second = _keys(jax.random.key(3), 0), _keys(jax.random.key(3), 1)
    same = [bool((jax.random.key_data(a) == jax.random.key_data(b)).all()) for a, b in zip(first, second, strict=True)]
    assert same == [False, True, False]
    plain = jax.random.split(jax.random.key(3), 3)
    assert all((jax.random.key_data(a) == jax.random.key_data(b)).all() for a, b in zip(first, plain, strict=True))
