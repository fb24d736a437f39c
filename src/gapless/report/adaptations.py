"""The section about adaptations: what each try on the robot returned, and which policy was kept."""

from dataclasses import dataclass

from gapless.core import Artifact

from .charts import PANEL
from .document import Section
from .figures import Value, Values, real, records, words
from .markup import Markup
from .scale import span
from .spoken import told
from .story import Story
from .svg import Axis, Margins, axes, dots, frame, line, picture
from .titled import panels
from .wording import count, fixed, number


@dataclass(frozen=True)
class Adaptation:
    """One adaptation: returns of its tries, in turn."""

    method: str
    returns: Values
    kept: tuple[bool, ...]
    """Which tries were of the policy that was kept."""
    robot_seconds: Value
    adapted: bool

    @property
    def said(self) -> str:
        """How it went, in a sentence."""
        first, mine = (
            self.returns[0],
            [r for r, kept in zip(self.returns, self.kept, strict=True) if kept and r is not None],
        )
        shown = (
            f" returned {number(sum(mine) / len(mine))}, the first try {number(first)}" if mine else " was not tried"
        )
        who = "the adapted policy" if self.adapted else "the first one, which was kept,"
        tries, spent = count(len(self.returns), "try").replace("trys", "tries"), fixed(self.robot_seconds, 0)
        return f"{self.method}, {tries} in {spent} robot seconds: {who}{shown}."


def adaptations(story: Story) -> list[Section]:
    """Every adaptation that tried something on the robot; nothing where there was none."""
    found = [a for a in map(_read, (a for a in story.artifacts if a.kind == "policy")) if a.returns]
    if not found:
        return []
    says = "Policies tried on the robot one episode each; full dots are the policy that was kept. "
    charts = [(f"{a.method}: return of each try", _chart(a)) for a in found]
    return [Section("adaptations", "Adaptations", says + " ".join(a.said for a in found), panels(charts))]


def _chart(found: Adaptation) -> Markup:
    numbers = list(range(1, len(found.returns) + 1))
    x, y = Axis("try", 0.5, len(numbers) + 0.5), Axis("return", *span(found.returns, 0.14))
    plot = frame(*PANEL, x, y, Margins(right=16))
    kept = [value if mine else None for value, mine in zip(found.returns, found.kept, strict=True)]
    marks = line(plot, numbers, found.returns, "after faint"), dots(plot, numbers, found.returns, "measured", 3)
    said = told(f"Returns of tries by {found.method}", [number(value) for value in found.returns])
    grid = axes(plot, "try", "return of an episode")
    return picture(*PANEL, said, grid, *marks, dots(plot, numbers, kept, "after", 5))


def _read(artifact: Artifact) -> Adaptation:
    figures, tries = artifact.figures, records(artifact.figures.get("tries"))
    returns, kept = tuple(real(t.get("return")) for t in tries), tuple(t.get("kept") is True for t in tries)
    spent = real(figures.get("robot_seconds"))
    return Adaptation(words(figures.get("method")), returns, kept, spent, figures.get("adapted") is True)
