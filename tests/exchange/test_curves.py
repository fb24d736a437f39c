"""Curves: an event file is what the format says it is, and trackers hear the same figures."""

import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.exchange import open_curves
from gapless.exchange.event_file import EventFile, crc32c

Points = list[tuple[int, dict[str, float]]]
POINTS: Points = [(0, {"return": -1.5}), (300, {"return": 0.25, "kl": 3e-5}), (2**40, {"kl": float("inf")})]


def bitwise_crc32c(content: bytes) -> int:
    """Bit by bit, without a table: polynomial division as its definition has it."""
    bits = [byte >> k & 1 for byte in content for k in range(8)]
    register = 0xFFFFFFFF
    for bit in bits:
        register = register >> 1 ^ (0x82F63B78 if (register ^ bit) & 1 else 0)
    return register ^ 0xFFFFFFFF


def unmasked(checksum: int) -> int:
    turned = (checksum - 0xA282EAD8) % 2**32
    return (turned >> 17 | turned << 15) % 2**32


def records(content: bytes) -> list[bytes]:
    """The records of a TFRecord file; both checksums of each must hold."""
    found = []
    while content:
        length, check = struct.unpack("<QI", content[:12])
        record, (end,) = content[12 : 12 + length], struct.unpack("<I", content[12 + length : 16 + length])
        assert unmasked(check) == bitwise_crc32c(content[:8])
        assert unmasked(end) == bitwise_crc32c(record)
        found.append(record)
        content = content[16 + length :]
    return found


def fields(message: bytes) -> list[tuple[int, Any]]:
    """Number and value of each field of a protocol buffer."""
    found, at = [], 0

    def varint() -> int:
        nonlocal at
        number, shift = 0, 0
        while True:
            byte, at = message[at], at + 1
            number, shift = number | (byte & 0x7F) << shift, shift + 7
            if not byte & 0x80:
                return number

    while at < len(message):
        key = varint()
        width = {0: 0, 1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            value: Any = varint()
        else:
            size = varint() if width is None else width
            value, at = message[at : at + size], at + size
        found.append((key >> 3, value))
    return found


def points(content: bytes) -> Points:
    """Steps and figures of an event file, after its first event has said the version."""
    first, *events = (dict(fields(r)) for r in records(content))
    assert first[3] == b"brain.Event:2"
    found = []
    for event in events:
        values = [dict(fields(value)) for _, value in fields(event[5])]
        found.append((event.get(2, 0), {v[1].decode(): struct.unpack("<f", v[2])[0] for v in values}))
        assert struct.unpack("<d", event[1])[0] > 1.6e9
    return found


def alike(found: Points, expected: Points) -> bool:
    """Whether the figures are equal as single-precision numbers."""
    return [(s, {k: np.float32(v) for k, v in f.items()}) for s, f in expected] == found


def test_the_checksum_is_castagnolis() -> None:
    # The check value of CRC-32C, and 32 bytes of zeros and of ones from RFC 3720, appendix B.4.
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(b"any content") == bitwise_crc32c(b"any content")


def test_what_is_noted_is_on_disk_at_once_and_reads_back(tmp_path: Path) -> None:
    curves = open_curves("tensorboard", tmp_path, "robots", "third")
    (path,) = (tmp_path / "third").iterdir()
    for k, (step, figures) in enumerate(POINTS):
        curves.note(step, figures)
        assert alike(points(path.read_bytes()), POINTS[: k + 1])
    curves.close()


def test_a_run_that_goes_on_writes_a_file_after_the_first(tmp_path: Path) -> None:
    for step in range(3):
        run = EventFile(tmp_path)
        run.note(step, {"return": step})
        run.close()
    read = [points(path.read_bytes())[0][0] for path in sorted(tmp_path.iterdir())]
    assert read == [0, 1, 2]


def test_a_folder_that_is_a_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(GaplessError, match=r"curves cannot be written to .*taken"):
        EventFile(tmp_path / "taken")


@pytest.mark.parametrize("tracker", ["trackio", "wandb"])
def test_trackers_hear_the_same_figures(tracker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []
    run = SimpleNamespace(log=lambda f, step: heard.append((step, f)), finish=lambda: heard.append("finished"))
    init = lambda **asked: heard.append(asked) or run  # noqa: E731
    monkeypatch.setitem(sys.modules, tracker, SimpleNamespace(init=init))  # type: ignore[arg-type]
    curves = open_curves(tracker, tmp_path, "robots", "third")
    for step, figures in POINTS:
        curves.note(step, figures)
    curves.close()
    assert heard == [{"project": "robots", "name": "third"}, *POINTS, "finished"]


def test_unknown_or_missing_trackers_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GaplessError, match="'paper'; known are tensorboard, trackio, wandb"):
        open_curves("paper", tmp_path, "robots", "third")
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(GaplessError, match="pip install wandb"):
        open_curves("wandb", tmp_path, "robots", "third")


@pytest.mark.interop
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard_reads_the_same_points(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed; see docs/envs.md")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    curves = EventFile(tmp_path)
    for step, figures in POINTS:
        curves.note(step, figures)
    curves.close()
    read = EventAccumulator(str(tmp_path)).Reload()
    assert sorted(read.Tags()["scalars"]) == ["kl", "return"]
    assert [(p.step, p.value) for p in read.Scalars("return")] == [(0, -1.5), (300, 0.25)]
    assert [(p.step, p.value) for p in read.Scalars("kl")] == [(300, np.float32(3e-5)), (2**40, float("inf"))]
