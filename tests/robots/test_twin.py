"""Twins: one seed is one machine, tiers nest, every effect acts, and nothing hidden shows."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

from gapless.core import GaplessError, Robot
from gapless.robots import Twin, find_robot
from gapless.robots.cartpole import INTERFACE, CartpoleReality
from gapless.robots.finding import reality_of

EFFECTS = CartpoleReality.named + CartpoleReality.unnamed


def motion(robot: Robot, episode: int = 0, periods: int = 15) -> np.ndarray:
    """What a connected robot measures while it is pushed to and fro."""
    robot.reset(episode)
    rows = []
    for k in range(periods):
        robot.send_action({"motor": np.array([6.0 if k // 4 % 2 else -6.0])})
        robot.wait_until((k + 1) * INTERFACE.period_s)
        rows.append(np.concatenate([robot.get_observation()[n] for n in INTERFACE.measurement_names]))
    return np.array(rows)


@pytest.fixture(scope="module")
def twins() -> Iterator[dict[str, Twin]]:
    specs = {"one": "seed=4", "same": "seed=4", "other": "seed=5"}
    made = {name: find_robot(f"twin:cartpole?{spec}") for name, spec in specs.items()}
    for robot in made.values():
        robot.connect()
    yield made  # type: ignore[misc]
    for robot in made.values():
        robot.disconnect()


def test_two_twins_of_one_seed_are_one_machine_and_two_seeds_are_two(twins: dict[str, Twin]) -> None:
    one, same, other = (motion(twins[name]) for name in ("one", "same", "other"))
    assert (one == same).all()
    assert np.abs(one - other).max() > 1e-3


def test_noise_follows_the_episode_and_not_what_ran_before(twins: dict[str, Twin]) -> None:
    first = motion(twins["one"], episode=7)
    motion(twins["one"], episode=8)
    assert (motion(twins["one"], episode=7) == first).all()
    assert (motion(twins["one"], episode=8) != first).any()


def test_nothing_hidden_is_reachable_from_a_twin(twins: dict[str, Twin]) -> None:
    hidden = [v for k, v in reality_of("twin:cartpole?seed=4").hidden.items() if not k.startswith("noise")]
    motion(twins["one"])
    reached = list(_numbers(twins["one"]))
    assert reached, "the search must find something"
    assert not [v for v in hidden if any(abs(v - r) < 1e-9 * abs(v) for r in reached)]


def _numbers(thing: Any, seen: set[int] | None = None) -> Iterator[float]:
    """Every number that can be reached through attributes and containers, classes and modules left aside."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, type | str | bytes) or type(thing).__name__ == "module":
        return
    seen.add(id(thing))
    if isinstance(thing, int | float):
        yield float(thing)
    parts = list(vars(thing).values()) if hasattr(thing, "__dict__") else []
    parts += list(thing.values()) if isinstance(thing, dict) else []
    parts += list(thing) if isinstance(thing, list | tuple | set | frozenset) else []
    for part in parts:
        yield from _numbers(part, seen)


@pytest.mark.parametrize("seed", range(5))
def test_tiers_share_their_hidden_numbers_and_nest(seed: int) -> None:
    a, b, c = (reality_of(f"twin:cartpole?seed={seed}&tier={tier}") for tier in "ABC")
    assert a.hidden == b.hidden == c.hidden
    assert a.effects == frozenset()
    assert a.effects < b.effects < c.effects
    assert b.effects == frozenset(CartpoleReality.named)
    assert len(c.effects - b.effects) == 2


def test_seeds_draw_other_numbers_and_other_effects() -> None:
    realities = [reality_of(f"twin:cartpole?seed={seed}&tier=C") for seed in range(8)]
    assert len({r.hidden["gain"] for r in realities}) == 8
    assert len({r.effects for r in realities}) > 2


def test_each_effect_alone_changes_the_motion() -> None:
    plain = _path("seed=2")
    for effect in EFFECTS:
        off = np.abs(_path(f"seed=2&effects={effect}") - plain).max()
        assert off > 1e-4, f"{effect} moves the cart by {off} m only"


def _path(options: str) -> np.ndarray:
    """Where the cart goes without noise in half a second of pushes, starting at the middle."""
    reality = reality_of(f"twin:cartpole?{options}")
    hidden = {k: np.asarray(v, np.float64) for k, v in reality.hidden.items()}
    push = jax.jit(lambda s, u, key: reality.send(hidden, s, {"motor": u}, key))
    on = jax.jit(lambda s: jax.lax.fori_loop(0, 20, lambda _, s: reality.tick(hidden, s), s))
    state, places = reality.start(hidden, jax.random.key(0)), []
    for k in range(25):
        state = on(push(state, np.float32(6.0 if k // 5 % 2 else -6.0), jax.random.key(k)))
        places.append(float(state["x"]))
    return np.array(places)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("twin:unicycle", "cannot make a twin of 'twin:unicycle': twins are cartpole"),
        ("twin:cartpole?sed=1", "cannot make a twin of 'twin:cartpole.sed=1'"),
        ("twin:cartpole?seed=-1", "cannot make a twin"),
        ("twin:cartpole?tier=D", "there is no tier 'D'; choose A, B or C"),
        ("twin:cartpole?effects=belt,ghost", r"'cartpole' has no effect 'ghost' \(it has: lugre, backlash"),
        ("gapless.tasks:SwingUp", "is not a robot: its class must derive from gapless.core.Robot"),
        ("cartpole", "cannot find a robot called 'cartpole'"),
    ],
)
def test_a_spec_that_names_no_robot_is_answered_with_the_forms_there_are(spec: str, says: str) -> None:
    with pytest.raises(GaplessError, match=says):
        find_robot(spec)


def test_a_twin_that_is_not_connected_says_what_to_do() -> None:
    with pytest.raises(GaplessError, match=r"is not connected. Call connect\(\) first"):
        Twin("twin:cartpole", INTERFACE).reset(0)
