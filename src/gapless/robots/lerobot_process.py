"""The process in which a LeRobot robot lives, in LeRobot's own environment."""

import importlib.util
import os
import sys
from pathlib import Path

from gapless.core import GaplessError

from .piped import Piped

PYTHON = "GAPLESS_LEROBOT_PYTHON"
"""The environment variable that names the Python which has LeRobot."""
LEAVING_S = 5.0
"""Time given to the robot's process to disconnect the robot, and again before it is killed."""


def lerobot_process(spec: str) -> Piped:
    """A process that brings its robot to rest when its input ends."""
    return Piped(spec, [_python(spec), str(Path(__file__).with_name("lerobot_server.py"))], leaving_s=LEAVING_S)


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
