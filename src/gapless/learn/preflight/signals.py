"""What logs show without any model: clocks that run backwards, lost or repeated samples, sensors frozen or at a limit."""

from collections.abc import Iterator

import numpy as np

from gapless.core import Log

from .finding import Finding
from .runs import Run, runs
from .undoing import COMMANDS

LONG_S, FEWEST = 0.25, 8
"""A run this long, and of so many samples, is a sensor that does not answer; shorter ones are repeats."""
REPEATED, MISSING, LEAPING = 0.025, 0.01, 0.05
"""Shares of samples from which on repeated ones, missing ones and leaps are reported."""
BEGIN = 3
"""Many logs begin at rest; what is still from so early on does not count as frozen."""
ROUNDING = 5.0
"""An encoder that moves by so many of its steps a sample is not about to rest."""
PAUSE, SKIP = 1.7, (1.6, 6.0)
"""A pause of so many periods misses samples; a step so many times its neighbours' skips some."""


def signal_findings(logs: list[Log]) -> list[Finding]:
    """One finding for each kind and channel, whichever logs show it."""
    interface = logs[0].interface
    clocks = {COMMANDS: [log.command_time for log in logs]}
    clocks |= {n: [log.measurement_time[n] for log in logs] for n in interface.measurement_names}
    found = [f for name, every in clocks.items() for f in _clock(name, every)]
    for name in interface.measurement_names:
        found += _channel(name, logs)
    return _merged(found or _skipped(logs))


def _clock(name: str, clocks: list[np.ndarray]) -> Iterator[Finding]:
    steps = [np.diff(c) for c in clocks if len(c) > 2]
    back, total = sum(int((s < 0).sum()) for s in steps), sum(map(len, steps))
    if back:
        yield Finding(
            "clock", (name,), f"the clock of {name} runs backwards at {back} of {total} samples",
            "Sort the rows by time, or name another clock in the mapping.",
        )  # fmt: skip
        return
    same = sum(int((s == 0).sum()) for s in steps)
    if same > REPEATED * total:
        yield Finding(
            "repeated", (name,), f"the clock of {name} stands still at {same} of {total} samples",
            "Drop the rows that are there twice.",
        )  # fmt: skip
    missing = sum(_missing(s) for s in steps)
    if missing > MISSING * (total + missing):
        yield Finding(
            "dropped", (name,), f"the clock of {name} pauses where {missing} of {total + missing} samples would have been",
            "Record again without losses, or cut the logs at the pauses.",
        )  # fmt: skip


def _missing(steps: np.ndarray) -> int:
    period = float(np.median(steps))
    return int(np.round(steps[steps > PAUSE * period] / period - 1).sum()) if period > 0 else 0


def _channel(name: str, logs: list[Log]) -> Iterator[Finding]:
    """Frozen, at its limit, or repeating samples: told apart by how long runs are and where they lie."""
    good = [log for log in logs if len(log.measurements[name]) >= FEWEST and np.isfinite(log.measurements[name]).all()]
    total = sum(log.measurements[name].size for log in good)
    tallies = [_tally(log, name) for log in good]
    limit, stuck, repeats = (sum(t[k] for t in tallies) for k in range(3))
    longest_s = max((t[3] for t in tallies), default=0.0)
    if limit > REPEATED * total:
        yield Finding(
            "saturated", (name,), f"{name} stays at its largest or smallest value in {limit} of {total} samples",
            "Use a sensor with a wider range, or leave out the stretches at the limit.",
        )  # fmt: skip
    elif stuck:
        yield Finding(
            "frozen", (name,), f"{name} does not change for up to {longest_s:.1f} s while the robot moves",
            "Check that it is connected and mapped to the right column.",
        )  # fmt: skip
    elif repeats > REPEATED * total:
        yield Finding(
            "repeated", (name,), f"{name} repeats the sample before in {repeats} of {total} samples",
            "Log only new samples, each with its own time.",
        )  # fmt: skip


def _tally(log: Log, name: str) -> tuple[int, int, int, float]:
    """Samples at a limit, frozen and repeated, and how long the longest freeze lasts."""
    values, period_s = log.measurements[name], float(np.median(np.diff(log.measurement_time[name])))
    together = (np.diff(values, axis=0) == 0).all(axis=1)  # filters repeat single numbers, a lost sample all of them
    limit = stuck = repeats = 0
    longest_s = 0.0
    for column in values.T:
        every = runs(column)
        whole = [r for r in every if together[r.first - 1 : r.first - 1 + r.length].all()]
        for r in every:
            at_limit = r.value in (column.max(), column.min()) and r.length < len(column) - 1
            long = r.length * period_s >= LONG_S and r.length >= FEWEST and r.first > BEGIN
            dead = r.length == len(column) - 1 and _driven(log)
            if at_limit and r.entered and r.left:
                limit += r.length
            elif r in whole and (dead or (long and (_unlike(r, every, column) or _torn(r, column)))):
                stuck, longest_s = stuck + r.length, max(longest_s, r.length * period_s)
            elif r in whole and r.entered and r.left:
                repeats += r.length
    return limit, stuck, repeats, longest_s


def _unlike(run: Run, every: list[Run], column: np.ndarray) -> bool:
    """Whether this channel otherwise hardly ever repeats a number, not even at rest."""
    others = sum(r.length for r in every) - run.length
    return others < 0.05 * (len(column) - run.length) and len(column) - run.length > FEWEST


def _torn(run: Run, column: np.ndarray) -> bool:
    """Whether the channel was fast when the run began, and after it is far away or never seen again: no encoder at rest."""
    steps = np.abs(np.diff(column))
    if run.first < 2 or run.length == len(column) - 1:
        return False
    after, fast = run.first + run.length, max(np.quantile(steps[steps > 0], 0.75), ROUNDING * steps[steps > 0].min())
    if steps[run.first - 2] < fast:
        return False
    return bool(steps[after - 1] > 3 * fast) if after < len(column) else run.length > len(column) / 10


def _driven(log: Log) -> bool:
    """Whether commands move and some measurement answers them."""
    moves = [float(np.ptp(v)) > 0 for v in (*log.commands.values(), *log.measurements.values()) if len(v)]
    return any(moves[: len(log.commands)]) and any(moves[len(log.commands) :])


def _skipped(logs: list[Log]) -> list[Finding]:
    """Samples that are missing although the clock does not say so: all moving channels leap twice as far, once."""
    leaps = total = 0
    for log in logs:
        speeds = [_speeds(log, name, k) for name, v in log.measurements.items() for k in range(v.shape[1])]
        if len({len(s) for s in speeds}) != 1 or len(speeds[0]) < FEWEST:
            continue
        far, voting = np.zeros(len(speeds[0]) - 2), np.zeros(len(speeds[0]) - 2)
        for s in speeds:
            around, middle = (s[:-2] + s[2:]) / 2, s[1:-1]
            steady = (np.abs(s[:-2] - s[2:]) < 0.4 * np.abs(around)) & (np.abs(around) > np.quantile(np.abs(s), 0.6))
            ratio = np.divide(middle, around, out=np.ones_like(middle), where=steady)
            far += steady & (ratio > SKIP[0]) & (ratio < SKIP[1])
            voting += steady
        enough = voting >= min(2, len(speeds))
        leaps, total = leaps + int(((far == voting) & enough).sum()), total + int(enough.sum())
    if leaps <= LEAPING * max(total, 1):
        return []
    return [
        Finding(
            "dropped", tuple(logs[0].measurements), f"all channels leap at {leaps} of {total} samples, and no clock says why",
            "Log the true time of every sample, or record again without losses.",
        )
    ]  # fmt: skip


def _speeds(log: Log, name: str, column: int) -> np.ndarray:
    steps = np.diff(log.measurement_time[name])
    return np.diff(log.measurements[name][:, column]) / np.where(steps > 0, steps, np.inf)


def _merged(found: list[Finding]) -> list[Finding]:
    """A loss that all channels share is one finding."""
    kept: dict[tuple[str, str], Finding] = {}
    for f in found:
        key = (f.kind, f.kind if f.kind in ("dropped", "clock") else f.channels[0])
        if key in kept:
            f = Finding(f.kind, kept[key].channels + f.channels, kept[key].evidence, f.advice)
        kept[key] = f
    return list(kept.values())
