"""Strangers' files are tried in an interpreter of their own, which neither this process nor its environment can lead astray."""

import os
import re
import subprocess
import sys
import tempfile

from .errors import GaplessError

MISSING = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'", re.MULTILINE)


def run_alone(script: str, *arguments: str, seconds: float, given: bytes = b"") -> str | None:
    """What a script prints that runs by itself in an empty folder; None where it fails or takes longer than that."""
    command, alone = [sys.executable, "-I", script, *arguments], {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(command, input=given, capture_output=True, env=alone, cwd=folder, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
    missing = MISSING.search(done.stderr.decode(errors="replace"))
    if missing:
        raise GaplessError(
            f"files are tried in an interpreter of their own, and there {sys.executable} finds no {missing[1]}, as it does not "
            f"read PYTHONPATH. Install {missing[1]} into that Python's environment."
        )
    return None if done.returncode else done.stdout.decode(errors="replace")
