"""The page's tables: the loop crank by crank, the parameters, and the lineage of every artifact."""

from collections.abc import Sequence

from gapless.core import Artifact

from .figures import Attribution, Estimate
from .markup import Markup, join, tag
from .story import Crank, Story, crank_of
from .wording import UNKNOWN, count, decimals_for, fixed, interval, number, percent, terse

Row = Sequence[str]


def table(headings: Sequence[str], rows: Sequence[Row], numeric: Sequence[int], class_: str = "") -> Markup:
    """A table that scrolls sideways when it must; columns in `numeric` are set flush right."""
    classes = ["number" if i in numeric else None for i in range(len(headings))]
    head = tag("tr", *(tag("th", h, scope="col", class_=c) for h, c in zip(headings, classes, strict=True)))
    body = [
        tag("tr", *(tag("td", cell, class_=c, data_label=h) for cell, h, c in zip(row, headings, classes, strict=True)))
        for row in rows
    ]
    inner = tag("table", tag("thead", head), tag("tbody", *body), class_=class_)
    return tag("div", inner, class_="scroll", tabindex=0)


def wrapped(content: str) -> Markup:
    """What may take several lines in a table."""
    return tag("span", content, class_="wrap")


def loop_table(cranks: Sequence[Crank]) -> Markup:
    headings = ("Crank", "Robot time", "Gap", "Main causes", "Forecast", "On robot", "Verdict")
    return table(headings, [_loop_row(c) for c in cranks], (1, 2, 4, 5), "cards")


def parameters_table(estimates: Sequence[Estimate]) -> Markup:
    headings = ("Parameter", "Unit", "Data sheet", "Prior range", "Mean", "95 % interval", "Narrowed")
    return table(headings, [_parameter_row(e) for e in estimates], (2, 3, 4, 5, 6))


def lineage_table(story: Story) -> Markup:
    known = {a.id for a in story.artifacts}
    rows = [_lineage_row(a, known) for a in story.artifacts]
    return table(("Crank", "Kind", "Id", "Made from", "Content"), rows, (0,), "compact")


def main_causes(attribution: Attribution | None) -> str:
    """The two largest families that explain a twentieth of the gap or more."""
    families = attribution.families[:2] if attribution else ()
    return ", ".join(f"{f.name} {percent(f.value)}" for f in families if abs(f.value) >= 0.05) or UNKNOWN


def verdict(crank: Crank) -> Markup:
    """Whether the policy passed on the robot, or how far it has come."""
    outcome = crank.outcome
    if outcome and outcome.passed is not None and outcome.of:
        whole = outcome.passed == outcome.of
        said = f"{'✓' if whole else '✗'} {outcome.passed} of {outcome.of} pass"
        return tag("span", said, class_="good" if whole else "bad")
    if crank.check and crank.check.of:
        return tag("span", f"{crank.check.passed} of {crank.check.of} pass in simulation", class_="quiet")
    return tag("span", UNKNOWN, class_="quiet")


def _loop_row(crank: Crank) -> Row:
    gap = crank.gap
    notes = [count(crank.episodes, "episode")] if crank.episodes else []
    notes += [f"{crank.aborted} aborted"] if crank.aborted else []
    shown_gap = f"{terse(gap.total_before, 2)} → {terse(gap.total_after, 2)}" if gap else UNKNOWN
    return (
        crank.name,
        tag("div", f"{fixed(crank.robot_seconds, 1)} s", *(tag("small", note) for note in notes)),
        shown_gap,
        wrapped(main_causes(crank.attribution)),
        interval(crank.forecast.low, crank.forecast.high) if crank.forecast else UNKNOWN,
        number(crank.outcome.mean) if crank.outcome else UNKNOWN,
        verdict(crank),
    )


def _parameter_row(e: Estimate) -> Row:
    width = e.high95 - e.low95 if e.high95 is not None and e.low95 is not None else None
    prior = e.prior_high - e.prior_low if e.prior_high is not None and e.prior_low is not None else None
    narrowed = f"{number(prior / width, 2)} ×" if prior and width else UNKNOWN
    mean = fixed(e.mean, decimals_for(width))
    prior_range = f"{terse(e.prior_low)} to {terse(e.prior_high)}"
    name = join(wrapped(tag("b", e.name)), tag("small", e.family))
    return (name, e.unit or "1", terse(e.nominal), prior_range, mean, interval(e.low95, e.high95), narrowed)


def _lineage_row(artifact: Artifact, known: set[str]) -> Row:
    purpose = artifact.recipe.get("purpose")
    parents = [_parent(role, id_, known) for role, id_ in artifact.parents.items()]
    return (
        str(crank_of(artifact)),
        join(artifact.kind, tag("span", f" {purpose}", class_="quiet")) if purpose else artifact.kind,
        tag("code", artifact.id, id=f"artifact-{artifact.id}"),
        wrapped(join(*parents)) if parents else UNKNOWN,
        tag("code", artifact.content[:10]),
    )


def _parent(role: str, id_: str, known: set[str]) -> Markup:
    code = tag("code", id_)
    return tag("span", f"{role} ", tag("a", code, href=f"#artifact-{id_}") if id_ in known else code, class_="parent")
