"""Small files that anybody may have written: read whole or refused, and never more of them than can be meant."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from .errors import GaplessError

LARGEST_JSON = 2**24
"""Bytes of a JSON file at most."""
LARGEST_TOML = 2**20
"""Bytes of a TOML file at most."""
LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){32}""")
"""A key of more than 32 parts; Python's parser needs the square of their number in memory."""


def read_limited(path: Path, largest: int) -> bytes:
    """The bytes of a regular file of at most `largest` bytes."""
    if not path.is_file():
        raise GaplessError(f"there is no file {path}. Check the path.")
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise GaplessError(f"{path} cannot be read ({error.strerror}). Check its permissions.") from None
    if len(content) > largest:
        raise GaplessError(f"{path} has more than {largest} bytes, the most that is read here. Check what it is.")
    return content


def plain_object(content: bytes | str) -> dict[str, Any]:
    """The JSON object in a text; a ValueError for anything else, also for numbers that JSON does not have."""
    try:
        value = json.loads(content, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"it holds a {type(value).__name__}; a JSON object belongs there")
    return value


def plain_table(content: bytes | str) -> dict[str, Any]:
    """The tables in a TOML text; a ValueError for anything else."""
    text = content if isinstance(content, str) else content.decode()
    if LONG_KEY.search(text):
        raise ValueError("it has a key of more than 32 parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")
