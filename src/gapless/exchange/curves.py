"""Where the curves of a training go while it runs: a TensorBoard event file, or whatever tracker is installed."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from gapless.core import GaplessError

from .event_file import EventFile

Kept = Literal["tensorboard", "trackio", "wandb"]
"""Event files need nothing; the others are packages of that name."""


class Curves(Protocol):
    """Somebody who keeps figures by step."""

    def note(self, step: int, figures: Mapping[str, float]) -> None:
        """One point on each curve."""
        ...

    def close(self) -> None:
        """Nothing more will come."""
        ...


class Tracked:
    """A run of a tracker that has wandb's verbs: init, log, finish."""

    def __init__(self, run: Any) -> None:
        self._run = run

    def note(self, step: int, figures: Mapping[str, float]) -> None:
        self._run.log({name: float(figure) for name, figure in figures.items()}, step=step)

    def close(self) -> None:
        self._run.finish()


def open_curves(kept: str, folder: Path, project: str, run: str) -> Curves:
    """Curves of one run, kept as `kept` says; event files are in `folder`/`run`, trackers file them under `project`."""
    if kept not in get_args(Kept):
        raise GaplessError(f"curves cannot be kept by {kept!r}; known are {', '.join(get_args(Kept))}.")
    if kept == "tensorboard":
        return EventFile(folder / run)
    try:
        tracker = importlib.import_module(kept)
    except ImportError as error:
        raise GaplessError(f"curves cannot be kept by {kept}: {error}. Install it with `pip install {kept}`.") from None
    return Tracked(tracker.init(project=project, name=run))
