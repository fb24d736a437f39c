"""The law of motion: what a small command does to the robot is what it does to the model, in sign and size."""

from collections.abc import Iterator

import jax
import numpy as np

from ..interface import Interface
from ..signals import Signals, stack, unstack
from ..simulator import Simulator
from .handled import Handled
from .laws import Note, Seen

SHARE = 0.1
"""The push, as a share of the command's range."""
PUSH_S = 0.3
MOST = 5.0
"""How many times as far as the model the robot may move."""
GUESSES = (("degrees", 40.0, 80.0), ("millimetres", 500.0, 2000.0))


def moves_like_the_model(handled: Handled, simulator: Simulator) -> Iterator[str]:
    """A small command moves the robot as it moves the model, in the same direction and about as far.

    Look for swapped joints, a flipped sign, or degrees and millimetres in the driver.
    """
    interface = handled.robot.interface
    if not all(np.isfinite([c.low, c.high]).all() for c in interface.commands):
        yield Note("not tried, as a command has no limits")
        return
    periods = max(4, round(PUSH_S / interface.period_s))
    pushes = _pushes(handled)
    recorded = [_pushed(handled, push, periods) for push in pushes]
    stopped = next((r for r in recorded if isinstance(r, str)), "")
    if stopped:
        yield f"the robot was stopped: {stopped}"
        return
    trails = np.stack(recorded)
    robot = _moved(trails)
    model = _moved(_simulated(simulator, interface, pushes, trails[0, 0], periods))
    # The last readings of several runs differ by their noise, too.
    noise = 6 * np.abs(np.diff(trails, n=2, axis=1)).mean(axis=(0, 1))
    names = [c.name for c in interface.measurements for _ in range(c.width)]
    for k, pushed in enumerate(n for c in interface.commands for n in [c.name] * c.width):
        yield from _compared(pushed, names, robot[k], model[k], noise)


def _compared(pushed: str, names: list[str], robot: np.ndarray, model: np.ndarray, noise: np.ndarray) -> Iterator[str]:
    """What is odd about one push: the measurement that the model moves most, beside what the robot did."""
    clear = np.abs(model) / np.maximum(noise, 1e-9)
    most = int(np.argmax(clear))
    if clear[most] < 1:
        yield Note(f"a tenth of {pushed} hardly moves anything in the model")
        return
    ratio, name = robot[most] / model[most], names[most]
    instead = int(np.argmax(np.abs(robot) / np.maximum(np.abs(robot[most]), noise)))
    if abs(ratio) < 0.1 and abs(robot[instead]) > max(noise[instead], 5 * abs(robot[most])):
        yield f"{pushed} moves {names[instead]} ({_column(names, instead)}) and in the model {name} ({_column(names, most)})"
    elif ratio < -0.1:
        yield f"{pushed} moves {name} by {robot[most]:.3g} and in the model by {model[most]:.3g}, the other way"
    elif ratio > MOST:
        rather = next((f", as {unit} would" for unit, low, high in GUESSES if low < ratio < high), "")
        yield f"{pushed} moves {name} {ratio:.3g} times as far as in the model{rather}"
    elif ratio < 1 / MOST:
        yield Note(
            f"{pushed} moves {name} only {max(ratio, 0):.2g} times as far as in the model; friction may be all of it"
        )
    else:
        yield Seen(f"{pushed} moves {name} {ratio:.2g} times as far as in the model")


def _column(names: list[str], column: int) -> str:
    return f"number {column - names.index(names[column]) + 1}"


def _pushes(handled: Handled) -> np.ndarray:
    """Rest, then rest with one command pushed a little, as (1 + command, command)."""
    interface = handled.robot.interface
    rest = stack(handled.rest(), interface.command_names)
    low, high = (
        np.concatenate([np.full(c.width, getattr(c, side)) for c in interface.commands]) for side in ("low", "high")
    )
    size = SHARE * (high - low) * np.where(rest + SHARE * (high - low) <= high, 1, -1)
    return rest + np.concatenate([np.zeros((1, len(rest))), np.diag(size)])


def _pushed(handled: Handled, push: np.ndarray, periods: int) -> np.ndarray | str:
    """What the robot measures under a held command, as (1 + period, column), or why a gate stopped it; it is left at rest."""
    robot, interface, trail = handled.robot, handled.robot.interface, []
    handled.begin()
    began = robot.now()
    try:
        for k in range(periods + 1):
            robot.wait_until(began + k * interface.period_s)
            seen = robot.get_observation()
            if getattr(robot, "stopped", None):
                return str(robot.stopped)  # type: ignore[attr-defined]
            trail.append(stack(seen, interface.measurement_names))
            robot.send_action(unstack(push, interface.command_widths))
    finally:
        robot.send_action(handled.rest())
    return np.array(trail, np.float64)


def _simulated(
    simulator: Simulator, interface: Interface, pushes: np.ndarray, first: np.ndarray, periods: int
) -> np.ndarray:
    """The same in the model, one world per push, from the joint positions that the robot measured first."""
    wide, key = simulator.with_worlds(len(pushes)), jax.random.key(0)
    read = unstack(first, interface.measurement_widths)
    start: Signals = {
        f"{joint}.{side}": np.tile(read[name], (len(pushes), 1))
        for name, (joint, side) in simulator.sensed.items()
        if side == "position" and name in read
    }
    command, trail = unstack(pushes, interface.command_widths), []
    state, seen, _ = wide.reset(wide.init(), np.ones(len(pushes), bool), {}, start, key)
    for _ in range(periods + 1):
        trail.append(stack(seen, interface.measurement_names))
        state, seen, _ = wide.step(state, command, key)
    return np.stack(trail, axis=1)


def _moved(trails: np.ndarray) -> np.ndarray:
    """How far each push went beyond what rest alone did, as (command, column)."""
    went = trails[:, -1] - trails[:, 0]
    return went[1:] - went[:1]
