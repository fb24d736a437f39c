"""Joints put where they were measured: they are there, and everything else goes on as it was."""

from collections.abc import Callable

import jax
import numpy as np
import pytest

from gapless.core import Signals, Simulator

KEY = np.zeros(2, np.uint32)


def stepped(sim: Simulator, commands: Signals) -> tuple:
    """The state and what is privileged after these commands, with latency where there is any."""
    late = {p.name: np.full(1, 0.7 * p.high) for p in sim.parameters if p.name == "command.latency"}
    found = sim.reset(sim.init(), np.ones(1, bool), late, {}, jax.random.key(0))
    for k in range(len(next(iter(commands.values())))):
        found = sim.step(found[0], {n: v[k][None] for n, v in commands.items()}, KEY)
    return found


def test_joints_put_where_they_are_change_nothing(
    any_simulator: Simulator, lively_commands: Callable[..., Signals]
) -> None:
    commands = lively_commands(any_simulator.interface, 8)
    plain, placed = stepped(any_simulator, commands), stepped(any_simulator, commands)
    held = any_simulator.place(
        placed[0], {f"{j}.{s}": placed[2][f"{j}.{s}"] for j in any_simulator.joints for s in ("position", "velocity")}
    )
    rest = {n: 0 * v[0][None] for n, v in commands.items()}
    one, other = (any_simulator.step(state, rest, KEY)[2] for state in (plain[0], held))
    for name in one:
        assert np.asarray(one[name]) == pytest.approx(np.asarray(other[name]), abs=1e-6)


def test_commands_under_way_still_arrive(any_simulator: Simulator, lively_commands: Callable[..., Signals]) -> None:
    if not any(p.name == "command.latency" for p in any_simulator.parameters):
        pytest.skip("no latency")
    rest: Signals = {c.name: np.zeros((1, c.width)) for c in any_simulator.interface.commands}
    still = {f"{j}.{s}": np.zeros((1, 1)) for j in any_simulator.joints for s in ("position", "velocity")}
    moved = {}
    for loud in (0.0, 1.0):
        state, _, _ = stepped(
            any_simulator, {c.name: np.full((2, c.width), loud * c.high) for c in any_simulator.interface.commands}
        )
        _, _, told = any_simulator.step(any_simulator.place(state, still), rest, KEY)
        moved[loud] = np.concatenate([np.asarray(told[f"{j}.velocity"])[0] for j in any_simulator.joints])
    assert np.abs(moved[1.0] - moved[0.0]).max() > 0.05
