"""Twins whose process died or hangs: one sentence, no waiting for ever, and they can be had again."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from gapless.core import GaplessError
from gapless.robots import Twin
from gapless.robots.cartpole import INTERFACE


@pytest.fixture
def twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Twin:
    """A twin whose process is a shell that does what `does` says."""
    script = tmp_path / "process"
    script.write_text(f'#!/bin/sh\n. "{tmp_path}/does"\n')
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    return Twin("twin:cartpole", INTERFACE, patience_s=0.3)


def does(tmp_path: Path, commands: str) -> None:
    (tmp_path / "does").write_text(commands + "\n")


def test_a_twin_that_never_answers_is_one_sentence_after_its_patience(twin: Twin, tmp_path: Path) -> None:
    does(tmp_path, "exec sleep 60")
    twin.connect()
    began = time.monotonic()
    with pytest.raises(GaplessError, match=r"twin:cartpole has not answered for 0\.3 s\. Connect again\."):
        twin.reset(0)
    assert 0.3 <= time.monotonic() - began < 5


def test_a_twin_that_answers_by_halves_has_not_answered(twin: Twin, tmp_path: Path) -> None:
    does(tmp_path, """printf '{"time": 0.0, '; exec sleep 60""")
    twin.connect()
    with pytest.raises(GaplessError, match="has not answered"):
        twin.reset(0)


def test_a_suspended_twin_is_ended_for_good(twin: Twin, tmp_path: Path) -> None:
    does(tmp_path, "exec sleep 60")
    twin.connect()
    assert twin._process is not None
    process = twin._process.popen
    os.kill(process.pid, signal.SIGSTOP)
    with pytest.raises(GaplessError, match="has not answered"):
        twin.reset(0)
    assert process.returncode is not None


def test_a_twin_that_died_gives_its_last_words(twin: Twin, tmp_path: Path) -> None:
    does(tmp_path, "echo first >&2; echo the motor burnt >&2; exit 3")
    twin.connect()
    with pytest.raises(GaplessError, match=r"has stopped answering: the motor burnt\. Connect again"):
        twin.reset(0)


def test_a_twin_that_talks_nonsense_is_let_go(twin: Twin, tmp_path: Path) -> None:
    does(tmp_path, "echo hello; exec sleep 60")
    twin.connect()
    with pytest.raises(GaplessError, match="has stopped answering: it gave no reason"):
        twin.reset(0)


def test_a_lost_twin_can_be_connected_again(twin: Twin, tmp_path: Path) -> None:
    does(tmp_path, "exit 1")
    twin.connect()
    with pytest.raises(GaplessError):
        twin.reset(0)
    does(tmp_path, """while read -r line; do echo '{"time": 0.5, "answer": {}}'; done""")
    twin.connect()
    twin.reset(0)
    assert twin.now() == 0.5
    twin.disconnect()
