"""What came of each law, for people: a mark, what was seen, the rule, and what to do about it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .blame import raised
from .laws import Law, Note, Seen, remedy_of, rule_of
from .patience import within

Mark = Literal["pass", "note", "fail"]
MOST = 3
"""Findings that are listed of one law."""
PATIENCE_S = 60.0
"""How long a law may take."""


@dataclass(frozen=True)
class Finding:
    """One line of an examination."""

    area: str
    mark: Mark
    rule: str
    seen: str = ""
    remedy: str = ""
    """What to do; empty where nothing is off."""


def examine(laws: Mapping[str, Sequence[Law]], *subject: Any) -> list[Finding]:
    """What came of laws listed by area."""
    return [found for area, listed in laws.items() for law in listed for found in _findings(area, law, subject)]


def _findings(area: str, law: Law, subject: tuple[Any, ...]) -> list[Finding]:
    told = list(_told(law, subject))
    off = [t for t in told if not isinstance(t, Seen)]
    if not off:
        return [Finding(area, "pass", rule_of(law), "; ".join(told))]
    listed = [Finding(area, _mark(t), rule_of(law), str(t), remedy_of(law)) for t in off[:MOST]]
    if len(off) > MOST:
        listed[-1] = Finding(area, listed[-1].mark, rule_of(law), f"{off[MOST - 1]}; and {len(off) - MOST} more of it",
                             remedy_of(law))  # fmt: skip
    return listed


def _told(law: Law, subject: tuple[Any, ...]) -> Iterator[str]:
    try:
        with within(PATIENCE_S):
            yield from law(*subject)
    except Exception as error:
        yield raised(error)


def _mark(told: str) -> Mark:
    return "note" if isinstance(told, Note) else "fail"
