"""Output that nobody reads to its end."""

import subprocess
import sys


def test_a_reader_who_has_seen_enough_costs_no_traceback() -> None:
    ours = subprocess.Popen(
        [sys.executable, "-m", "gapless.cli", "crank", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert ours.stdout is not None
    assert ours.stderr is not None
    ours.stdout.close()  # before a line was written
    said = ours.stderr.read()
    assert ours.wait(timeout=60) == 1
    assert "Traceback" not in said
