"""The section about reward terms: what each was forecast to bring in an episode, and what it brought on the robot."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .document import Section
from .figures import Value, mapping, real, records, words
from .markup import Markup, tag
from .story import Story, crank_of
from .tables import table, wrapped
from .wording import UNKNOWN, interval, number


class Term(NamedTuple):
    """One part of the reward, summed over an episode."""

    name: str
    mean: Value
    low: Value
    high: Value
    came: Value
    """The mean over the episodes on the robot."""

    @property
    def inside(self) -> bool | None:
        if self.came is None or self.low is None or self.high is None:
            return None
        return self.low <= self.came <= self.high


def terms(story: Story) -> list[Section]:
    """The newest forecast by terms that was deployed; nothing where there is none, or where a task names one term only."""
    found = next((t for t in (_compared(story, n) for n in _cranks(story)) if len(t) > 1), [])
    if not found:
        return []
    off = [t for t in found if t.inside is False]
    says = (
        "The return by the terms of the reward: the mean and the interval of each as forecast, and its mean over the "
    )
    says += "episodes on the robot that followed. "
    if off:
        worst = max(off, key=lambda t: abs((t.came or 0.0) - (t.mean or 0.0)))
        says += f"What was furthest from its forecast is {worst.name}."
    else:
        says += "Every term came as it was forecast."
    return [Section("terms", "Reward terms, forecast against robot", says, _listed(found))]


def _cranks(story: Story) -> list[int]:
    return [c.number for c in reversed(story.cranks)]


def _compared(story: Story, crank: int) -> list[Term]:
    made = [a for a in story.artifacts if crank_of(a) == crank]
    said = [records(a.figures.get("terms")) for a in made if a.kind == "forecast"]
    ran = [a for a in made if a.kind == "logs" and a.recipe.get("purpose") == "deploy"]
    came = [mapping(e.get("terms")) for a in ran for e in records(a.figures.get("episodes"))]
    return [_term(t, came) for t in said[-1]] if said and any(came) else []


def _term(said: Mapping[str, Any], came: Sequence[Mapping[str, Any]]) -> Term:
    name = words(said.get("name"))
    values = [v for v in (real(e.get(name)) for e in came) if v is not None]
    mean, low, high = (real(said.get(k)) for k in ("mean", "low", "high"))
    return Term(name, mean, low, high, sum(values) / len(values) if values else None)


def _listed(found: Sequence[Term]) -> Markup:
    headings = ("Term", "Forecast", "Interval", "On robot", "Verdict")
    return table(headings, [_row(t) for t in found], (1, 2, 3), "cards")


def _row(term: Term) -> tuple[Any, ...]:
    verdict = {None: UNKNOWN, True: "inside", False: "outside"}[term.inside]
    class_ = {None: "quiet", True: "good", False: "bad"}[term.inside]
    return (
        wrapped(tag("b", term.name)),
        number(term.mean),
        interval(term.low, term.high),
        number(term.came),
        tag("span", verdict, class_=class_),
    )
