"""A robot with hidden physics: it lives in a process of its own and only answers commands with measurements."""

import os
import sys
from typing import Any

import numpy as np

from gapless.core import GaplessError, Interface, Robot, Signals

from .piped import Piped

PATIENCE_S = 120.0
"""Longest wait for an answer; the first ones wait for imports and compilation on what may be a busy machine."""
SURROUNDINGS = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}


class Twin(Robot):
    """Robot's verbs over a pipe, on a virtual clock. One that died or hangs is one sentence, and can be connected again."""

    simulated = True

    def __init__(self, spec: str, interface: Interface, patience_s: float = PATIENCE_S) -> None:
        self.spec, self.interface, self.patience_s = spec, interface, patience_s
        self._process: Piped | None = None
        self._time_s, self._for_task = 0.0, True

    def connect(self) -> None:
        if self._process is None or not self._process.alive:
            # -P: nothing is imported from the current folder, which may be a stranger's.
            command = [sys.executable, "-P", "-m", "gapless.robots.server", self.spec]
            self._process = Piped(self.spec, command, {**os.environ, **SURROUNDINGS})

    def disconnect(self) -> None:
        if self._process is not None:
            self._process.end()

    def announce(self, for_task: bool) -> None:
        self._for_task = for_task

    def reset(self, episode: int) -> None:
        self._ask(verb="reset", episode=episode, disturbed=self._for_task)

    def get_observation(self) -> Signals:
        return {k: np.asarray(v, np.float64) for k, v in self._ask(verb="read").items()}

    def send_action(self, command: Signals) -> Signals:
        sent = {}
        for c in self.interface.commands:
            sent[c.name] = np.clip(np.asarray(command[c.name], np.float64).reshape(c.width), c.low, c.high)
        self._ask(verb="send", command={k: v.tolist() for k, v in sent.items()})
        return sent

    def now(self) -> float:
        return self._time_s

    def wait_until(self, time_s: float) -> None:
        self._ask(verb="wait", until=time_s)

    def _ask(self, **request: Any) -> Any:
        if self._process is None:
            raise GaplessError(f"{self.spec} is not connected. Call connect() first.")
        reply = self._process.ask(request, self.patience_s)
        self._time_s = reply["time"]
        return reply["answer"]
