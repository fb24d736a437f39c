"""A log's commands once more, in a simulator: same commands, simulated measurements, on the log's own clocks."""

from dataclasses import replace

import numpy as np

from gapless.core import Channel, Course, Holds, Log, Params, Signals, Simulator, stack


def holds_of(logs: list[Log], which: np.ndarray, begin_s: np.ndarray) -> Holds:
    """The commands of several logs, for worlds that follow log `which[i]` from its time `begin_s[i]` on."""
    values = [stack(log.commands, log.interface.command_names) for log in logs]
    return Holds([log.command_time for log in logs], values, which, begin_s, [_courses(log) for log in logs])


def _courses(log: Log) -> dict[str, Course]:
    """What was measured of each channel of one number, angles without their jumps."""
    narrow = [c for c in log.interface.measurements if c.width == 1]
    found = {c.name: _course(log, c) for c in narrow}
    return {name: course for name, course in found.items() if len(course[0])}


def _course(log: Log, channel: Channel) -> Course:
    values = log.measurements[channel.name][:, 0]
    there = np.isfinite(values)
    values = np.unwrap(values[there]) if channel.unit == "rad" else values[there]
    return log.measurement_time[channel.name][there], values


def replay(simulator: Simulator, params: Params, log: Log, start: Signals) -> Log:
    """The log that the simulator would have written, from the given joint state at the log's first measurement."""
    simulator.interface.require_same(log.interface, "the simulator", "the log")
    clocks = log.measurement_time
    begin = min(float(t[0]) for t in clocks.values())
    times = np.unique(np.concatenate(list(clocks.values()))) - begin
    holds = holds_of([log], np.zeros(1, int), np.array([begin]))
    one = {k: np.reshape(np.asarray(v, np.float64), (-1,))[:1] for k, v in params.items()}
    seen = simulator.play(one, start, holds, times[None])
    measurements = {
        name: seen[name][0][np.searchsorted(times, np.round(clock - begin, 12) - 1e-9)]
        for name, clock in clocks.items()
    }
    return replace(log, measurements=measurements, source={**log.source, "replayed": True})
