"""The laws of simulators: worlds are independent, repeatable, restorable, and play what they step."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..signals import Params, Signals
from ..simulator import Holds, Simulator
from .laws import Law, findings, limit, misshapen, unequal

WORLDS, PERIODS, HALF = 3, 8, 4
SINGLE = 1e-4
"""Largest difference between two ways to the same number in single precision."""
SECOND = np.arange(WORLDS) == 1


def check_simulator(simulator: Simulator) -> list[str]:
    """What the simulator does against its contract; empty where it conforms."""
    laws = [law for listed in SIMULATOR_LAWS.values() for law in listed]
    return findings(laws, Bench.of(simulator))


@dataclass(frozen=True)
class Bench:
    """A simulator with three worlds, and starts, commands and parameters to try it with."""

    simulator: Simulator
    reset: Any
    step: Any
    """Both jitted where the simulator says that it is traceable."""
    start: Signals
    commands: list[Signals]
    nominal: Params
    drawn: Params
    """Parameters drawn between nominal and plausible; noise and late measurements are off in both."""

    @classmethod
    def of(cls, simulator: Simulator) -> "Bench":
        s, rng = simulator.with_worlds(WORLDS), np.random.default_rng(0)
        jit = jax.jit if s.traceable else lambda verb: verb
        start: Signals = {
            f"{j}.{side}": rng.uniform(-0.1, 0.1, (WORLDS, 1)) for j in s.joints for side in ("position", "velocity")
        }
        commands: list[Signals] = [
            {c.name: rng.uniform(limit(c, "low"), limit(c, "high"), (WORLDS, c.width)) for c in s.interface.commands}
            for _ in range(PERIODS)
        ]
        nominal: Params = {p.name: np.full(WORLDS, 0.0 if _sensing(p.name) else p.nominal) for p in s.parameters}
        drawn: Params = {
            p.name: nominal[p.name] if _sensing(p.name) else rng.uniform(p.nominal, p.high, WORLDS)
            for p in s.parameters
        }
        return cls(s, jit(s.reset), jit(s.step), start, commands, nominal, drawn)

    def begin(self, params: Params, start: Signals | None = None) -> tuple[Any, Signals]:
        everywhere, wanted = np.ones(WORLDS, bool), self.start if start is None else start
        return self.reset(self.simulator.init(), everywhere, params, wanted, jax.random.key(0))[:2]

    def on(self, state: Any, commands: list[Signals]) -> tuple[Any, list[Signals]]:
        """The state after some commands, and what was measured after each."""
        seen = []
        for k, command in enumerate(commands):
            state, measurement, _ = self.step(state, command, jax.random.key(k))
            seen.append(_copied(measurement))
        return state, seen

    def run(self, params: Params, commands: list[Signals] | None = None, start: Signals | None = None) -> list[Signals]:
        state, first = self.begin(params, start)
        return [_copied(first), *self.on(state, self.commands if commands is None else commands)[1]]


def _follows_interface(bench: Bench) -> Iterator[str]:
    """Measurements are those of the interface, one row per world."""
    seen = bench.run({})
    for moment, signals in (("reset", seen[0]), ("step", seen[1])):
        found = misshapen(signals, bench.simulator.interface.measurements, WORLDS)
        yield from (f"after a {moment}, {finding}" for finding in found)


def _repeats(bench: Bench) -> Iterator[str]:
    """The same seed gives the same result."""
    loud: Params = {
        p.name: np.full(WORLDS, p.high if p.name.endswith(".noise") else p.nominal) for p in bench.simulator.parameters
    }
    yield from unequal("two runs", bench.run(loud), bench.run(loud))


def _resets_masked(bench: Bench) -> Iterator[str]:
    """A reset touches only the masked worlds."""
    state, seen = bench.on(bench.begin(bench.nominal)[0], bench.commands[:HALF])
    other = {k: v[::-1] for k, v in bench.start.items()}
    state, fresh, _ = bench.reset(state, SECOND, bench.nominal, other, jax.random.key(1))
    seen = [*seen[:-1], _copied(fresh), *bench.on(state, bench.commands[HALF:])[1]]
    undisturbed = bench.run(bench.nominal)[1:]
    yield from unequal("worlds beside a reset one", _rows(undisturbed, ~SECOND), _rows(seen, ~SECOND))
    anew = bench.run(bench.nominal, bench.commands[HALF:], other)
    yield from unequal("a reset world and a new one", _rows(anew, SECOND), _rows(seen[HALF - 1 :], SECOND))


def _goes_back(bench: Bench) -> Iterator[str]:
    """A restored snapshot repeats exactly, as often as wanted."""
    state, _ = bench.on(bench.begin(bench.drawn)[0], bench.commands[:HALF])
    kept = bench.simulator.snapshot(state)
    ahead = bench.on(state, bench.commands[HALF:])[1]
    for time in ("first", "second"):
        again = bench.on(bench.simulator.restore(kept), bench.commands[HALF:])[1]
        yield from unequal(f"the motion and its {time} repetition", ahead, again)


def _params_per_world(bench: Bench) -> Iterator[str]:
    """Each world moves by its own parameters."""
    mixed: Params = {k: np.where(SECOND, bench.drawn[k], v) for k, v in bench.nominal.items()}
    nominal, drawn, both = (bench.run(p) for p in (bench.nominal, bench.drawn, mixed))
    yield from unequal("worlds beside one with other parameters", _rows(nominal, ~SECOND), _rows(both, ~SECOND))
    yield from unequal("worlds with the same parameters", _rows(drawn, SECOND), _rows(both, SECOND))
    if bench.nominal and not list(unequal("", nominal, drawn)):
        yield "other parameters change nothing"


def _plays(bench: Bench) -> Iterator[str]:
    """Playing commands agrees with stepping them, from when late sensors no longer read what was before the start."""
    period_s, names = bench.simulator.interface.period_s, bench.simulator.interface.command_names
    clock = np.append(-1.0, np.arange(PERIODS) * period_s)  # before the first command there was rest
    sent = np.stack([np.concatenate([np.asarray(c[n]) for n in names], axis=1) for c in bench.commands], axis=1)
    sent = np.concatenate([np.zeros_like(sent[:, :1]), sent], axis=1)
    holds = Holds([clock] * WORLDS, list(sent), np.arange(WORLDS), np.zeros(WORLDS))
    times = np.tile(np.arange(PERIODS + 1) * period_s, (WORLDS, 1))
    for params in (bench.nominal, bench.drawn):
        played = bench.simulator.play(params, bench.start, holds, times)
        trail = [{k: v[:, t] for k, v in played.items()} for t in range(PERIODS + 1)]
        since = _settled(bench.simulator)
        yield from unequal("the two", bench.run(params)[since:], trail[since:], SINGLE)


def _settled(simulator: Simulator) -> int:
    """Periods for which the latest sensor may still read what was before the start."""
    late = [p.high for p in simulator.parameters if p.name.endswith(".latency") and p.name != "command.latency"]
    return min(math.ceil(sum(sorted(late)[-2:]) / simulator.interface.period_s - 1e-9), PERIODS - 1)


def _permutes(bench: Bench) -> Iterator[str]:
    """Worlds do not feel each other: permuting them permutes the results."""
    order = np.arange(WORLDS)[::-1]
    params, start = _rows([bench.drawn, bench.start], order)
    turned = bench.run(params, _rows(bench.commands, order), start)
    yield from unequal("the two orders", _rows(bench.run(bench.drawn), order), turned, SINGLE)


def _clips(bench: Bench) -> Iterator[str]:
    """A command beyond its limits acts as the limit."""
    channels = bench.simulator.interface.commands
    for side in ("low", "high"):
        most: Signals = {c.name: np.full((WORLDS, c.width), limit(c, side)) for c in channels}
        farther = {"low": -1e3, "high": 1e3}[side]
        beyond: Signals = {c.name: most[c.name] + farther * np.isfinite(getattr(c, side)) for c in channels}
        one, other = (bench.run(bench.nominal, [command] * PERIODS) for command in (most, beyond))
        yield from unequal(f"the {side} limit and a thousand beyond it", one, other)


def _sensing(name: str) -> bool:
    return name.endswith(".noise") or name == "measurement.latency"


def _copied(signals: Signals) -> Signals:
    return {k: np.array(v) for k, v in signals.items()}


def _rows(seen: list[Signals], which: np.ndarray) -> list[Signals]:
    return [{k: np.asarray(v)[which] for k, v in signals.items()} for signals in seen]


SIMULATOR_LAWS: dict[str, tuple[Law, ...]] = {
    "interface": (_follows_interface,),
    "limits": (_clips,),
    "determinism": (_repeats, _resets_masked, _goes_back, _params_per_world, _plays, _permutes),
}
"""By area; their subject is a Bench."""
