"""One wrong convention: what it is, what speaks for it, and what to change."""

from dataclasses import asdict, dataclass, field
from typing import Any

from gapless.core import GaplessError
from gapless.logs import Mapping

from .undoing import Nothing, Undo

KINDS = {
    "order": "channels exchanged",
    "sign": "a sign flipped",
    "unit": "a unit factor",
    "degrees": "degrees for radians",
    "offset": "an encoder offset",
    "crossed": "command and measurement exchanged",
    "quaternion": "the order of a quaternion",
    "gravity": "gravity in another direction",
    "clock": "clocks that do not agree, or run backwards",
    "gain": "a gain off by twice or more",
    "dropped": "samples missing",
    "repeated": "samples repeated",
    "saturated": "a sensor at its limit",
    "frozen": "a sensor that does not answer",
}
"""What preflight can find, and how it is called in words."""


@dataclass(frozen=True)
class Finding:
    """A bug in the logs, relative to the model."""

    kind: str
    """One of KINDS."""
    channels: tuple[str, ...]
    evidence: str
    """One sentence that says what was seen."""
    advice: str
    """One sentence that says what to change."""
    fold: float | None = None
    """How many fold the prediction error falls when it is undone; None where the logs alone show it."""
    fix: Undo = field(default_factory=Nothing)
    """The change as data, for the mapping file."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "fix": {"change": type(self.fix).__name__.lower(), **asdict(self.fix)}}  # type: ignore


def apply_fix(mapping: Mapping, finding: Finding) -> Mapping:
    """The mapping file with the finding's fix in it."""
    if isinstance(finding.fix, Nothing):
        raise GaplessError(f"no mapping can put this right: {finding.evidence}. {finding.advice}")
    return finding.fix.on_mapping(mapping)
