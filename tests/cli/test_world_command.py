"""`gapless world`: the page is served until Ctrl-C, and what cannot be is refused before anything is compiled."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jax
import pytest

from gapless.cli import main, world
from gapless.engine.play import Session
from gapless.report import LocalServer
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.stored import save_members


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch, make_members: Callable) -> list[str]:
    """Serving ends at once, as by Ctrl-C; the addresses that were opened in a browser."""
    opened: list[str] = []

    def interrupt(self: LocalServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(world, "members", lambda weights: make_members(2))
    monkeypatch.setattr(Session, "warm", lambda self: None)
    monkeypatch.setattr(LocalServer, "serve_forever", interrupt)
    monkeypatch.setattr(world.webbrowser, "open", opened.append)
    return opened


def refused(arguments: list[str], capsys: pytest.CaptureFixture) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def test_page_is_opened_and_ctrl_c_is_no_error(stopped: list[str], tmp_path: Path, capsys: pytest.CaptureFixture):
    out = tmp_path / "said.json"
    main(["world", "play", "--port", "0", "--bodies", "2", "--json", str(out)])
    said = json.loads(out.read_text())
    assert stopped == [said["url"]]
    assert said["members"] == 2
    shown = capsys.readouterr().out
    assert f"Play at {said['url']}" in shown and "Stopped." in shown


def test_no_browser_is_opened_where_none_is_wanted(stopped: list[str]):
    main(["world", "play", "--port", "0", "--bodies", "0", "--no-open"])
    assert stopped == []


def test_taken_port_is_refused_before_the_network_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.setattr(world, "members", lambda weights: pytest.fail("it was read"))
    with LocalServer("", {}) as other:
        port = other.server_address[1]
        assert f"port {port} cannot be used" in refused(["world", "play", "--port", str(port)], capsys)


def test_too_many_bodies_are_refused(stopped: list[str], capsys: pytest.CaptureFixture):
    assert "0 to 20 bodies; 99 is not" in refused(["world", "play", "--port", "0", "--bodies", "99"], capsys)


def test_endless_film_is_refused(capsys: pytest.CaptureFixture):
    assert "a moment to 60 s; 900 s is not" in refused(["world", "film", "--seconds", "900"], capsys)


@pytest.mark.parametrize("verb", ["play", "film"])
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture):
    with pytest.raises(SystemExit) as ended:
        main(["world", verb, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--seed", "--bodies", "--weights"))


@pytest.mark.slow
def test_ctrl_c_ends_the_process_quietly(tmp_path: Path):
    save_members(tmp_path, [Clone(jax.random.key(k)) for k in range(2)])
    command = [
        sys.executable,
        "-m",
        "gapless.cli",
        "world",
        "play",
        "--port",
        "0",
        "--no-open",
        "--weights",
        str(tmp_path),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = next(line for line in process.stdout if "Play at" in line)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert "http://127.0.0.1:" in said and "Stopped." in out
    assert process.returncode == 0
    assert "Traceback" not in err
