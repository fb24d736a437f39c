"""Options of the benchmark on real recordings."""

from dataclasses import dataclass
from pathlib import Path

from frame import Benchmark


@dataclass(frozen=True)
class Real(Benchmark):
    """Prediction of real machines."""

    set: str | None = None
    """Only this machine."""
    train: Path | None = None
    """Learn from all logs of this file instead (needs --set)."""
    test: Path | None = None
    """Score on all logs of this file instead (needs --set)."""
    seed: int = 0
    """Of networks."""
