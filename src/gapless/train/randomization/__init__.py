"""What a policy is trained over where no posterior says it: ranges by hand, ranges that adapt, and what to practise next."""

from .adaptive import Adapt, Adaptive, Edge, adaptive
from .curriculum import Curriculum, graded
from .edges import EdgeTrial
from .pushes import Pushes, with_pushes
from .starts import GradedStarts, Starts, WiderStarts, graded_starts
from .table import Table, classic

__all__ = [
    "Adapt",
    "Adaptive",
    "Curriculum",
    "Edge",
    "EdgeTrial",
    "GradedStarts",
    "Pushes",
    "Starts",
    "Table",
    "WiderStarts",
    "adaptive",
    "classic",
    "graded",
    "graded_starts",
    "with_pushes",
]
