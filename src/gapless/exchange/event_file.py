"""Curves as a TensorBoard event file, written without TensorBoard.

The file is a row of records in TFRecord's framing: length, its checksum, the event, its checksum. An event is a protocol buffer,
encoded by hand, as only five fields of it are needed (tensorflow/core/util/event.proto and framework/summary.proto).
"""

import os
import struct
import time
from collections.abc import Mapping
from pathlib import Path

from gapless.core import GaplessError

POLYNOMIAL = 0x82F63B78
"""Castagnoli's, bits reversed (RFC 3720, appendix B.4)."""
MASK = 0xA282EAD8
"""Added to each checksum, so that the checksum of a file with checksums in it is sound, too."""
WALL_TIME, STEP, FILE_VERSION, SUMMARY = 1, 2, 3, 5
VALUE = 1
TAG, SIMPLE_VALUE = 1, 2
VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5
"""How a field is encoded: protocol buffers' wire types."""


class EventFile:
    """One run's curves in a folder of its own; what was noted is on disk when `note` returns."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # A run that goes on adds a file; TensorBoard reads all of a folder in the order of their names.
            self.path = folder / f"events.out.tfevents.{time.time_ns():020d}.{os.getpid()}"
            self._file = self.path.open("xb", buffering=0)
        except OSError as error:
            raise GaplessError(f"curves cannot be written to {folder}: {error}. Name another folder.") from None
        self._write(_bytes(FILE_VERSION, b"brain.Event:2"))

    def note(self, step: int, figures: Mapping[str, float]) -> None:
        """One point on each curve."""
        values = b"".join(
            _bytes(VALUE, _bytes(TAG, name.encode()) + _key(SIMPLE_VALUE, FOUR_BYTES) + struct.pack("<f", figure))
            for name, figure in figures.items()
        )
        self._write(_key(STEP, VARINT) + _varint(step) + _bytes(SUMMARY, values))

    def close(self) -> None:
        self._file.close()

    def _write(self, fields: bytes) -> None:
        event = _key(WALL_TIME, EIGHT_BYTES) + struct.pack("<d", time.time()) + fields
        length = struct.pack("<Q", len(event))
        # In one piece: a run that is killed leaves whole records.
        self._file.write(length + _checksum(length) + event + _checksum(event))


def crc32c(content: bytes) -> int:
    """The cyclic redundancy check of the content, with Castagnoli's polynomial."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _divided(remainder: int) -> int:
    for _ in range(8):
        remainder = remainder >> 1 ^ (POLYNOMIAL if remainder & 1 else 0)
    return remainder


TABLE = tuple(_divided(byte) for byte in range(256))


def _checksum(content: bytes) -> bytes:
    crc = crc32c(content)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + MASK) & 0xFFFFFFFF)


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _bytes(field: int, content: bytes) -> bytes:
    return _key(field, BYTES) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """Seven bits a byte, lowest first; all but the last byte have their highest bit set."""
    number &= 2**64 - 1
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
