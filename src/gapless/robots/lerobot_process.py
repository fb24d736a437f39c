"""The process in which a LeRobot robot lives, in LeRobot's own environment, and the pipes to it."""

import contextlib
import importlib.util
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gapless.core import GaplessError

PYTHON = "GAPLESS_LEROBOT_PYTHON"
"""The environment variable that names the Python which has LeRobot."""
LEAVING_S = 5.0
"""Time given to the robot's process to disconnect the robot, and again before it is killed."""


class LeRobotProcess:
    """LeRobot's process and the pipes to it."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self._running: subprocess.Popen | None = None
        python = _python(spec)
        # A file, because a pipe that nobody empties would stop a talkative driver.
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        self._left = b""
        # Ctrl-C ends the session, not the robot's process: that one brings the robot to rest when its input ends.
        self._running = subprocess.Popen(
            [python, str(Path(__file__).with_name("lerobot_server.py"))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, start_new_session=True,
        )  # fmt: skip

    def __del__(self) -> None:
        self.end()

    @property
    def alive(self) -> bool:
        return self._running is not None

    def ask(self, request: dict[str, Any], within_s: float) -> Any:
        """The answer to a request, or an error that says what the driver said last."""
        if self._running is None:
            raise GaplessError(f"{self.spec} is not connected. Call connect() first.")
        assert self._running.stdin
        with contextlib.suppress(BrokenPipeError):
            self._running.stdin.write(json.dumps(request).encode() + b"\n")
            self._running.stdin.flush()
        line = self._line(time.monotonic() + within_s)
        if line is None:
            self.end()
            raise GaplessError(f"{self.spec} has not answered for {within_s:g} s. Check its cable and its power.")
        if not line:
            said = self._last_words()
            self.end()
            raise GaplessError(f"{self.spec} has stopped answering: {said}. Connect again.")
        return json.loads(line)

    def end(self) -> None:
        """Let the process disconnect the robot and leave; harmless when called twice."""
        running, self._running = self._running, None
        if running is None:
            return
        assert running.stdin and running.stdout
        with contextlib.suppress(BrokenPipeError):
            running.stdin.close()
        for stop in (lambda: None, running.terminate, running.kill):
            stop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(LEAVING_S)
                break
        running.stdout.close()
        self._said.close()

    def _line(self, until_s: float) -> bytes | None:
        """The next line; None when time is up, empty when the process has ended."""
        assert self._running and self._running.stdout
        while b"\n" not in self._left:
            ready, _, _ = select.select([self._running.stdout], [], [], max(0.0, until_s - time.monotonic()))
            if not ready:
                return None
            more = os.read(self._running.stdout.fileno(), 2**16)
            if not more:
                return b""
            self._left += more
        line, _, self._left = self._left.partition(b"\n")
        return line

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read()[-4000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it gave no reason"


def _python(spec: str) -> str:
    """The Python that has LeRobot: the one that is named, or this one."""
    named = os.environ.get(PYTHON, "")
    if Path(named).is_file():
        return named
    if named or importlib.util.find_spec("lerobot") is None:
        found = f"{PYTHON} is {named!r}, where no file is" if named else "LeRobot is not installed here"
        raise GaplessError(
            f"{spec} cannot be reached: {found}. Make LeRobot an environment of its own and name its python in {PYTHON}; "
            "docs/lerobot.md says how."
        )
    return sys.executable
