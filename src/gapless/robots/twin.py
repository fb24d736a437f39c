"""A robot with hidden physics: it lives in a process of its own and only answers commands with measurements."""

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
from typing import Any

import numpy as np

from gapless.core import GaplessError, Interface, Robot, Signals

PATIENCE_S = 120.0
"""Longest wait for an answer; the first ones wait for imports and compilation on what may be a busy machine."""
END_S = 2.0
"""How long a process may take to end when asked; one that is suspended never does."""


class Twin(Robot):
    """Robot's verbs over a pipe, on a virtual clock. One that died or hangs is one sentence, and can be connected again."""

    simulated = True

    def __init__(self, spec: str, interface: Interface, patience_s: float = PATIENCE_S) -> None:
        self.spec, self.interface, self.patience_s = spec, interface, patience_s
        self._process: subprocess.Popen | None = None
        self._time_s = 0.0

    def connect(self) -> None:
        if self._process is not None:
            return
        # Nothing of the caller's signals or threads reaches the twin: Ctrl-C ends the session, not reality.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gapless.robots.server", self.spec],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, start_new_session=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"},
        )  # fmt: skip

    def disconnect(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        _end(process)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

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
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")  # type: ignore[union-attr]
            reply = json.loads(self._line())
        except TimeoutError:
            self.disconnect()
            raise GaplessError(f"{self.spec} has not answered for {self.patience_s:g} s. Connect again.") from None
        except (OSError, ValueError):
            raise GaplessError(f"{self.spec} has stopped answering: {self._last_words()}. Connect again.") from None
        self._time_s = reply["time"]
        return reply["answer"]

    def _line(self) -> bytes:
        """The next line from the twin, empty when it has ended."""
        assert self._process is not None and self._process.stdout is not None
        pipe, line, until = self._process.stdout.fileno(), b"", time.monotonic() + self.patience_s
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(until - time.monotonic(), 0.0)):
                    raise TimeoutError
                piece = os.read(pipe, 65536)
                if not piece:
                    break
                line += piece
        return line

    def _last_words(self) -> str:
        """The last line of what the twin complained about; it is let go, as only what has ended has said all."""
        assert self._process is not None and self._process.stderr is not None
        _end(self._process)
        said = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        self.disconnect()
        return said[-1] if said else "it gave no reason"


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
