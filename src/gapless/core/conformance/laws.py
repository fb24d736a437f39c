"""Laws and findings: a law is a sentence and a search for what breaks it, a finding says what was found."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..interface import Channel
from ..signals import Array
from .blame import raised

Law = Callable[..., Iterator[str]]
"""Its docstring is the rule and, in a second paragraph, what to do when it is broken; what it yields are the findings."""


class Note(str):
    """A finding that breaks no law and is worth knowing."""


class Seen(str):
    """What was seen where a law holds."""


def rule_of(law: Law) -> str:
    """The law as a sentence without its full stop."""
    return " ".join((law.__doc__ or law.__name__).split("\n\n")[0].split()).rstrip(".")


def remedy_of(law: Law) -> str:
    """What to do when the law is broken; empty where it does not say."""
    return " ".join(" ".join((law.__doc__ or "").split("\n\n")[1:]).split())


def findings(laws: Sequence[Law], *subject: Any) -> list[str]:
    """What breaks the laws, one sentence each. A law that cannot be checked is broken."""
    found = []
    for law in laws:
        try:
            for finding in law(*subject):  # one by one: what was found before an error stays
                if not isinstance(finding, Note | Seen):
                    found.append(f"{rule_of(law)}: {finding}.")
        except Exception as error:
            found.append(f"{rule_of(law)}: {raised(error)}.")
    return found


def misshapen(signals: Mapping[str, Any], channels: Sequence[Channel], rows: int | None = None) -> Iterator[str]:
    """Channels that are missing, too many, not finite, or not (width,) or (rows, width)."""
    names = [c.name for c in channels]
    extra = [k for k in signals if k not in names and k.removesuffix(".time") not in names]
    if extra:
        yield f"{extra[0]!r} is no channel of the interface"
    for c in channels:
        shape = (c.width,) if rows is None else (rows, c.width)
        if c.name not in signals:
            yield f"{c.name} is missing"
        elif np.shape(signals[c.name]) != shape:
            yield f"{c.name} has shape {np.shape(signals[c.name])} and should have {shape}"
        elif not np.isfinite(np.asarray(signals[c.name])).all():
            yield f"{c.name} is not finite"


def outside(signals: Mapping[str, Any], channels: Sequence[Channel]) -> Iterator[str]:
    """Channels beyond their limits, by more than single precision."""
    for c in channels:
        values, slack = np.asarray(signals[c.name], np.float64), 1e-6 * max(abs(limit(c, s)) for s in ("low", "high"))
        if (values < c.low - slack).any() or (values > c.high + slack).any():
            yield f"{c.name} is {values.tolist()}, outside {c.low} to {c.high}"


def unequal(
    what: str, one: Sequence[Mapping[str, Array]], other: Sequence[Mapping[str, Array]], tolerance: float = 0.0
) -> Iterator[str]:
    """The first moment at which two sequences of signals differ by more than the tolerance."""
    for k, (a, b) in enumerate(zip(one, other, strict=True)):
        for name in a:
            x, y = np.asarray(a[name], np.float64), np.asarray(b[name], np.float64)
            off = np.abs(x - y) / np.maximum(1.0, np.abs(x))
            if not (off <= tolerance).all():
                yield f"{what} differ in {name} by {float(np.max(off)):.3g} after {k} periods"
                return


def limit(channel: Channel, side: str) -> float:
    """A channel's limit, ±1 where it has none."""
    value = float(getattr(channel, side))
    return value if np.isfinite(value) else float(np.sign(value))
