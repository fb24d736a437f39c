"""Wrong conventions put into good logs, by the judge: one at a time, of random size beyond its threshold."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gapless.core import Log
from gapless.learn.preflight.undoing import COMMANDS
from gapless.simulators import MujocoSimulator

COMMON = (
    "order", "sign", "sign", "sign", "degrees", "crossed", "clock commands", "clock sensor", "clock backwards", "gain", "gain",
    "unit", "gravity", "dropped", "repeated", "saturated", "frozen",
)  # fmt: skip
APPLY = {
    robot: [f"{kind} {k}" for k, kind in enumerate(kinds)]
    for robot, kinds in {
        "cartpole": (*COMMON, "offset", "offset", "unit"),
        "furuta": (*COMMON, "offset", "offset"),
        "puck": (*COMMON, "order commands"),
    }.items()
}
"""Robot → what can be wrong in its logs and be seen in them, numbered. A cart, and an arm in a plane, look the same from
anywhere, so that offsets are put into pendulums alone."""
OWN_GAIN = 0.76
"""What twins' gains are on average, relative to the data sheet."""
SWINGING = {"cartpole": "pole.angle", "furuta": "pendulum.angle"}
ARMS = {"cartpole": "cart.position", "furuta": "arm.angle", "puck": "shoulder.angle"}
SIZES = {"V": 1e3, "m": 1e3, "rad": 1e3}


@dataclass(frozen=True)
class Broken:
    """Logs with one wrong convention, or a model with one."""

    kind: str
    channels: tuple[str, ...]
    said: str
    logs: list[Log]
    simulator: MujocoSimulator


def break_logs(case: str, logs: list[Log], simulator: MujocoSimulator, rng: np.random.Generator) -> Broken:
    """The case's wrong convention, of random size and where there is a choice in a random channel."""
    what = case.rsplit(" ", 1)[0]
    kind = what.split(" ")[0]
    if kind == "gravity":
        turned, said = _turned(simulator, rng)
        return Broken(kind, (), said, logs, turned)
    channels, said, change = _BREAK[what](logs[0], rng)
    return Broken(kind, channels, said, [change(log) for log in logs], simulator)


Break = tuple[tuple[str, ...], str, Callable[[Log], Log]]


def just_below(logs: list[Log], rng: np.random.Generator) -> tuple[list[Log], str]:
    """A gap that is nearly a bug: an offset of 3 to 4°, or a clock 15 to 20 ms off."""
    robot, seconds = logs[0].interface.robot, float(rng.uniform(0.010, 0.015))
    if robot in SWINGING and rng.random() < 0.5:
        name, offset = SWINGING[robot], float(np.radians(rng.uniform(3.0, 4.0)) * rng.choice([-1, 1]))
        return [_measured(log, name, lambda v: v + offset) for log in logs], f"{name} {np.degrees(offset):.1f}°"
    return [
        replace(log, command_time=log.command_time - seconds) for log in logs
    ], f"commands {seconds * 1e3:.0f} ms early"


def _turned(simulator: MujocoSimulator, rng: np.random.Generator) -> tuple[MujocoSimulator, str]:
    angle = float(np.radians(rng.uniform(25.0, 90.0)) * rng.choice([-1, 1]))
    about = 0.0 if simulator.interface.robot == "cartpole" else float(rng.uniform(0, 2 * np.pi))
    model = copy.copy(simulator.model)
    aside = np.array([np.cos(about), np.sin(about), 0.0])
    model.opt.gravity[:] = 9.81 * (np.sin(angle) * aside - np.array([0, 0, np.cos(angle)]))
    kept = tuple(p for p in simulator.parameters if not p.name.startswith("gravity."))
    return MujocoSimulator(model, simulator.interface, kept), f"{np.degrees(angle):.0f}° in the model"


def _order(log: Log, rng: np.random.Generator) -> Break:
    a, b = log.interface.measurement_names[:2]
    return (
        (a, b),
        f"{a} ↔ {b}",
        lambda g: replace(g, measurements={**g.measurements, a: g.measurements[b], b: g.measurements[a]}),
    )


def _order_commands(log: Log, rng: np.random.Generator) -> Break:
    a, b = log.interface.command_names[:2]
    return (a, b), f"{a} ↔ {b}", lambda g: replace(g, commands={**g.commands, a: g.commands[b], b: g.commands[a]})


def _sign(log: Log, rng: np.random.Generator) -> Break:
    name = str(rng.choice([*log.interface.command_names, *log.interface.measurement_names[:2]]))
    return (name,), f"−{name}", lambda g: _any(g, name, lambda v: -v)


def _degrees(log: Log, rng: np.random.Generator) -> Break:
    name = str(rng.choice([c.name for c in log.interface.measurements if c.unit == "rad"]))
    return (name,), f"{name} in degrees", lambda g: _measured(g, name, np.degrees)


def _unit(log: Log, rng: np.random.Generator) -> Break:
    channels = [c for c in log.interface.commands + log.interface.measurements[:2] if c.unit in SIZES]
    channel = channels[int(rng.integers(len(channels)))]
    return (channel.name,), f"{channel.name} in m{channel.unit}", lambda g: _any(g, channel.name, lambda v: 1e3 * v)


def _offset(log: Log, rng: np.random.Generator) -> Break:
    name, size = SWINGING[log.interface.robot], float(np.radians(rng.uniform(6.0, 60.0)) * rng.choice([-1, 1]))
    return (name,), f"{name} {np.degrees(size):.1f}°", lambda g: _measured(g, name, lambda v: v + size)


def _crossed(log: Log, rng: np.random.Generator) -> Break:
    command, name = log.interface.command_names[0], ARMS[log.interface.robot]
    return (
        (command, name),
        f"{command} ↔ {name}",
        lambda g: replace(
            g,
            commands={**g.commands, command: g.measurements[name]},
            measurements={**g.measurements, name: g.commands[command]},
        ),
    )


def _clock_commands(log: Log, rng: np.random.Generator) -> Break:
    seconds = float(rng.uniform(0.06, 0.2) * rng.choice([-1, 1]))
    return (COMMANDS,), f"commands {seconds * 1e3:.0f} ms", lambda g: replace(g, command_time=g.command_time + seconds)


def _clock_sensor(log: Log, rng: np.random.Generator) -> Break:
    name, seconds = (
        str(rng.choice(log.interface.measurement_names[:2])),
        float(rng.uniform(0.06, 0.15) * rng.choice([-1, 1])),
    )
    return (
        (name,),
        f"{name} {seconds * 1e3:.0f} ms",
        lambda g: replace(g, measurement_time={**g.measurement_time, name: g.measurement_time[name] + seconds}),
    )


def _clock_backwards(log: Log, rng: np.random.Generator) -> Break:
    return (
        (),
        "all clocks negative",
        lambda g: replace(
            g, command_time=-g.command_time, measurement_time={k: -v for k, v in g.measurement_time.items()}
        ),
    )


def _gain(log: Log, rng: np.random.Generator) -> Break:
    net = float(rng.uniform(2.2, 5.0) if rng.random() < 0.5 else 1 / rng.uniform(2.5, 5.0))
    name = str(rng.choice(log.interface.command_names))
    return (name,), f"{name}'s gain {net:.2f} of the model's", lambda g: _any(g, name, lambda v: OWN_GAIN / net * v)


def _dropped(log: Log, rng: np.random.Generator) -> Break:
    share = float(rng.uniform(0.03, 0.1))
    kept = np.sort(rng.permutation(len(log))[: round((1 - share) * len(log))])

    def drop(g: Log) -> Log:
        rows = kept[kept < len(g)]
        return replace(
            g, commands={k: v[rows] for k, v in g.commands.items()}, measurements={k: v[rows] for k, v in g.measurements.items()},
            command_time=g.command_time[rows], measurement_time={k: v[rows] for k, v in g.measurement_time.items()},
        )  # fmt: skip

    return (), f"{share:.0%} of the rows", drop


def _repeated(log: Log, rng: np.random.Generator) -> Break:
    name, share = str(rng.choice(log.interface.measurement_names[:2])), float(rng.uniform(0.08, 0.2))
    again = rng.random(4096) < share

    def repeat(values: np.ndarray) -> np.ndarray:
        newest = np.maximum.accumulate(np.where(again[: len(values)], 0, np.arange(len(values))))
        return values[newest]

    return (name,), f"{share:.0%} of {name}", lambda g: _measured(g, name, repeat)


def _saturated(log: Log, rng: np.random.Generator) -> Break:
    name, share = ARMS[log.interface.robot], float(rng.uniform(0.3, 0.7))
    most = share * float(np.abs(log.measurements[name]).max())
    return (name,), f"{name} clipped at {most:.2f}", lambda g: _measured(g, name, lambda v: np.clip(v, -most, most))


def _frozen(log: Log, rng: np.random.Generator) -> Break:
    name, at = str(rng.choice(log.interface.measurement_names[:2])), float(rng.uniform(0.1, 0.6))

    def freeze(values: np.ndarray) -> np.ndarray:
        row = int(at * len(values))
        return np.concatenate([values[:row], np.repeat(values[row : row + 1], len(values) - row, axis=0)])

    return (name,), f"{name} from {at:.0%} on", lambda g: _measured(g, name, freeze)


_BREAK: dict[str, Callable[[Log, np.random.Generator], Break]] = {
    "order": _order, "order commands": _order_commands, "sign": _sign, "degrees": _degrees, "unit": _unit, "offset": _offset,
    "crossed": _crossed, "clock commands": _clock_commands, "clock sensor": _clock_sensor, "clock backwards": _clock_backwards,
    "gain": _gain, "dropped": _dropped, "repeated": _repeated, "saturated": _saturated, "frozen": _frozen,
}  # fmt: skip


def _measured(log: Log, name: str, change: Callable[[Any], Any]) -> Log:
    return replace(log, measurements={**log.measurements, name: change(log.measurements[name])})


def _any(log: Log, name: str, change: Callable[[Any], Any]) -> Log:
    if name in log.measurements:
        return _measured(log, name, change)
    return replace(log, commands={**log.commands, name: change(log.commands[name])})
