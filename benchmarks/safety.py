"""Randomised episodes under fire: broken measurements, failing drivers, late answers, hostile policies, bad starts.

Each episode draws a machine (channels, limits, rates, period, sensors with and without noise), a policy that is rarely kind, the
gate's patience, and at most one fault at a random time. At the motors stands a witness that shares no code with the gate: it
checks the shape, limits and rate of every command that arrives, that after a jump to rest nothing but rest follows, and that
every episode ends at rest.
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

import jax
import numpy as np
import tyro

from frame import Benchmark, console, finish
from gapless.core import Block, Channel, Interface, Log, Params, Robot, Signals, generator_for
from gapless.robots import Gate, Limits, record

PINNED = 10.5
"""Periods for which a policy that saturates may do so."""
BARS = {"episodes": "≥ 10000", "violations": "0", "stopped_within_period": "all of must_stop", "false_stops": "0"}
ROWS = 60
"""Periods of an episode."""
MACHINE_FAULTS = (
    "none", "missing channel", "missing reading", "not-a-number", "infinite", "wrong shape", "no numbers", "outside limits",
    "too fast", "bad start", "frozen channel", "frozen robot", "stale stamp", "stamp goes back", "read raises", "send raises",
    "wait raises", "clock raises", "gone for good", "read late", "send late", "wait late", "clock goes back",
    "clock stands still", "garbled reply",
)  # fmt: skip
POLICY_FAULTS = (
    "policy not-a-number", "policy infinite", "policy wrong shape", "policy no command", "policy slow", "policy saturates",
    "clock jumps",
)  # fmt: skip
HARMLESS = ("none", "garbled reply")
"""What must not stop the robot."""
POLICIES = ("kind", "huge", "oscillating", "saturating", "jumping", "resting")
WELL = 0.05
"""Share of a command's range that surely drives a robot, as the gate's rule for frozen robots has it."""
MOVED = 5
"""Readings in a row that differed before a robot that stands still looks frozen, as the same rule has it."""


@dataclass(frozen=True)
class Safety(Benchmark):
    """Injure the robot, the driver and the policy, and watch what reaches the motors."""

    episodes: int = 10_000
    """Episodes in all."""
    seed: int = 0
    """Of everything random."""
    jobs: int = 2
    """Episodes at the same time."""


@dataclass(frozen=True)
class Scene:
    """One episode: the machine, the policy and the fault."""

    interface: Interface
    policy: str
    fault: str
    at: int
    """Period in which the fault begins."""
    limits: Limits
    noise: float
    """Of the sensors, in m; 0 for perfect ones."""
    kinematic: bool
    """Whether it stops dead when commands rest, so that perfect sensors repeat themselves."""
    stamped: bool
    """Whether measurements carry their time."""
    seed: int


class Witness:
    """Stands at the motors: every command that arrives must be a legal one."""

    def __init__(self, interface: Interface) -> None:
        self.interface, self.violations, self.commands = interface, 0, 0
        self._last = {c.name: _nearest_to_zero(c) for c in interface.commands}
        self._at_s: float | None = None
        self.resting, self._jumped = True, False

    def sees(self, command: Any, time_s: float) -> None:
        """A command arrives."""
        self.commands += 1
        self.resting = all(np.array_equal(command[c.name], _nearest_to_zero(c)) for c in self.interface.commands)
        self.violations += self._jumped and not self.resting
        for channel in self.interface.commands:
            value = np.asarray(command[channel.name])
            legal = value.shape == (channel.width,) and value.dtype == np.float64 and bool(np.isfinite(value).all())
            legal = legal and bool((value >= channel.low).all() and (value <= channel.high).all())
            elapsed = self.interface.period_s if self._at_s is None else time_s - self._at_s
            jump = float(np.abs(value - self._last[channel.name]).max()) if legal else np.inf
            jumps = jump > channel.rate * elapsed * (1 + 1e-9) + 1e-12
            self._jumped = self._jumped or jumps
            self.violations += not legal or (jumps and not self.resting)
            self._last[channel.name] = value
        self._at_s = time_s


class Machine(Robot):
    """Masses on springs and dampers, pushed by commands, with one fault."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.interface, self.witness = scene, scene.interface, Witness(scene.interface)
        self.rng = generator_for(scene.seed, "machine")
        self.struck_at: int | None = None
        """Period in which the fault first did something."""
        self.known_at: int | None = None
        """Period in which a frozen robot had repeated itself often enough while driven."""
        self.period, self._repeats, self._driven, self._moved, self._seen = -1, 0, False, 0, {}
        self._time_s, self._x, self._v = 0.0, np.zeros(0), np.zeros(0)
        self._command = {c.name: _nearest_to_zero(c) for c in self.interface.commands}
        self._acting, self._kept, self._mix = self._command, {}, np.zeros((0, 0))

    def connect(self) -> None: ...

    def disconnect(self) -> None: ...

    def reset(self, episode: int) -> None:
        n, pushes = self.interface.measurement_width, self.interface.command_width
        self._x, self._v = self.rng.uniform(-0.2, 0.2, n), np.zeros(n)
        self._mix = self.rng.uniform(-1, 1, (n, pushes)) / pushes

    def now(self) -> float:
        if self.struck("clock raises"):
            raise OSError("no clock")
        if self.struck("clock goes back"):
            return self._time_s - 1.0
        return self._time_s

    def wait_until(self, time_s: float) -> None:
        self.period += 1
        self._raise_if("wait raises", "gone for good")
        if self.struck("clock stands still"):
            return
        self.advance(max(time_s - self._time_s, 0.0) + self._late("wait late"))

    def get_observation(self) -> Signals:
        self._raise_if("read raises", "gone for good")
        self.advance(self._late("read late"))
        seen = self._measured()
        if not self._kept:
            same = all(np.array_equal(seen[n], self._seen.get(n, np.nan)) for n in self.interface.measurement_names)
            self._seen, self._moved = seen, 0 if same else self._moved + bool(self._seen)
        return self._spoilt(seen) if self.scene.fault in SPOILERS and self.struck(self.scene.fault) else seen

    def send_action(self, command: Signals) -> Any:
        self.witness.sees(command, self._time_s)
        self._raise_if("send raises", "gone for good")
        self._driven = any(_drives(c, command[c.name], self._command[c.name]) for c in self.interface.commands)
        self._command = command
        self.advance(self._late("send late"))
        return "thanks" if self.struck("garbled reply") else command

    def struck(self, *faults: str) -> bool:
        """Whether one of these faults is the scene's and has begun."""
        struck = self.scene.fault in faults and self.period >= self.scene.at
        if struck and self.struck_at is None:
            self.struck_at = self.period
        return struck

    def _late(self, fault: str) -> float:
        """Seconds by which an answer is late, once."""
        strikes = self.struck_at is None and self.struck(fault)
        limits, period_s = self.scene.limits, self.interface.period_s
        allowed = limits.watchdog(period_s) if fault == "wait late" else limits.late(period_s)
        return allowed * self.rng.uniform(1.05, 5) if strikes else 0.0

    def _raise_if(self, *faults: str) -> None:
        if self.struck(*faults):
            raise ERRORS[self.rng.integers(len(ERRORS))]("bus")

    def advance(self, seconds: float) -> None:
        """Let time pass; commands act a period after they came."""
        steps = max(1, min(20, round(seconds / self.interface.period_s * 4))) if seconds > 0 else 0
        for _ in range(steps):
            force = self._mix @ self._pushes()
            self._v = force if self.scene.kinematic else self._v + seconds / steps * (force - self._x - 2 * self._v)
            self._x = self._x + seconds / steps * self._v
        self._acting = self._command if steps else self._acting
        self._time_s += seconds

    def _pushes(self) -> np.ndarray:
        """From -1 to 1, 0 at rest."""
        channels = self.interface.commands
        return np.concatenate(
            [(self._acting[c.name] - _nearest_to_zero(c)) / max(c.high - c.low, 1e-9) for c in channels]
        )

    def _measured(self) -> Signals:
        seen, first = {}, 0
        for channel in self.interface.measurements:
            x = self._x[first : first + channel.width]
            noise = self.scene.noise * self.rng.standard_normal(channel.width)
            seen[channel.name], first = np.clip(x + noise, -4.9, 4.9), first + channel.width
            if self.scene.stamped:
                seen[f"{channel.name}.time"] = np.array([self._time_s - 0.001])
        return seen

    def _tells(self) -> bool:
        """Whether a reading that repeats itself has no excuse."""
        excuses = {
            "frozen robot": not self._driven or self._moved < MOVED,
            "frozen channel": self.witness.resting and len(self.interface.measurements) == 1,
        }
        return not excuses.get(self.scene.fault, False)

    def _spoilt(self, seen: Signals) -> Signals:
        name = self.interface.measurements[-1].name
        self._repeats += bool(self._kept) and self._tells()
        self._kept = self._kept or seen
        if self._repeats >= self.scene.limits.frozen_samples and self.known_at is None:
            self.known_at = self.period
        return SPOILERS[self.scene.fault](seen, name, self._kept)


ERRORS = (OSError, TimeoutError, ValueError, KeyError, RuntimeError, ZeroDivisionError)


def _without(seen: Signals, name: str, kept: Signals) -> Signals:
    return {k: v for k, v in seen.items() if k != name}


def _with(make: Callable[[np.ndarray], Any]) -> Callable[[Signals, str, Signals], Any]:
    return lambda seen, name, kept: seen | {name: make(seen[name])}


def _last(values: np.ndarray, value: float) -> np.ndarray:
    return np.append(values[:-1], value)


SPOILERS: dict[str, Callable[[Signals, str, Signals], Any]] = {
    "missing channel": _without,
    "missing reading": lambda seen, name, kept: None,
    "not-a-number": _with(lambda v: _last(v, np.nan)),
    "infinite": _with(lambda v: _last(v, -np.inf)),
    "wrong shape": _with(lambda v: np.append(v, 0.0)),
    "no numbers": _with(lambda v: ["left"] * len(v)),
    "outside limits": _with(lambda v: _last(v, 5.0 + 1e-6)),
    "bad start": _with(lambda v: _last(v, -7.0)),
    "too fast": lambda seen, name, kept: seen | {name: _last(seen[name], -4.9 if kept[name][-1] > 0 else 4.9)},
    "frozen channel": lambda seen, name, kept: seen | {name: kept[name]},
    "frozen robot": lambda seen, name, kept: seen | {k: v for k, v in kept.items() if not k.endswith(".time")},
    "stale stamp": lambda seen, name, kept: seen | {f"{name}.time": kept[f"{name}.time"]},
    "stamp goes back": lambda seen, name, kept: seen | {f"{name}.time": kept[f"{name}.time"] - 1.0},
}


class Hostile(Block):
    """A policy that asks for what it should not."""

    traceable = False
    scene: Scene
    machine: Machine
    """Its clock passes while a slow policy thinks."""

    def init(self, key: Any) -> Any:
        return generator_for(self.scene.seed, "policy")

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        k = self.machine.period
        wanted = {c.name: _wish(self.scene.policy, c, k, memory) for c in self.scene.interface.commands}
        return memory, self._broken(wanted) if self.machine.struck(*POLICY_FAULTS) else wanted

    def _broken(self, wanted: Signals) -> Any:
        name = self.scene.interface.command_names[-1]
        match self.scene.fault:
            case "policy not-a-number":
                return wanted | {name: np.full_like(wanted[name], np.nan)}
            case "policy infinite":
                return wanted | {name: np.full_like(wanted[name], np.inf)}
            case "policy wrong shape":
                return wanted | {name: np.zeros(len(wanted[name]) + 1)}
            case "policy no command":
                return None
            case "policy slow":
                self.machine.advance(self.scene.limits.watchdog(self.scene.interface.period_s) * 1.05)
            case "policy saturates":
                return {c.name: np.full(c.width, c.high) for c in self.scene.interface.commands}
            case "clock jumps" if self.machine.struck_at == self.machine.period:
                period_s = self.scene.interface.period_s
                self.machine.advance(
                    period_s + self.scene.limits.watchdog(period_s) * self.machine.rng.uniform(1.05, 5)
                )
        return wanted


def _wish(policy: str, channel: Channel, k: int, rng: np.random.Generator) -> np.ndarray:
    low, high, width = channel.low, channel.high, channel.width
    match policy:
        case "huge":
            return rng.choice([-1, 1], width) * 10 ** rng.uniform(3, 300, width)
        case "oscillating":
            return np.full(width, high if k % 2 else low)
        case "saturating":
            return np.full(width, 2 * high - low)
        case "jumping":
            return rng.uniform(2 * low - high, 2 * high - low, width)
        case "resting":  # works, then rests for good: a perfect sensor will repeat itself
            return np.full(width, 0.6 * high) if k < 15 else _nearest_to_zero(channel)
        case _:
            return np.full(width, (low + high) / 2 + 0.4 * (high - low) * np.sin(0.3 * k))


def _nearest_to_zero(channel: Channel) -> np.ndarray:
    return np.full(channel.width, min(max(0.0, channel.low), channel.high))


def scene_of(seed: int, number: int) -> Scene:
    """The episode of that number; every fault comes equally often."""
    rng, faults = generator_for(seed, "scene", number), MACHINE_FAULTS + POLICY_FAULTS
    fault, interface, first = faults[number % len(faults)], _interface(rng), 0
    if fault.startswith(("frozen", "stamp", "clock", "too fast")):
        first = 10  # there must be a past that it contradicts
    at = 0 if fault == "bad start" else int(rng.integers(first, 40))
    policy = "kind" if fault == "policy saturates" else str(rng.choice(POLICIES))
    noise = 1e-3 if fault == "frozen channel" else float(rng.choice([0.0, 1e-4, 1e-3]))
    stamped, kinematic = "stamp" in fault or bool(rng.random() < 0.3), bool(rng.random() < 0.5)
    return Scene(interface, policy, fault, at, _limits(rng, fault, interface), noise, kinematic, stamped, seed + number)


def _limits(rng: np.random.Generator, fault: str, interface: Interface) -> Limits:
    drawn = Limits(late_periods=float(rng.choice([0.5, 1.0, 2.0])), frozen_samples=int(rng.choice([5, 10, 15])))
    return replace(drawn, saturated_s=PINNED * interface.period_s) if fault == "policy saturates" else drawn


def _interface(rng: np.random.Generator) -> Interface:
    commands = []
    for k in range(rng.integers(1, 4)):
        # Some ranges do not contain zero: their rest is their edge.
        low = float(rng.choice([-1.0, -0.2, 0.3])) * 10 ** rng.uniform(-2, 3)
        high = low + 10 ** rng.uniform(-1, 1) * abs(low)
        rate = float("inf") if rng.random() < 0.4 else (high - low) * 10 ** rng.uniform(0, 2)
        commands.append(Channel(f"push{k}", int(rng.integers(1, 4)), "N", low, high, rate))
    measured = [
        Channel(f"place{k}", int(rng.integers(1, 4)), "m", -5.0, 5.0, float(rng.uniform(20, 40)))
        for k in range(rng.integers(1, 4))
    ]
    return Interface("machine", float(rng.choice([0.002, 0.01, 0.02, 0.05])), tuple(commands), tuple(measured))


def play(seed: int, number: int) -> dict[str, Any]:
    """One episode and what became of it."""
    scene = scene_of(seed, number)
    machine = Machine(scene)
    try:
        gate = Gate(machine, scene.limits)
        log = record(gate, Hostile(scene, machine), ROWS * scene.interface.period_s, 0, jax.random.key(0))
    except Exception as error:
        return _result(scene, machine, None, f"{type(error).__name__}: {error}")
    return _result(scene, machine, log, log.source["stopped"])


def _result(scene: Scene, machine: Machine, log: Log | None, says: str | None) -> dict[str, Any]:
    rows, struck, due = 0 if log is None else len(log), machine.struck_at, _due(scene, machine)
    must_stop, stopped = scene.fault not in HARMLESS and due is not None, log is not None and says is not None
    in_time = must_stop and stopped and struck is not None and due is not None and struck <= rows - 1 <= due
    return {
        "fault": scene.fault,
        "struck": struck is not None,
        "must_stop": must_stop,
        "in_time": in_time,  # the log's last row is the period of the stop
        "false_stop": scene.fault in HARMLESS and stopped,
        "kept": rows == ROWS + 1 or (0 < rows <= ROWS and stopped),
        "violations": machine.witness.violations + (not machine.witness.resting),
        "commands": machine.witness.commands,
        "says": says,
    }


def _due(scene: Scene, machine: Machine) -> int | None:
    """The last period in which the fault may stop the robot: one after it could be known, None if it never could."""
    if scene.fault in ("frozen channel", "frozen robot", "stale stamp"):
        return None if machine.known_at is None else machine.known_at + 1
    if machine.struck_at is None:
        return None
    known_after = {"too fast": scene.limits.rate_samples - 1, "policy saturates": int(PINNED) + 1}
    return machine.struck_at + known_after.get(scene.fault, 0) + 1


def some(task: tuple[int, range]) -> list[dict[str, Any]]:
    return [play(task[0], number) for number in task[1]]


def main() -> None:
    options = tyro.cli(Safety, description=__doc__)
    if options.quick:
        options = replace(options, episodes=min(options.episodes, 640))
    pieces = [range(k, min(k + 200, options.episodes)) for k in range(0, options.episodes, 200)]
    context = get_context("spawn")  # threads of JAX do not survive a fork
    with ProcessPoolExecutor(options.jobs, context) as pool, console.status("under fire") as status:
        results: list[dict[str, Any]] = []
        for found in pool.map(some, [(options.seed, piece) for piece in pieces]):
            results += found
            status.update(f"{len(results)} of {options.episodes} episodes")
    figures = {
        "episodes": len(results),
        "commands": sum(r["commands"] for r in results),
        "faults": sum(r["struck"] for r in results),
        "violations": sum(r["violations"] for r in results),
        "must_stop": sum(r["must_stop"] for r in results),
        "stopped_within_period": sum(r["in_time"] for r in results),
        "logs_kept": sum(r["kept"] for r in results),
        "false_stops": sum(r["false_stop"] for r in results),
    }
    finish("safety", options, figures, [by_kind(results, f) for f in MACHINE_FAULTS + POLICY_FAULTS], BARS)


def by_kind(results: list[dict[str, Any]], fault: str) -> dict[str, Any]:
    """The row of one kind of fault; one of the sentences that it led to is printed beside."""
    chosen = [r for r in results if r["fault"] == fault]
    says = [r["says"] for r in chosen if r["says"]]
    console.print(f"{fault}: {says[0] if says else '-'}", markup=False, highlight=False, soft_wrap=True)
    counted = ("must_stop", "in_time", "false_stop", "kept", "violations")
    return {"fault": fault, "episodes": len(chosen)} | {k: sum(r[k] for r in chosen) for k in counted}


def _drives(channel: Channel, value: np.ndarray, before: np.ndarray) -> bool:
    enough = WELL * (channel.high - channel.low)
    return max(np.abs(value - _nearest_to_zero(channel)).max(), np.abs(value - before).max()) > enough


if __name__ == "__main__":
    main()
