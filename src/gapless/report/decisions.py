"""The section about decisions: what each robot second was expected to add, and what was done instead of what."""

from collections.abc import Mapping
from typing import Any

from gapless.core import Artifact

from .document import Section
from .figures import real, records, words
from .markup import Markup, tag
from .story import Story, crank_of
from .tables import table, wrapped
from .wording import UNKNOWN, count, fixed, percent

CALLED = {
    "excite": "motion that teaches",
    "deploy": "policy in place",
    "runner-up": "second best policy",
    "adapt": "adaptation",
    "part": "learned part",
    "retrain": "training",
}


def decisions(story: Story) -> list[Section]:
    """Every decision with all of its options; nothing where the robot's seconds were counted beforehand."""
    made = [a for a in story.artifacts if a.kind == "decision"]
    rows = [row for artifact in made for row in _rows(artifact)]
    if not rows:
        return []
    says = f"{count(len(made), 'decision')}. A gain is what an option was expected to add to the return above rest that is "
    says += "forecast; what asks nothing of the robot is done where it gains enough, and else what gains most per robot second."
    headings = ("Crank", "Option", "Gain", "Robot time", "Decision", "Because")
    return [Section("decisions", "The next best second", says, table(headings, rows, (2, 3), "cards"))]


def _rows(decision: Artifact) -> list[tuple[Any, ...]]:
    taken = decision.figures.get("taken")
    done = [words(kind) for kind in taken] if isinstance(taken, list) else []
    return [_row(crank_of(decision), option, done) for option in records(decision.figures.get("options"))]


def _row(crank: int, option: Mapping[str, Any], done: list[str]) -> tuple[Any, ...]:
    kind, seconds, gain = words(option.get("kind")), real(option.get("seconds")), real(option.get("gain"))
    return (
        f"crank {crank}",
        tag("b", CALLED.get(kind, kind)),
        percent(gain, 1),
        UNKNOWN if seconds is None else f"{fixed(seconds, 0)} s",
        _verdict(kind, option, done),
        wrapped(words(option.get("why")) or UNKNOWN),
    )


def _verdict(kind: str, option: Mapping[str, Any], done: list[str]) -> Markup:
    if kind in done:
        return tag("span", "done", class_="good")
    return tag("span", "not done" if option.get("allowed") is True else "not possible", class_="quiet")
