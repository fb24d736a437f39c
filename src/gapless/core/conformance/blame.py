"""Whose line it was: an error as one sentence that names the user's own file and line."""

import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

from ..errors import GaplessError

OWN = Path(__file__).parents[2]
OTHERS = tuple(Path(p).resolve() for k, p in sysconfig.get_paths().items() if k in ("stdlib", "purelib", "platlib"))
LONGEST = 160
"""Characters of an error that are repeated; JAX's run to a page."""


def raised(error: BaseException) -> str:
    """The error as the end of a sentence, e.g. "KeyError was raised in robot.py, line 31 ('fan')"."""
    said = " ".join(str(error).split()).rstrip(".")
    said = said if len(said) <= LONGEST else said[:LONGEST].rsplit(" ", 1)[0] + " …"
    where = f" in {place(error)}" if place(error) else ""
    if isinstance(error, GaplessError):
        return f"{said} ({place(error)})" if where else said
    return f"{type(error).__name__} was raised{where} ({said})"


def place(error: BaseException) -> str:
    """The innermost line of the user's own code on the way to an error; empty where there was none."""
    for cause in _causes(error):
        users = [f for f in traceback.extract_tb(cause.__traceback__) if _is_users(f.filename)]
        if users:
            return f"{Path(users[-1].filename).name}, line {users[-1].lineno}"
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _is_users(filename: str) -> bool:
    path = Path(filename).resolve()
    return not filename.startswith("<") and not any(path.is_relative_to(p) for p in (OWN, *OTHERS))
