"""The sections of the page: each tells its part of the story with a heading, a sentence and charts."""

from collections.abc import Callable
from dataclasses import dataclass

from .charts import gap_chart, gap_heights, learning_chart, prediction_chart, returns_chart
from .markup import Markup, join, tag
from .rows import causes_chart, forecasts_chart, parameters_chart
from .story import Story
from .tables import lineage_table, loop_table, parameters_table
from .wording import count, number, percent, times

WIDE, NARROW = 840.0, 350.0
"""Widths in pixels for which a chart is laid out: beside its heading on a desk, and on a phone."""


@dataclass(frozen=True)
class Section:
    """One part of the page."""

    anchor: str
    heading: str
    says: str
    """What is seen, in a sentence or two."""
    body: Markup | None
    """None while the artifacts it needs do not exist; `says` then names the command that makes them."""


def sections(story: Story) -> list[Section]:
    """All parts of the page, in order."""
    told = (loop, prediction, gap, parameters, causes, learning, forecasts, lineage)
    return [tell(story) for tell in told]


def loop(story: Story) -> Section:
    told = ("loop", "The loop, crank by crank")
    if not story.cranks:
        return _missing(*told, "gapless collect", "the first logs")
    shown = any(c.forecast or c.outcome for c in story.cranks)
    chart = [_both(lambda width: returns_chart(story.cranks, width))] if shown else []
    says = (
        "Each crank collects, learns the simulator, trains a policy and checks it. The gap is the median error half a "
    )
    says += "second ahead, above the noise floor, in units of the signal’s deviation: nominal model → identified model."
    return Section(*told, says, join(*chart, loop_table(story.cranks)))


def prediction(story: Story) -> Section:
    told, found = ("prediction", "Predicted against measured"), story.last("gap")
    curves = [c for c in found.curves if c.time_s] if found else []
    if not curves:
        return _missing(*told, "gapless learn", "the identified simulator")
    says = "A window of the logs that no fit has seen. Dots are measured; the dashed line is the nominal model’s "
    says += "prediction, the full line the identified model’s, both from the same start and the same commands."
    return Section(*told, says, _grid([prediction_chart(c) for c in curves]))


def gap(story: Story) -> Section:
    told, found = ("gap", "The gap by horizon and channel"), story.last("gap")
    channels = list(dict.fromkeys([*found.before, *found.after])) if found else []
    if not channels:
        return _missing(*told, "gapless learn", "the gap")
    compared = times(found.total_before, found.total_after)
    says = f"Half a second ahead, the gap is {compared}. " if compared else ""
    says += "Errors are divided by the signal’s deviation, so that 1 is no better than guessing its mean; "
    says += "nothing can predict below the noise floor."
    return Section(*told, says, _grid([gap_chart(found, c, gap_heights(found)) for c in channels]))


def parameters(story: Story) -> Section:
    told, found = ("parameters", "Parameters"), story.last("estimates")
    if not found:
        return _missing(*told, "gapless learn", "a belief over the parameters")
    says = (
        "Each row is a parameter’s prior range. The diamond is the nominal value, the dot the belief’s mean, the bar "
    )
    says += "its 95 % interval. Training randomizes over exactly this belief."
    chart = _both(lambda width: parameters_chart(found, width))
    return Section(*told, says, join(chart, parameters_table(found)))


def causes(story: Story) -> Section:
    told, found = ("causes", "What causes the gap"), story.last("attribution")
    if not found or not (found.families or found.together is not None):
        return _missing(*told, "gapless learn", "the attribution")
    says = "How much of the nominal model’s gap goes away when one family of parameters alone is fitted. "
    says += "Families overlap, so the shares need not add up to what all remove together."
    if found.families:
        name, share = found.families[0]
        says = f"The largest single cause is {name}, which alone explains {percent(share)}. {says}"
    return Section(*told, says, _both(lambda width: causes_chart(found, width)))


def learning(story: Story) -> Section:
    told = ("learning", "Learning curves")
    runs = [c for c in story.cranks if c.training and any(v is not None for v in c.training.returns)]
    if not runs:
        return _missing(*told, "gapless train", "a policy")
    final = number(story.last("training").final)
    says = f"Return in the simulator that each crank believed in; the newest policy ends at {final}."
    return Section(*told, says, _both(lambda width: learning_chart(runs, width)))


def forecasts(story: Story) -> Section:
    told = ("forecasts", "Forecast against outcome")
    shown = story.having("forecast")
    if not shown:
        return _missing(*told, "gapless check", "a forecast")
    judged = [c.hit for c in shown if c.hit is not None]
    says = f"{sum(judged)} of {count(len(judged), 'outcome')} fell inside the interval. " if judged else ""
    says += (
        f"The bar is the {_share(story)}interval stated before the robot moved, its fine marks the simulated returns "
    )
    says += "it rests on; the dot is the mean return on the robot."
    return Section(*told, says, _both(lambda width: forecasts_chart(shown, width)))


def lineage(story: Story) -> Section:
    told = ("lineage", "Lineage")
    if not story.artifacts:
        return _missing(*told, "gapless collect", "the first artifact")
    says = f"{count(len(story.artifacts), 'artifact')}, the oldest first. An id follows from kind, parents and recipe; "
    says += "the content hash from files and figures."
    return Section(*told, says, lineage_table(story))


def _share(story: Story) -> str:
    share = story.last("forecast").share
    return f"{percent(share)} " if share is not None else ""


def _missing(anchor: str, heading: str, command: str, product: str) -> Section:
    return Section(anchor, heading, join("Not there yet: ", tag("code", command), f" makes {product}."), None)


def _both(draw: Callable[[float], Markup]) -> Markup:
    """The chart laid out twice; the style sheet shows the one that fits."""
    return tag("figure", tag("div", draw(WIDE), class_="wide"), tag("div", draw(NARROW), class_="narrow"))


def _grid(charts: list[Markup]) -> Markup:
    return tag("div", *(tag("figure", c) for c in charts), class_="panels")
