"""The section about scenarios: how often the newest policy holds in each, and what the one in place held."""

from collections.abc import Mapping, Sequence
from typing import Any

from .document import Section
from .figures import real, records, whole, words
from .markup import Markup, tag
from .story import Story
from .tables import table, wrapped
from .wording import UNKNOWN, count, percent


def scenarios(story: Story) -> list[Section]:
    """The newest plays of the workspace's scenarios; nothing where there are none."""
    played = [a for a in story.artifacts if a.kind == "scenarios"]
    rows = records(played[-1].figures.get("scenarios")) if played else []
    if not rows:
        return []
    lost = sum(row.get("regressed") is True for row in rows)
    says = f"{count(len(rows), 'behaviour test')}, each played in worlds that the belief allows. The interval is where the rate "
    says += "lies with 95 % probability, given so many worlds; the policy in place met the same worlds. "
    says += f"The policy lost {count(lost, 'scenario')}, beyond chance." if lost else "The policy lost none of them."
    return [Section("scenarios", "Scenarios", says, _listed(rows))]


def _listed(rows: Sequence[Mapping[str, Any]]) -> Markup:
    headings = ("Scenario", "Holds", "95 % interval", "Policy in place", "Verdict", "Worst world")
    return table(headings, [_row(row) for row in rows], (1, 2, 3), "cards")


def _row(row: Mapping[str, Any]) -> tuple[Any, ...]:
    passed, of, before = (whole(row.get(name)) for name in ("passed", "of", "before"))
    low, high = real(row.get("low")), real(row.get("high"))
    return (
        wrapped(tag("b", words(row.get("name")))),
        _counted(passed, of),
        f"{percent(low)} to {percent(high)}",
        _counted(before, of),
        _verdict(row, before),
        wrapped(words(row.get("worst")) or UNKNOWN),
    )


def _counted(passed: int | None, of: int | None) -> str:
    return UNKNOWN if passed is None or of is None else f"{passed} of {of}"


def _verdict(row: Mapping[str, Any], before: int | None) -> Markup:
    if before is None:
        return tag("span", "first", class_="quiet")
    lost, won = (whole(row.get(name)) or 0 for name in ("lost", "won"))
    said = f"loses {lost}, wins {won}"
    return tag("span", said, class_="bad" if row.get("regressed") is True else "good" if won > lost else "quiet")
