"""What can be wrong or odd about a log, a sentence each: faults stop an import, warnings are for the user to judge."""

import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from gapless.core import Channel, GaplessError, Log

SHORTEST = 2
"""Samples without which there is no motion to learn from."""
GAP_PERIODS = 3.0
"""A pause longer than this many median periods is a gap."""
TURNS_RAD = 3 * 2 * math.pi
"""Few joints turn further than this, and most angles in degrees do."""


def require_sound(log: Log) -> None:
    """Raise with the first fault; a log that passes may be learnt from."""
    found = faults(log)
    if found:
        more = f" (and {len(found) - 1} more of its kind)" if len(found) > 1 else ""
        raise GaplessError(f"{found[0]}{more}")


def faults(log: Log) -> list[str]:
    """What makes a log unusable: broken clocks, numbers that are none, nothing in it."""
    found = [f"{_name(log)}: {what}" for name, clock in _clocks(log).items() for what in _clock_faults(name, clock)]
    for channel, values in _signals(log):
        found += [f"{_name(log)}: {what}" for what in _value_faults(channel, values)]
    return found


def check_log(log: Log) -> list[str]:
    """What is odd about a log without being wrong, one sentence each."""
    with np.errstate(all="ignore"):  # a recorded log may hold anything; what is not finite is a fault, not an oddity
        found = [what for name, clock in _clocks(log).items() for what in _gaps(name, clock)]
        found += _period(log)
        for channel, values in _signals(log):
            found += _constant(channel, values) + _degrees(channel, values)
    return [f"{_name(log)}: {what}" for what in found]


def _name(log: Log) -> str:
    episode = log.source.get("episode")
    return "the log" if episode is None else f"log {episode!r}"


def _clocks(log: Log) -> dict[str, Float[np.ndarray, " time"]]:
    clocks = {name: log.measurement_time.get(name, np.empty(0)) for name in log.interface.measurement_names}
    return {"the commands": log.command_time} | {repr(name): clock for name, clock in clocks.items()}


def _signals(log: Log) -> Iterator[tuple[Channel, Float[np.ndarray, "time width"]]]:
    for channel in log.interface.commands:
        yield channel, log.commands[channel.name]
    for channel in log.interface.measurements:
        yield channel, log.measurements[channel.name]


def _clock_faults(name: str, clock: Float[np.ndarray, " time"]) -> list[str]:
    if len(clock) < SHORTEST:
        return [f"there are {len(clock)} samples of {name}; at least {SHORTEST} are needed. Leave this log out."]
    if not np.all(np.isfinite(clock)):
        row = int(np.flatnonzero(~np.isfinite(clock))[0])
        return [f"the clock of {name} is {clock[row]} in row {row}; every sample needs its time. Repair that column."]
    with np.errstate(over="ignore"):  # infinite steps are steps too
        steps = np.diff(clock)
    if np.all(steps > 0):
        return []
    row = int(np.flatnonzero(steps <= 0)[0])
    how = "stands still" if steps[row] == 0 else f"runs backwards by {-steps[row]:.6g} s"
    return [f"the clock of {name} {how} after row {row} ({clock[row]:.6g} s). Times must grow: sort or drop rows."]


def _value_faults(channel: Channel, values: Float[np.ndarray, "time width"]) -> list[str]:
    bad = np.flatnonzero(~np.isfinite(values).all(1))
    if not len(bad):
        return []
    kind = "NaN" if np.isnan(values[bad[0]]).any() else "infinite"
    return [
        f"{channel.name!r} is {kind} in row {bad[0]}, and not a finite number in {len(bad)} of {len(values)} rows. "
        "Leave those cells empty if nothing was sampled, or drop the rows."
    ]


def _gaps(name: str, clock: Float[np.ndarray, " time"]) -> list[str]:
    steps = np.diff(clock)
    if len(steps) < 2:
        return []
    median, longest = float(np.median(steps)), int(np.argmax(steps))
    gaps = int(np.sum(steps > GAP_PERIODS * median))
    if not gaps:
        return []
    return [
        f"the clock of {name} has {gaps} gaps of more than {GAP_PERIODS:g} median periods ({median:.4g} s), the "
        f"longest {steps[longest]:.4g} s after {clock[longest]:.4g} s. "
        "Check for lost samples; cut the log there if it matters."
    ]


def _period(log: Log) -> list[str]:
    if len(log) < SHORTEST + 1:
        return []
    median, period_s = float(np.median(np.diff(log.command_time))), log.interface.period_s
    if abs(median - period_s) <= 0.1 * period_s:
        return []
    return [
        f"commands are {median:.4g} s apart (median), the interface's period is {period_s:.4g} s. "
        "Check the unit of the clock, or put the log on the grid."
    ]


def _constant(channel: Channel, values: Float[np.ndarray, "time width"]) -> list[str]:
    if len(values) < SHORTEST or not np.all(values == values[0]):
        return []
    return [f"{channel.name!r} never changes (it is {values[0].tolist()}). Check that it is connected and mapped."]


def _degrees(channel: Channel, values: Float[np.ndarray, "time width"]) -> list[str]:
    largest = float(np.max(np.abs(values), initial=0.0))
    # Degrees stay within a few turns of 360; an encoder that counts turns in radians goes on and on.
    if channel.unit != "rad" or not TURNS_RAD < largest <= 3 * 360:
        return []
    return [
        f"{channel.name!r} reaches {largest:.4g} and should be in rad: that looks like degrees. "
        'If so, set unit = "deg" in the mapping.'
    ]
