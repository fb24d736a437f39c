"""Bug or gap? Wrong conventions in logs, found before anything is fitted to them."""

from .finding import KINDS, Finding, apply_fix
from .preflight import preflight

__all__ = ["KINDS", "Finding", "apply_fix", "preflight"]
