"""One page for several workspaces: the same figures side by side, and the forecasts' score over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gapless.core import Store
from gapless.core.artifact import write_text

from .causes import causes_chart
from .charts import gap_history_chart, history_heights, returns_chart
from .document import Section, document
from .header import tile
from .markup import Markup, join, tag
from .score import ALL, Score, places_chart, score, score_chart
from .story import Story, read_story
from .tables import Row, main_causes, table, verdict, wrapped
from .titled import NARROW, both, panels
from .wording import UNKNOWN, count, fixed, number, percent, terse

Told = Sequence[tuple[str, Story]]
"""Workspaces' names with their stories."""


@dataclass(frozen=True)
class Chapter:
    """A workspace as the page shows it."""

    name: str
    subtitle: str
    store: Store


def write_comparison(chapters: Sequence[Chapter], out: Path) -> Path:
    """Write the page over all the stores, and return where it is."""
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, comparison([(c, read_story(c.store)) for c in chapters]))
    return out


def comparison(read: Sequence[tuple[Chapter, Story]]) -> str:
    """The whole document; the same stories give the same bytes."""
    title = f"{count(len(read), 'workspace')} side by side"
    stories = [(chapter.name, story) for chapter, story in read]
    told = [_overview(read), _scores(stories), _returns(stories), _gaps(stories), _causes(stories)]
    return document(title, _header(title, stories), told)


def _header(title: str, stories: Told) -> Markup:
    every = [story for _, story in stories]
    scored = score(ALL, every)
    passing = [c.outcome.passed == c.outcome.of for s in every for c in s.having("outcome")[-1:] if c.outcome]
    shown = [
        tile(
            "Robot time", f"{fixed(sum(s.robot_seconds for s in every), 0)} s", f"in {count(len(every), 'workspace')}"
        ),
        tile("Cranks", str(sum(len(s.having("outcome")) for s in every)), "that came to an outcome"),
    ]
    if scored.of:
        claimed = f"{percent(scored.share)}, {percent(scored.claimed)} claimed"
        shown.append(tile("Forecasts inside", f"{scored.inside} of {scored.of}", claimed))
    if passing:
        shown.append(tile("Newest policies", f"{sum(passing)} of {len(passing)}", "pass on the robot"))
    sentence = _verdict_sentence(scored)
    heading = join(tag("h1", title), tag("p", sentence, class_="verdict"))
    return tag("header", heading, tag("dl", *shown, class_="tiles"))


def _verdict_sentence(scored: Score) -> str:
    """How far the forecasts can be trusted."""
    if not scored.of:
        return "No forecast has met its outcome yet."
    claimed = f"; {percent(scored.claimed)} was claimed" if scored.claimed is not None else ""
    return f"{scored.inside} of {count(scored.of, 'outcome')} fell inside the interval stated beforehand{claimed}."


def _overview(read: Sequence[tuple[Chapter, Story]]) -> Section:
    headings = ("Workspace", "Cranks", "Robot time", "Gap", "Main causes", "On robot", "Verdict", "Forecasts")
    body = table(headings, [_row(chapter, story) for chapter, story in read], (1, 2, 3, 5), "cards")
    says = "Where each workspace stands. The gap is the median error half a second ahead on held-out logs, above the "
    says += "noise floor, in units of the signal’s deviation: data sheet → learned."
    return Section("workspaces", "Workspaces", says, body)


def _row(chapter: Chapter, story: Story) -> Row:
    gap, last = story.last("gap"), story.having("outcome")[-1:]
    outcome = last[0].outcome if last else None
    return (
        tag("div", wrapped(tag("b", chapter.name)), tag("small", chapter.subtitle)),
        str(len(story.having("outcome"))),
        f"{fixed(story.robot_seconds, 0)} s",
        f"{terse(gap.total_before, 2)} → {terse(gap.total_after, 2)}" if gap else UNKNOWN,
        wrapped(main_causes(story.last("attribution"))),
        number(outcome.mean) if outcome else UNKNOWN,
        verdict(last[0]) if last else UNKNOWN,
        f"{sum(story.hits)} of {len(story.hits)}" if story.hits else UNKNOWN,
    )


def _scores(stories: Told) -> Section:
    told = ("score", "The forecast keeps its own score")
    judged = [(name, story) for name, story in stories if story.hits]
    scores = [*(score(name, [story]) for name, story in judged), score(ALL, [s for _, s in judged])]
    if not judged:
        return Section(*told, "Not there yet: no forecast has met its outcome.", None)
    says = "Before each deployment an interval for the return is stated with the share of times that it will hold. "
    says += "An honest forecast holds as often as it claims: holding always says that it was too wide."
    shares = both("How often the stated interval held", lambda width: score_chart(scores, width))
    places = both("Where in its interval each outcome fell", lambda width: places_chart(judged, width))
    return Section(*told, says, join(shares, places))


def _returns(stories: Told) -> Section:
    told = ("returns", "Return on the robot")
    shown = [(name, story) for name, story in stories if any(c.forecast or c.outcome for c in story.cranks)]
    if not shown:
        return Section(*told, "Not there yet: no policy has been on a robot.", None)
    longest = max(story.robot_seconds for _, story in shown)
    says = "Against robot seconds, on one time axis: bars are forecasts, dots what the robot got. "
    says += "Returns of different tasks cannot be compared with each other."
    charts = [
        (f"{name}: return on the robot and its forecast", returns_chart(s.cranks, NARROW, longest)) for name, s in shown
    ]
    return Section(*told, says, panels(charts))


def _gaps(stories: Told) -> Section:
    told = ("gap", "The gap before and after")
    shown = [(name, story) for name, story in stories if story.having("gap")]
    if not shown:
        return Section(*told, "Not there yet: no gap has been measured.", None)
    longest, heights = max(s.robot_seconds for _, s in shown), history_heights([s for _, s in shown])
    says = "Half a second ahead, on held-out logs, crank by crank. All charts share both axes."
    charts = [(f"{name}: the gap against robot time", gap_history_chart(s, longest, heights)) for name, s in shown]
    return Section(*told, says, panels(charts))


def _causes(stories: Told) -> Section:
    told = ("causes", "What causes the gap")
    found = [(name, story.last("attribution")) for name, story in stories if story.last("attribution")]
    shown = [(name, a) for name, a in found if a.families or a.others]
    if not shown:
        return Section(*told, "Not there yet: no attribution has been made.", None)
    says = "Shares of the data sheet’s held-out error; all bars of a chart together are the whole."
    charts = [(f"{name}: causes of its gap", causes_chart(a, NARROW)) for name, a in shown]
    return Section(*told, says, panels(charts))
