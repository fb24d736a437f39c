"""The section about actuators: how wrong each rung of each joint's ladder is on held-out logs, and which was taken."""

from dataclasses import dataclass
from functools import partial

from gapless.core import Artifact

from .causes import bars
from .document import Section
from .figures import Part, real, records, words
from .markup import Markup, join
from .spoken import told
from .story import Story
from .titled import both
from .wording import percent


@dataclass(frozen=True)
class Ladder:
    """One joint's rungs, the lowest first, with held-out errors as shares of the signal."""

    joint: str
    fitted_to: str
    chosen: str
    rungs: tuple[Part, ...]


def actuators(story: Story) -> list[Section]:
    """Each joint's newest ladder; nothing where there is none."""
    newest = {f.joint: f for f in map(_read, (a for a in story.artifacts if a.kind == "actuator")) if f.rungs}
    if not newest:
        return []
    says = "Models of each driven joint’s actuator, from the data sheet’s over motor, friction and latency to networks, judged "
    says += "by windows of the logs that no fit has seen: from torque where it is measured, else by the motion that follows. "
    says += "The lowest rung that no higher one clearly beats is taken: "
    says += "; ".join(f"{f.chosen} for {f.joint}" for f in newest.values()) + "."
    charts = [both(f"{f.joint}: held-out error of {f.fitted_to}", partial(_chart, f)) for f in newest.values()]
    return [Section("actuators", "Actuators", says, join(*charts))]


def _chart(found: Ladder, width: float) -> Markup:
    """A bar for each rung, the chosen one in the colour of what is learned."""
    shown = [(rung, "after" if rung.name == found.chosen else "total") for rung in found.rungs]
    said = told(f"Held-out error of {found.joint}", [f"{rung.name} {percent(rung.value)}" for rung in found.rungs])
    return bars(shown, width, (0.0, percent, "error, as a share of the signal"), said)


def _read(artifact: Artifact) -> Ladder:
    figures = artifact.figures
    shares = [(words(r.get("name")), real(r.get("share"))) for r in records(figures.get("rungs"))]
    rungs = tuple(Part(name, share) for name, share in shares if share is not None)
    return Ladder(words(figures.get("joint")), words(figures.get("fitted_to")), words(figures.get("chosen")), rungs)
