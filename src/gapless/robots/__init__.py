"""Reality: drivers, the safety gate, and the built-in twins with hidden physics."""

from .finding import find_robot
from .gate import Gate, Limits
from .record import log_of, record
from .twin import Twin

__all__ = ["Gate", "Limits", "Twin", "find_robot", "log_of", "record"]
