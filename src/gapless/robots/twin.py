"""A robot with hidden physics: it lives in a process of its own and only answers commands with measurements."""

import contextlib
import json
import os
import subprocess
import sys
from typing import Any

import numpy as np

from gapless.core import GaplessError, Interface, Robot, Signals


class Twin(Robot):
    """Robot's verbs over a pipe, on a virtual clock."""

    def __init__(self, spec: str, interface: Interface) -> None:
        self.spec, self.interface = spec, interface
        self._process: subprocess.Popen | None = None
        self._time_s = 0.0

    def connect(self) -> None:
        if self._process is not None:
            return
        # Nothing of the caller's signals or threads reaches the twin: Ctrl-C ends the session, not reality.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gapless.robots.server", self.spec],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"},
        )  # fmt: skip

    def disconnect(self) -> None:
        if self._process is None:
            return
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self._process.terminate()
        self._process.wait()
        self._process = None

    def reset(self, episode: int) -> None:
        self._ask(verb="reset", episode=episode)

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
        assert self._process.stdin and self._process.stdout and self._process.stderr
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except (BrokenPipeError, ValueError):
            line = ""
        if not line:
            said = self._process.stderr.read().strip().splitlines()[-1:] or ["it gave no reason"]
            self.disconnect()
            raise GaplessError(f"{self.spec} has stopped answering: {said[0]}. Connect again.")
        reply = json.loads(line)
        self._time_s = reply["time"]
        return reply["answer"]
