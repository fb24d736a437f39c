"""Output that nobody reads to its end."""

import os
import subprocess
import sys


def test_a_reader_who_has_seen_enough_costs_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)  # before a line was written
    ran = subprocess.run(
        [sys.executable, "-m", "gapless.cli", "crank", "--help"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    os.close(writer)
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
