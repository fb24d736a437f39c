"""MCAP files and ROS 2 bags as named columns: `<topic>.<field>`, every topic on its own clock.

`<topic>.time` is the header's stamp where the messages have one, otherwise the time of recording; both can be had by
name, as `<topic>.stamp` and `<topic>.log_time`. All are seconds from the first message read.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gapless.core import GaplessError

from .columns import Column, Episodes, inside
from .guard import LARGEST, one_sentence, require_size
from .ros_messages import Numbers, is_light, numbers, stamp_ns

MAGIC = b"\x89MCAP0\r\n"
"""How an MCAP file begins and ends."""
LARGEST_CHUNK = 2**30
"""Bytes of a chunk at most, unpacked."""
PEEK = 100
"""Messages of a topic that are looked at to know its columns: several nodes may take turns on one topic."""
STAMP_SLACK_NS = 10 * 10**9
"""Stamps that lie further from the time of recording are on another clock, e.g. a simulator's."""
CLOCKS = ("time", "stamp", "log_time")


def bag_files(path: Path) -> list[Path]:
    """The file itself, or the .mcap files of a bag's folder in the order of their numbers."""
    if path.is_file():
        return [path]
    found = [f for f in path.iterdir() if f.is_file() and f.suffix.lower() == ".mcap"]
    in_order = sorted(found, key=lambda f: [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", f.name)])
    return [inside(path, f) for f in in_order]


def bag_widths(path: Path) -> dict[str, int]:
    """The columns of all topics whose messages hold numbers."""
    found: dict[str, int] = {}
    for file in bag_files(path):
        with _opened(file) as bag:
            for topic in bag.topics:
                with suppress(GaplessError):  # a topic that holds no channels; one that is wanted says why
                    found |= _topic_widths(topic, islice(bag.messages([topic]), PEEK))
    if not found:
        raise GaplessError(f"{path} holds no message with numbers in it. Name another file, or record other topics.")
    return found


def read_bag(path: Path, wanted: Collection[str], episode: str) -> Episodes:
    """The wanted columns, each as long as its topic has messages."""
    if episode:
        raise GaplessError(f"the mapping names an episode column; {path} is one episode. Drop `episode`.")
    topics: dict[str, _Topic] = {}
    for file in bag_files(path):
        with _opened(file) as bag:
            chosen = [t for t in bag.topics if any(w.startswith(f"{t}.") for w in wanted)]
            for message in bag.messages(chosen) if chosen else ():
                topic = topics.setdefault(message.topic, _Topic(message.topic, wanted))
                topic.add(message)
                require_size(path, topic.size, LARGEST, "numbers")
    start = min((topic.log_ns[0] for topic in topics.values()), default=0)
    found = {name: column for topic in topics.values() for name, column in topic.columns(start).items()}
    return {path.stem: found}


def _topic_widths(topic: str, messages: Iterable["_Message"]) -> dict[str, int]:
    found: dict[str, int] = {}
    for message in messages:
        columns = {f"{topic}.{name}": len(values) for name, values in message.numbers.items()}
        clocks = {f"{topic}.{clock}": 1 for clock in CLOCKS if clock != "stamp" or message.stamp_ns}
        found |= {**columns, **clocks} if columns else {}
    return found


@dataclass(frozen=True)
class _Message:
    """One message, decoded."""

    topic: str
    log_ns: int
    stamp_ns: int | None
    numbers: Numbers


@dataclass
class _Topic:
    """The wanted numbers of one topic, message by message."""

    name: str
    wanted: Collection[str]
    log_ns: list[int] = field(default_factory=list)
    stamps: list[int | None] = field(default_factory=list)
    rows: list[Numbers] = field(default_factory=list)
    size: int = 0

    def add(self, message: _Message) -> None:
        kept = {n: v for n, v in message.numbers.items() if f"{self.name}.{n}" in self.wanted}
        self.log_ns.append(message.log_ns)
        self.stamps.append(message.stamp_ns)
        self.rows.append(kept)
        self.size += 2 + sum(len(v) for v in kept.values())

    def columns(self, start_ns: int) -> dict[str, Column]:
        """Whatever is wanted of the topic, clocks included."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        found = {f"{self.name}.{name}": self._column(name) for name in names}
        for name, times in self._clocks().items():
            seconds = np.array([(t - start_ns) / 1e9 for t in times])
            found[f"{self.name}.{name}"] = Column(seconds[:, None], np.ones(len(seconds), bool))
        return {name: column for name, column in found.items() if name in self.wanted}

    def _column(self, name: str) -> Column:
        present = np.array([name in row for row in self.rows])
        given = [row[name] for row in self.rows if name in row]
        if len({len(values) for values in given}) != 1:
            raise GaplessError(f"'{self.name}.{name}' has different lengths in different messages; it must have one.")
        values = np.full((len(self.rows), len(given[0])), np.nan)
        values[present] = given
        return Column(values, present)

    def _clocks(self) -> dict[str, Sequence[int]]:
        stamps = [s for s in self.stamps if s is not None]
        if len(stamps) != len(self.log_ns):
            return {"time": self.log_ns, "log_time": self.log_ns}
        apart = sorted(abs(s - t) for s, t in zip(stamps, self.log_ns, strict=True))[len(stamps) // 2]
        best = stamps if apart <= STAMP_SLACK_NS else self.log_ns
        return {"time": best, "stamp": stamps, "log_time": self.log_ns}


@contextmanager
def _opened(path: Path) -> Iterator["_Bag"]:
    with one_sentence(path, "MCAP"), path.open("rb") as file:
        begins = file.read(len(MAGIC)) == MAGIC
        file.seek(-min(len(MAGIC), path.stat().st_size), 2)
        if begins and (file.read() != MAGIC or path.stat().st_size < 2 * len(MAGIC)):
            raise GaplessError(
                f"{path} is cut short: its end is missing. Repair it with `mcap recover` or `ros2 bag reindex`."
            )
        file.seek(0)
        yield _Bag(path, file)


class _Bag:
    """One open MCAP file."""

    def __init__(self, path: Path, file: Any) -> None:
        try:
            from mcap.reader import SeekingReader
        except ImportError:
            raise GaplessError(f"{path} is an MCAP file. Install what reads it: pip install 'gapless[ros]'.") from None
        self.path = path
        self.reader = SeekingReader(file, validate_crcs=True, record_size_limit=LARGEST_CHUNK)
        summary = self.reader.get_summary()
        if summary is None:
            raise GaplessError(
                f"{path} has no summary at its end. Write one with `mcap recover` or `ros2 bag reindex`."
            )
        for chunk in summary.chunk_indexes:
            require_size(path, chunk.uncompressed_size, LARGEST_CHUNK, "bytes in one chunk")
        channels, schemas = summary.channels.values(), summary.schemas
        self.decoders = {c.id: _decoder(c.message_encoding, schemas.get(c.schema_id)) for c in channels}
        self.topics = sorted({c.topic for c in channels if self.decoders[c.id]})

    def messages(self, topics: Sequence[str]) -> Iterator[_Message]:
        """The messages of these topics in the order of their recording."""
        for _, channel, message in self.reader.iter_messages(topics):
            decode = self.decoders.get(channel.id)
            if decode is not None:
                decoded = decode(message.data)
                yield _Message(channel.topic, message.log_time, stamp_ns(decoded), numbers(decoded))


def _decoder(encoding: str, schema: Any) -> Callable[[bytes], Any] | None:
    """What decodes a topic's messages: ROS 2's CDR by the schema in the file, or JSON; None for what holds no channel."""
    from mcap_ros2.decoder import DecoderFactory

    if schema is not None and not is_light(schema.name):
        return None
    if encoding == "json":
        return json.loads
    with suppress(Exception):  # a schema that cannot be parsed is one topic less, not one file less
        return DecoderFactory().decoder_for(encoding, schema)
    return None
