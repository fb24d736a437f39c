"""The safety gate between policy and robot: nothing outside the limits passes, and what is not safe stops the robot.

A driver is called in this process, and a call that never returns cannot be ended from here: the gate notices lateness when the
call is back. A robot that can do harm by then needs a watchdog of its own, which rests when commands stay away.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from gapless.core import Channel, GaplessError, Robot, Signals

from .limits import PLACES, Limits, rest_of
from .pinned import Pinned
from .readings import Readings, Unsafe

NO_ANSWER = object()
BACK = 0.1
"""Share of a period by which a clock may go back before it counts as broken: computers correct their clocks."""
EARLY = 0.5
"""Share of a period by which a robot may be back too early from waiting: some count time in ticks."""


class Gate(Robot):
    """A robot behind its limits. Once stopped, it sends rest until the next reset and says why in `stopped`.

    Whatever the driver raises while an episode runs becomes such a stop. Rest may be sent at any rate: to slow a stop down would
    prolong what it is to end.
    """

    def __init__(self, robot: Robot, limits: Limits | None = None) -> None:
        self.robot, self.interface, self.limits = robot, robot.interface, limits or Limits()
        self._forget()

    def _forget(self) -> None:
        self.stopped: str | None = None
        self.spoiled = 0
        """How many of the last readings nobody should learn from."""
        self.lost = False
        """Whether the driver raised; connect it anew before the next episode."""
        self._readings, self._pinned = Readings(self.interface, self.limits), Pinned(self.interface)
        self._sent: Signals = {}
        self._sent_at: float | None = None
        self._time_s = -math.inf

    @property
    def saturated(self) -> float:
        """Share of the policy's commands that were at a limit or beyond."""
        return self._pinned.share

    def connect(self) -> None:
        self._demand("connect", self.robot.connect)

    def disconnect(self) -> None:
        self._demand("disconnect", self.robot.disconnect)

    def reset(self, episode: int) -> None:
        self._forget()
        self._demand("reset", lambda: self.robot.reset(episode))

    def announce(self, for_task: bool) -> None:
        self._demand("hear what comes", lambda: self.robot.announce(for_task))

    def now(self) -> float:
        """The robot's clock; the last time it showed, if it has broken since."""
        try:
            time_s = float(self.robot.now())
        except Exception as error:
            self._lose("tell the time", error)
        else:
            if not math.isfinite(time_s) or time_s < self._time_s - BACK * self.interface.period_s:
                self.stop(f"the robot's clock went from {self._time_s:.3f} s to {time_s:.3f} s", 1)
            elif time_s > self._time_s:
                self._time_s = time_s
        return self._time_s if math.isfinite(self._time_s) else 0.0

    def wait_until(self, time_s: float) -> None:
        self._ask("wait", lambda: self.robot.wait_until(time_s))
        behind, allowed = self.now() - time_s, self.limits.watchdog(self.interface.period_s)
        if behind > allowed:
            self.stop(f"the loop is {behind:.3f} s behind its clock, the watchdog allows {allowed:.3g} s", 1)
        if self.now() < time_s - EARLY * self.interface.period_s:
            self.stop(f"the robot's clock shows {self.now():.3f} s after waiting until {time_s:.3f} s", 1)

    def get_observation(self) -> Signals:
        """The newest measurements; empty when the robot did not answer."""
        seen = self._answer("measure", self.robot.get_observation)
        if seen is NO_ANSWER:
            return {}
        try:
            self._readings.check(seen, self.now())
        except Unsafe as doubt:
            self.stop(str(doubt), doubt.spoiled)
        return dict(seen) if isinstance(seen, Mapping) else {}

    def send_action(self, command: Signals) -> Signals:
        """Send what the limits leave of a command; returns what was really sent, nothing when the robot took nothing."""
        if not self._readings.count and not self.stopped:
            self.get_observation()  # nothing moves before it is known where the robot is
        now = self.now()
        self._check_watchdog(now)
        wanted = {c.name: self._wanted(c, command) for c in self.interface.commands}
        self._check_pinned(wanted, now)
        if self.stopped:
            return self.to_rest()
        sent = self._send({c.name: self._limited(c, wanted[c.name], now) for c in self.interface.commands}, now)
        return self.to_rest() if self.stopped else sent

    def to_rest(self) -> Signals:
        """Send rest at once; returns it, or nothing when the robot did not take it.

        A robot whose commands are places, and of which nobody knows where it is, is sent nothing: it would jump.
        """
        if any(c.unit in PLACES and self._place(c) is None for c in self.interface.commands):
            self.spoiled = max(self.spoiled, 1)
            return {}
        return self._send(self.rest(), self.now())

    def stop(self, reason: str, spoiled: int = 0) -> None:
        """From now on the robot rests; the first reason stays."""
        self.stopped, self.spoiled = self.stopped or reason, max(self.spoiled, spoiled)

    def rest(self) -> Signals:
        """The command nearest to zero within the limits; a command that is a place (m, rad) stays where it is."""
        places = {c.name: self._place(c) for c in self.interface.commands}
        return {c.name: rest_of(c) if places[c.name] is None else places[c.name] for c in self.interface.commands}

    def _demand(self, verb: str, call: Callable[[], Any]) -> None:
        """Outside of episodes there is nothing to stop: a robot that does not answer is one sentence."""
        try:
            call()
        except GaplessError:
            raise
        except Exception as error:
            raise GaplessError(
                f"{self.interface.robot!r} did not answer to {verb} ({_spelled(error)}). "
                "Nothing is lost: see to the robot, then run the same command again."
            ) from error

    def _ask(self, what: str, call: Callable[[], Any]) -> Any:
        """What the robot answers, NO_ANSWER when it raises."""
        try:
            return call()
        except Exception as error:
            self._lose(what, error)
            return NO_ANSWER

    def _answer(self, what: str, call: Callable[[], Any]) -> Any:
        """The same where an answer is due at once."""
        before = self.now()
        answer = self._ask(what, call)
        took, allowed = self.now() - before, self.limits.late(self.interface.period_s)
        if took > allowed + 1e-9:
            self.stop(f"the robot took {took:.3f} s to {what}, {allowed:.3g} s are allowed", 1)
        return answer

    def _lose(self, what: str, error: Exception) -> None:
        self.lost = True
        self.stop(f"the robot did not answer when it was to {what}: {_spelled(error)}", 1)

    def _send(self, passed: Signals, now: float) -> Signals:
        reply = self._answer("take a command", lambda: self.robot.send_action({k: v.copy() for k, v in passed.items()}))
        # Rates are measured from what left the gate: a driver's reply may be anything.
        self._sent, self._sent_at = passed, now
        self._readings.frozen.command(passed)
        return {} if reply is NO_ANSWER else {c.name: _replied(c, reply, passed) for c in self.interface.commands}

    def _check_watchdog(self, now: float) -> None:
        allowed = self.limits.watchdog(self.interface.period_s)
        if self._sent_at is not None and now - self._sent_at > allowed:
            self.stop(f"no command for {now - self._sent_at:.3f} s, the watchdog allows {allowed:.3g} s")

    def _check_pinned(self, wanted: Signals, now: float) -> None:
        for_s = self._pinned.command(wanted, now)
        if for_s > self.limits.saturated_s:
            self.stop(
                f"the policy has pushed against a limit for {for_s:.3g} s, {self.limits.saturated_s:.3g} are allowed"
            )

    def _wanted(self, channel: Channel, command: Signals) -> Float[np.ndarray, " width"]:
        try:
            values = np.asarray(command[channel.name], np.float64).reshape(channel.width)
        except (KeyError, ValueError, TypeError, OverflowError):
            self.stop(f"the policy gave no command of width {channel.width} for {channel.name}")
            return np.zeros(channel.width)
        if not np.isfinite(values).all():
            self.stop(f"the policy commanded {values.tolist()} for {channel.name}")
        return values

    def _limited(
        self, channel: Channel, values: Float[np.ndarray, " width"], now: float
    ) -> Float[np.ndarray, " width"]:
        """The nearest command within limits and rate; the first one of an episode comes a period after rest."""
        values = np.clip(values, channel.low, channel.high)
        if not math.isfinite(channel.rate) or (channel.unit in PLACES and self._place(channel) is None):
            return values
        elapsed = self.interface.period_s if self._sent_at is None else max(now - self._sent_at, 0.0)
        before, most = self._sent.get(channel.name, self.rest()[channel.name]), channel.rate * elapsed
        return np.clip(np.clip(values, before - most, before + most), channel.low, channel.high)

    def _place(self, channel: Channel) -> Float[np.ndarray, " width"] | None:
        """Where a command that is a place was last sent, before that where "<command>.position" was last measured."""
        if channel.unit not in PLACES:
            return None
        place = self._sent.get(channel.name, self._readings.place(channel))
        return None if place is None else np.clip(place, channel.low, channel.high)


def _replied(channel: Channel, reply: Any, passed: Signals) -> Float[np.ndarray, " width"]:
    """What the driver says it sent, or what it was given where it says nothing that makes sense."""
    try:
        values = np.array(reply[channel.name], np.float64)
    except (KeyError, ValueError, TypeError, OverflowError, IndexError):
        return passed[channel.name]
    return values if values.shape == (channel.width,) and np.isfinite(values).all() else passed[channel.name]


def _spelled(error: Exception) -> str:
    """One line about what a driver raised."""
    said = " ".join(str(error).split())[:200]
    return said if isinstance(error, GaplessError) else f"{type(error).__name__}{f': {said}' if said else ''}"
