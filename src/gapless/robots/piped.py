"""A robot's own process, and the pipes to it: a line of JSON for every request, and one for every answer."""

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

from gapless.core import GaplessError

END_S = 2.0
"""How long a process may take to end when told to; one that is suspended never does, and is killed."""


class Piped:
    """A process that answers. One that hangs or dies costs one sentence, and is let go."""

    def __init__(
        self, spec: str, command: Sequence[str], env: Mapping[str, str] | None = None, leaving_s: float = 0.0
    ) -> None:
        """`leaving_s` is the time it gets to leave by itself when its input ends."""
        self.spec, self._leaving_s, self._left = spec, leaving_s, b""
        # A file, because a pipe that nobody empties would stop a talkative driver.
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        # Ctrl-C ends the session, not the robot's process: nothing of the caller's signals reaches it.
        self.popen = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, start_new_session=True, env=env
        )
        self.alive = True

    def __del__(self) -> None:
        if getattr(self, "alive", False):
            self.end()

    def ask(self, request: dict[str, Any], within_s: float, advice: str = "Connect again.") -> Any:
        """The answer to a request, or an error that says what the process said last."""
        if not self.alive:
            raise GaplessError(f"{self.spec} is not connected. Call connect() first.")
        assert self.popen.stdin
        with contextlib.suppress(BrokenPipeError):
            self.popen.stdin.write(json.dumps(request).encode() + b"\n")
            self.popen.stdin.flush()
        line = self._line(time.monotonic() + within_s)
        if line is None:
            self.end()
            raise GaplessError(f"{self.spec} has not answered for {within_s:g} s. {advice}")
        try:
            return json.loads(line)
        except ValueError:  # it has ended, or talks of something else
            raise GaplessError(f"{self.spec} has stopped answering: {self._last_words()}. Connect again.") from None

    def end(self) -> None:
        """Let the process leave, and make it; harmless when called twice."""
        if not self.alive:
            return
        self.alive = False
        assert self.popen.stdin and self.popen.stdout
        with contextlib.suppress(BrokenPipeError):
            self.popen.stdin.close()
        told = ((lambda: None, self._leaving_s), (self.popen.terminate, max(self._leaving_s, END_S)))
        for tell, patience_s in (*told, (self.popen.kill, None)):
            tell()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.popen.wait(patience_s)
                break
        self.popen.stdout.close()
        self._said.close()

    def _line(self, until_s: float) -> bytes | None:
        """The next line; None when time is up, empty when the process has ended."""
        assert self.popen.stdout
        while b"\n" not in self._left:
            ready, _, _ = select.select([self.popen.stdout], [], [], max(0.0, until_s - time.monotonic()))
            if not ready:
                return None
            more = os.read(self.popen.stdout.fileno(), 2**16)
            if not more:
                return b""
            self._left += more
        line, _, self._left = self._left.partition(b"\n")
        return line

    def _last_words(self) -> str:
        """The last line of what it complained about; it is let go, as only what has ended has said all."""
        with os.fdopen(os.dup(self._said.fileno()), "rb") as said:
            self.end()
            said.seek(0)
            lines = said.read()[-4000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it gave no reason"
