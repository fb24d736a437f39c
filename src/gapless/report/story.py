"""The story of a workspace: what each crank spent, learned, promised and got, read from the store."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from gapless.core import Artifact, Store

from .figures import (
    Attribution,
    Estimate,
    Forecast,
    Gap,
    Outcome,
    Training,
    read_attribution,
    read_estimates,
    read_forecast,
    read_gap,
    read_outcome,
    read_training,
    real,
    records,
    whole,
)

Read = TypeVar("Read")


@dataclass(frozen=True)
class Crank:
    """One turn of the loop; number 0 is what was done before the first turn, or by hand."""

    number: int
    robot_seconds: float
    """Spent in this crank, aborted episodes included."""
    until_s: float
    """Robot seconds spent up to the end of this crank."""
    episodes: int
    aborted: int
    estimates: tuple[Estimate, ...] | None
    gap: Gap | None
    attribution: Attribution | None
    training: Training | None
    checked: tuple[int | None, int | None] | None
    """Scenarios passed in simulation, and how many there were."""
    forecast: Forecast | None
    outcome: Outcome | None

    @property
    def name(self) -> str:
        return f"crank {self.number}" if self.number else "start"

    @property
    def hit(self) -> bool | None:
        """Whether the return on the robot fell inside the interval stated beforehand."""
        if self.outcome is None or self.outcome.inside is not None:
            return None if self.outcome is None else self.outcome.inside
        ends = self.forecast and (self.forecast.low, self.outcome.mean, self.forecast.high)
        if not ends or ends[0] is None or ends[1] is None or ends[2] is None:
            return None
        return ends[0] <= ends[1] <= ends[2]


@dataclass(frozen=True)
class Story:
    """Every crank in order, and every artifact, the oldest first."""

    cranks: tuple[Crank, ...]
    artifacts: tuple[Artifact, ...]

    @property
    def robot_seconds(self) -> float:
        return self.cranks[-1].until_s if self.cranks else 0.0

    def having(self, product: str) -> list[Crank]:
        """The cranks that have this product, in order."""
        return [c for c in self.cranks if getattr(c, product) is not None]

    def last(self, product: str) -> Any:
        """The newest of these products, or None."""
        found = self.having(product)
        return getattr(found[-1], product) if found else None


def read_story(store: Store) -> Story:
    """Everything the page tells, from what the store holds."""
    artifacts = tuple(store.all())
    numbers = sorted({crank_of(a) for a in artifacts})
    cranks: list[Crank] = []
    for number in numbers:
        until = cranks[-1].until_s if cranks else 0.0
        cranks.append(_crank(number, [a for a in artifacts if crank_of(a) == number], until))
    return Story(tuple(cranks), artifacts)


def crank_of(artifact: Artifact) -> int:
    return whole(artifact.recipe.get("crank")) or 0


def _crank(number: int, made: list[Artifact], before_s: float) -> Crank:
    moved = [a for a in made if a.kind in ("logs", "aborted")]
    seconds = sum(real(a.figures.get("robot_seconds")) or 0.0 for a in moved)
    return Crank(
        number=number,
        robot_seconds=seconds,
        until_s=before_s + seconds,
        episodes=sum(len(records(a.figures.get("episodes"))) for a in moved),
        aborted=sum(a.kind == "aborted" for a in moved),
        estimates=_last(made, "belief", read_estimates),
        gap=_last(made, "gap", read_gap),
        attribution=_last(made, "attribution", read_attribution),
        training=_last(made, "policy", read_training),
        checked=_last(made, "check", lambda f: (whole(f.get("passed")), whole(f.get("of")))),
        forecast=_last(made, "forecast", read_forecast) or _last(made, "outcome", _stated),
        outcome=_last(made, "outcome", read_outcome),
    )


def _last(made: list[Artifact], kind: str, read: Callable[[Mapping[str, Any]], Read]) -> Read | None:
    found = [a for a in made if a.kind == kind]
    return read(found[-1].figures) if found else None


def _stated(figures: Mapping[str, Any]) -> Forecast | None:
    """The forecast that an outcome repeats, for a store whose forecast is gone."""
    low, high = real(figures.get("low")), real(figures.get("high"))
    return None if low is None or high is None else Forecast(low, None, high, None, ())
