"""Any robot that LeRobot knows, through one adapter: lerobot:so101_follower?port=/dev/ttyACM0&id=my_arm.

The robot lives in a process of its own in LeRobot's environment (`lerobot_server.py`), so that its pins and ours never meet.
"""

import contextlib
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np

from gapless.core import GaplessError, Robot, Signals

from .lerobot_channels import Description, Given, channels_of, read_given
from .lerobot_process import lerobot_process
from .piped import Piped

MAKING_S, CONNECTING_S, ANSWERING_S = 120.0, 30.0, 1.0
"""Longest time that each of these may take."""
ADVICE = "Check its cable and its power."
SPIN_S = 0.001
"""The last stretch of a wait is not slept, because sleep is not that precise."""


class LeRobot(Robot):
    """LeRobot's verbs over a pipe, on the machine's monotonic clock."""

    def __init__(self, spec: str) -> None:
        kind, _, query = spec.removeprefix("lerobot:").partition("?")
        options = dict(parse_qsl(query, keep_blank_values=True))
        own = {name: options.pop(name, "") for name in ("interface", "fps", "module")}
        self.spec, fps = spec, _positive(own["fps"], spec) if own["fps"] else None
        self._making = {"verb": "make", "kind": kind, "options": options, "module": own["module"]}
        self._process, self._connected = self._started(), False
        described = Description(**self._ask(ANSWERING_S, verb="describe"))
        self._given = read_given(Path(own["interface"]), described) if own["interface"] else Given()
        self._channels = channels_of(described, self._given, fps)
        self.interface = self._channels.interface
        self.notes = [f"{spec}: camera {name!r} is left out; a log holds numbers." for name in described.cameras]
        self._last: dict[str, tuple[float, float]] = {}
        """Command channel → when it was sent and what was sent, in SI units."""

    def connect(self) -> None:
        if self._connected and self._process.alive:
            return
        if not self._process.alive:
            self._process = self._started()
        self._ask(CONNECTING_S, verb="connect")
        self._connected, self._last = True, {}

    def disconnect(self) -> None:
        """End the robot's process, which disconnects the robot as LeRobot does: most arms go limp."""
        self._process.end()
        self._connected = False

    def reset(self, episode: int) -> None:
        """Bring the arm to the home of the user's file, slowly; without one, it starts where it is."""
        self._last = {}
        if not self._given.home:
            return
        began, start = self.now(), self._where_commands_are()
        for k in range(1, round(self._given.home_s / self.interface.period_s) + 1):
            share = min(1.0, k * self.interface.period_s / self._given.home_s)
            self.wait_until(began + k * self.interface.period_s)
            aims = {name: self._given.home.get(name, at) for name, at in start.items()}
            self._send({name: start[name] + share * (aim - start[name]) for name, aim in aims.items()})

    def get_observation(self) -> Signals:
        answer = self._ask(ANSWERING_S, verb="read")
        found: Signals = {}
        for channel in self.interface.measurements:
            key = self._channels.observation_keys[channel.name]
            if key in answer["seen"]:  # what is missing is named by the safety gate
                found[channel.name] = np.array([channel.scale * answer["seen"][key] + channel.offset])
                found[f"{channel.name}.time"] = np.array([answer["taken"]])
        return found

    def send_action(self, command: Signals) -> Signals:
        """Within the limits, and no faster than each channel's rate from where the arm was told to be, or is."""
        now, start = self.now(), {} if self._last else self._where_commands_are()
        wanted = {}
        for channel in self.interface.commands:
            at, before = self._last.get(channel.name, (now - self.interface.period_s, start.get(channel.name, np.nan)))
            value = float(np.asarray(command[channel.name], np.float64).reshape(1)[0])
            if np.isfinite(before) and np.isfinite(channel.rate):
                step = channel.rate * min(max(now - at, 0.0), 2 * self.interface.period_s)
                value = float(np.clip(value, before - step, before + step))
            wanted[channel.name] = float(np.clip(value, channel.low, channel.high))
        return self._send(wanted)

    def now(self) -> float:
        return time.monotonic()

    def wait_until(self, time_s: float) -> None:
        time.sleep(max(0.0, time_s - self.now() - SPIN_S))
        while self.now() < time_s:
            pass

    def _send(self, wanted: dict[str, float]) -> Signals:
        """Send values in SI units, each under its key in LeRobot's; returns what LeRobot says was sent."""
        if not all(np.isfinite(v) for v in wanted.values()):
            raise GaplessError(f"{self.spec} was to be sent {wanted}; commands are finite numbers.")
        channels, keys = {c.name: c for c in self.interface.commands}, self._channels.action_keys
        action = {keys[n]: (v - channels[n].offset) / channels[n].scale for n, v in wanted.items()}
        sent, at = self._ask(ANSWERING_S, verb="send", action=action)["sent"], self.now()
        done = {n: c.scale * sent.get(keys[n], action[keys[n]]) + c.offset for n, c in channels.items() if n in wanted}
        self._last = {name: (at, value) for name, value in done.items()}
        return {name: np.array([value]) for name, value in done.items()}

    def _where_commands_are(self) -> dict[str, float]:
        """The measured value of every command that is also measured, in the command's unit."""
        seen = self._ask(ANSWERING_S, verb="read")["seen"]
        held = {c.name: (c, self._channels.action_keys[c.name]) for c in self.interface.commands}
        return {name: c.scale * seen[key] + c.offset for name, (c, key) in held.items() if key in seen}

    def _started(self) -> Piped:
        """A process in which the robot has been made, not yet connected."""
        process = lerobot_process(self.spec)
        _require(process.ask(self._making, MAKING_S, ADVICE), self.spec, "be made")
        return process

    def _ask(self, within_s: float, **request: Any) -> Any:
        return _require(self._process.ask(request, within_s, ADVICE), self.spec, request["verb"])


def _require(answer: dict[str, Any], spec: str, verb: str) -> Any:
    if "refused" in answer:
        raise GaplessError(f"{spec} refuses to {verb}: {answer['refused'].rstrip('.')}.")
    return answer


def _positive(text: str, spec: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < float(text) < np.inf:
            return float(text)
    raise GaplessError(f"{spec} has fps={text}; it must be a positive number of commands a second.")
