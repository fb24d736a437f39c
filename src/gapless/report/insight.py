"""The sections about learning itself: bug or gap, the chosen motion, what nothing explains yet, and learned parts."""

from collections.abc import Sequence

from .causes import bars
from .document import Section, missing
from .evidence import Finding, LearnedPart, ResidualMap
from .figures import Part
from .maps import map_chart, map_note
from .markup import Markup, join
from .motions import motion_chart, teaching_chart
from .rows import Rows
from .scale import span
from .spoken import told
from .story import Story
from .svg import dot, picture, segment
from .tables import table, wrapped
from .titled import both, panels
from .wording import UNKNOWN, count, number, percent, terse, times


def bugs(story: Story) -> Section:
    """What preflight says: wrong conventions, or that there is none."""
    heads, found = ("bugs", "Bug or gap?"), story.last("findings")
    if found is None:
        return missing(*heads, "gapless preflight", "a search for wrong conventions")
    if not found:
        return Section(*heads, "No wrong convention in the logs: what is left between model and robot is a gap.", None)
    says = f"{count(len(found), 'wrong convention')} in the logs. These are bugs: put them right before anything is learned, "
    says += "as no parameter explains them."
    measured = [f for f in found if f.fold is not None]
    title = "How many times smaller the prediction error gets when each is put right"
    chart = [both(title, lambda width: findings_chart(measured, width))] if measured else []
    rows = [(f.kind, wrapped(", ".join(f.channels) or UNKNOWN), wrapped(f.evidence), wrapped(f.advice)) for f in found]
    return Section(*heads, says, join(*chart, table(("Bug", "Channels", "Evidence", "What to do"), rows, (), "cards")))


def excitation(story: Story) -> Section:
    """The newest motions that were chosen by what they teach."""
    heads, found = ("motion", "The chosen motion"), story.last("motions")
    if not found:
        return missing(*heads, "gapless collect", "a motion chosen by what it teaches, beside what was expected of it")
    motion = found[0]
    says = "Commands chosen by what they would teach, inside the limits in every simulation that the belief allowed. "
    says += "The line is what was expected, the band spans "
    says += f"{count(motion.draws, 'draw')} of the belief" if motion.draws is not None else "all draws of the belief"
    says += ", dots are what came."
    says += f" At most {percent(motion.usage)} of the way to a limit was used." if motion.usage is not None else ""
    says += f" The first of {count(len(found), 'motion')}." if len(found) > 1 else ""
    charts = panels((f"{c.name}: expected, and as it came", motion_chart(motion, c)) for c in motion.channels)
    title = "How much doubt about each parameter the motion was expected to leave"
    taught = [both(title, lambda width: teaching_chart(motion, width))] if motion.left else []
    return Section(*heads, says, join(charts, *taught))


def unexplained(story: Story) -> Section:
    """Residual maps of the newest gap."""
    heads, found = ("unexplained", "What nothing explains yet"), story.last("maps")
    if not found:
        return missing(*heads, "gapless learn", "maps of what the belief leaves unexplained")
    says = f"Measured minus predicted, {terse(found[0].ahead_s)} s ahead on logs that no fit has seen, averaged where the motion "
    says += "was; each channel over the two signals that its error follows most. Pale cells are explained. "
    says += ". ".join(map(map_note, found[:3])) + "."
    return Section(*heads, says, panels((_map_title(m), map_chart(m)) for m in found))


def parts(story: Story) -> list[Section]:
    """Learned parts and what they are worth; nothing where there is none."""
    found: tuple[LearnedPart, ...] | None = story.last("parts")
    if not found:
        return []
    says = "Networks beside the physics, kept only where they predict held-out logs better. "
    compared = times(found[0].before, found[0].after)
    says += f"With {found[0].name} the error up to half a second ahead is {compared}." if compared else ""
    title = "Held-out error without each learned part and with it"
    return [Section("parts", "Learned parts", says, both(title, lambda width: parts_chart(found, width)))]


def findings_chart(found: Sequence[Finding], width: float) -> Markup:
    """A bar for each finding: by how many fold the error falls."""
    shown = [(Part(" ".join((f.kind, *f.channels)), f.fold), "after") for f in found if f.fold is not None]
    said = told("Fold by which the error falls", [f"{part.name} {number(part.value, 2)}" for part, _ in shown])
    return bars(shown, width, (1.0, _fold, "times smaller error"), said)


def parts_chart(found: Sequence[LearnedPart], width: float) -> Markup:
    """A row for each part: the error before and after."""
    notes = [f"{number(p.before, 2)} → {number(p.after, 2)}" for p in found]
    rows = Rows(width, tuple(p.name for p in found), tuple(notes))
    across = rows.scale(0.0, span([0.0, *(v for p in found for v in (p.before, p.after))])[1])
    grid = rows.axis(across, across.ticks(72), "held-out error (deviations of the signal)")
    key = rows.key((dot(0, 0, "before", 4.5), "without"), (dot(0, 0, "after", 4.5), "with it"))
    marks = []
    for i, p in enumerate(found):
        y, ends = rows.middle(i), (across(p.before or 0.0), across(p.after or 0.0))
        tip = f"{p.name}\nwithout {number(p.before)}\nwith it {number(p.after)}"
        marks += [segment(ends[0], y, ends[1], y, "whisker"), dot(ends[0], y, "before", 5, tip)]
        marks.append(dot(ends[1], y, "after", 5, tip))
    said = told(
        "Held-out error without and with each learned part",
        [f"{p.name} {n}" for p, n in zip(found, notes, strict=True)],
    )
    return picture(width, rows.height, said, key, grid, rows.captions(), *marks)


def _map_title(found: ResidualMap) -> str:
    its = {found.channel: "its value", f"rate of {found.channel}": "its rate"}
    return f"{found.channel}: what is left, over {' and '.join(its.get(s.name, s.name) for s in (found.x, found.y))}"


def _fold(value: float) -> str:
    return f"{number(value, 2)} ×"
