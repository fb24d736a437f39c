"""The laws of a robot's clock: it goes forward, waiting waits, and measurements are not from the future."""

import math
import time
from collections.abc import Iterator

import numpy as np

from ..robot import Robot
from .handled import Handled
from .laws import Note, Seen
from .patience import within

PERIODS = 10
IDLE_S = 0.05
PATIENCE_S = 3.0
"""How much longer than asked a wait may take before it counts as hanging."""
OLD_S = 0.5
"""Age at which a measurement is worth a note."""


def keeps_time(handled: Handled) -> Iterator[str]:
    """Within an episode the clock never goes back, and waiting waits.

    Let now() count seconds (time.monotonic() on hardware) and wait_until(t) return once now() is t.
    """
    handled.begin()
    robot, period_s = handled.robot, handled.robot.interface.period_s
    speed = clock_speed(robot)
    if abs(speed) > 0.1 and abs(speed - 1) > 0.1:
        yield f"in {IDLE_S} s it went on by {speed * IDLE_S:.3g}, {speed:.3g} times as fast as time"
        return
    began = last = robot.now()
    late = []
    for k in range(1, PERIODS + 1):
        wanted = began + k * period_s
        with within(period_s + PATIENCE_S):
            robot.wait_until(wanted)
        now = robot.now()
        if now < last:
            yield f"it went from {round(last, 6)} s to {round(now, 6)} s"
            return
        if now < wanted - 1e-6:
            yield f"it shows {round(now, 6)} s after waiting until {round(wanted, 6)} s"
            return
        last, late = now, [*late, now - wanted]
    yield from _lateness(late, period_s)
    kind = "wall" if speed > 0.5 else "virtual"
    yield Seen(f"a {kind} clock; {PERIODS} waits of {period_s:g} s were at most {max(late) * 1e3:.1f} ms late")


def _lateness(late: list[float], period_s: float) -> Iterator[str]:
    if np.median(late) > period_s / 2:
        yield f"waits return {np.median(late) * 1e3:.3g} ms late, of a period of {period_s * 1e3:g} ms"
    elif max(late) > period_s / 2:
        yield Note(
            f"one of {PERIODS} waits returned {max(late) * 1e3:.3g} ms late, of a period of {period_s * 1e3:g} ms"
        )


def stamps_measurements(handled: Handled) -> Iterator[str]:
    """Where measurements carry their time, it is on the robot's clock, not in the future, and goes on.

    Return "<channel>.time" as now() was when the value was taken, or leave it out.
    """
    handled.begin()
    robot, times = handled.robot, {}
    for _ in range(3):
        seen = robot.get_observation()
        for c in robot.interface.measurements:
            if f"{c.name}.time" in seen:
                stamp = float(np.asarray(seen[f"{c.name}.time"]).reshape(-1)[0])
                times.setdefault(c.name, []).append((stamp, robot.now()))
        robot.wait_until(robot.now() + 2 * robot.interface.period_s)
    for name, pairs in times.items():
        yield from _stamped(name, pairs)
    yield Seen(f"stamped: {', '.join(times)}" if times else "none is stamped; the time of reading is taken")


def _stamped(name: str, pairs: list[tuple[float, float]]) -> Iterator[str]:
    """What is wrong with one channel's stamps, given with the clock's time at each reading."""
    stamp, now = pairs[-1]
    ahead = max(s - n for s, n in pairs)
    if not all(math.isfinite(s) for s, _ in pairs) or ahead > 1e-3:
        yield f"{name} was taken at {stamp:.6g} s and read at {now:.6g} s"
    elif stamp <= pairs[0][0]:
        yield f"{name} was taken at {stamp:.6g} s, again and again, while the clock went on to {now:.6g} s"
    elif now - stamp > OLD_S:
        yield Note(f"{name} is {now - stamp:.2g} s old when it is read")


def has_virtual_clock(robot: Robot) -> bool:
    """Whether time passes on the robot's clock only while somebody waits."""
    return abs(clock_speed(robot)) < 0.1


def clock_speed(robot: Robot) -> float:
    """Seconds that the robot's clock goes on per second in which nobody waits: 1 on hardware, 0 for virtual clocks."""
    before, began = robot.now(), time.perf_counter()
    time.sleep(IDLE_S)
    return (robot.now() - before) / (time.perf_counter() - began)
