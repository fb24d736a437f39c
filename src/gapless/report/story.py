"""The story of a workspace: what each crank spent, learned, promised and got, read from the store."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import mean
from typing import Any, TypeVar

from gapless.core import Artifact, Store

from .evidence import (
    Finding,
    LearnedPart,
    Motion,
    ResidualMap,
    read_findings,
    read_maps,
    read_motions,
    read_parts,
)
from .figures import (
    Attribution,
    Check,
    Episode,
    Estimate,
    Forecast,
    Gap,
    Outcome,
    Training,
    read_aborted,
    read_attribution,
    read_check,
    read_episodes,
    read_estimates,
    read_forecast,
    read_gap,
    read_outcome,
    read_training,
    real,
    records,
    whole,
    words,
)
from .fits import Fit, read_fit

Read = TypeVar("Read")
FILM = "film"
"""The kind of artifact that holds a film, and the stem of its file's name."""


@dataclass(frozen=True)
class Run:
    """An episode and what it was for."""

    purpose: str
    aborted: bool
    episode: Episode


@dataclass(frozen=True)
class Crank:
    """One turn of the loop; number 0 is what was done before the first turn, or by hand."""

    number: int
    robot_seconds: float
    """Spent in this crank, aborted episodes included."""
    until_s: float
    """Robot seconds spent up to the end of this crank."""
    runs: tuple[Run, ...]
    estimates: tuple[Estimate, ...] | None
    fit: Fit | None
    gap: Gap | None
    attribution: Attribution | None
    training: Training | None
    check: Check | None
    forecast: Forecast | None
    outcome: Outcome | None
    findings: tuple[Finding, ...] | None = None
    """What preflight found; None where nobody looked."""
    motions: tuple[Motion, ...] | None = None
    maps: tuple[ResidualMap, ...] | None = None
    parts: tuple[LearnedPart, ...] | None = None

    @property
    def name(self) -> str:
        return f"crank {self.number}" if self.number else "start"

    @property
    def episodes(self) -> int:
        """How many came to their end."""
        return sum(not r.aborted for r in self.runs)

    @property
    def aborted(self) -> int:
        return sum(r.aborted for r in self.runs)

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

    @property
    def hits(self) -> list[bool]:
        """Of every outcome that had a forecast, whether it fell inside the interval."""
        return [c.hit for c in self.cranks if c.hit is not None]

    @property
    def film(self) -> Artifact | None:
        """The newest film."""
        return next((a for a in reversed(self.artifacts) if a.kind == FILM), None)

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
    moved, made = [a for a in made if a.kind in ("logs", "aborted")], _of_the_best(made)
    seconds = sum(real(a.figures.get("robot_seconds")) or 0.0 for a in moved)
    return Crank(
        number=number,
        robot_seconds=seconds,
        until_s=before_s + seconds,
        runs=tuple(run for a in moved for run in _runs(a)),
        estimates=_last(made, "belief", read_estimates),
        fit=_last(made, "belief", read_fit),
        gap=_last(made, "gap", read_gap),
        attribution=_last(made, "attribution", read_attribution),
        training=_last(made, "policy", read_training),
        check=_last(made, "check", read_check),
        forecast=_last(made, "forecast", read_forecast) or _last(made, "outcome", _stated),
        outcome=_last(made, "outcome", read_outcome),
        findings=next((f for f in reversed([_findings(a) for a in made]) if f is not None), None),
        motions=tuple(motion for a in moved for motion in read_motions(a.figures)) or None,
        maps=_last(made, "gap", read_maps),
        parts=_last(made, "belief", read_parts),
    )


def _of_the_best(made: list[Artifact]) -> list[Artifact]:
    """Without what speaks of policies that another one of the same crank outdid on the robot."""
    of_policy = {a.id: a.parents.get("policy") for a in made if a.kind in ("check", "forecast")}
    of_policy |= {a.id: of_policy.get(a.parents.get("forecast", "")) for a in made if a.kind == "outcome"}
    returns: dict[str, list[float]] = {}
    for logs in made:
        policy = logs.parents.get("policy") if logs.kind == "logs" else None
        if policy is not None and policy in of_policy.values():
            returns.setdefault(policy, []).extend(_returns(logs))
    shown = {policy: mean(values) for policy, values in returns.items() if values}
    outdone = shown.keys() - {max(shown, key=lambda policy: shown[policy], default=None)}
    return [a for a in made if a.id not in outdone and of_policy.get(a.id) not in outdone]


def _returns(logs: Artifact) -> list[float]:
    found = [real(episode.get("return")) for episode in records(logs.figures.get("episodes"))]
    return [value for value in found if value is not None]


def _findings(artifact: Artifact) -> tuple[Finding, ...] | None:
    return read_findings(artifact.figures) if artifact.kind in ("belief", "preflight") else None


def _runs(artifact: Artifact) -> list[Run]:
    aborted = artifact.kind == "aborted"
    episodes = read_aborted(artifact.figures) if aborted else read_episodes(artifact.figures)
    return [Run(words(artifact.recipe.get("purpose")), aborted, episode) for episode in episodes]


def _last(made: list[Artifact], kind: str, read: Callable[[Mapping[str, Any]], Read]) -> Read | None:
    found = [a for a in made if a.kind == kind]
    return read(found[-1].figures) if found else None


def _stated(figures: Mapping[str, Any]) -> Forecast | None:
    """The forecast that an outcome repeats, for a store whose forecast is gone."""
    low, high = real(figures.get("low")), real(figures.get("high"))
    return None if low is None or high is None else Forecast(low, None, high, None, ())
