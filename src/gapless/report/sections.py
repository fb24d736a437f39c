"""The sections of a workspace's page: each tells its part of the story with a heading, a sentence and charts."""

from .actuators import actuators
from .adaptations import adaptations
from .causes import causes_chart, losses_chart
from .charts import gap_chart, gap_heights, learning_chart, prediction_chart, returns_chart
from .decisions import decisions
from .document import Section, missing
from .fits import Fit
from .insight import bugs, excitation, parts, unexplained
from .intervals import combination_chart, fit_table, parameters_chart
from .markup import join, tag
from .rows import forecasts_chart
from .scenarios import scenarios
from .screen import about, screen
from .story import FILM, Story
from .tables import lineage_table, loop_table, parameters_table
from .terms import terms
from .titled import both, panels
from .verdicts import judged, margins_chart, stops_table
from .wording import count, fixed, number, percent, times

FOLDED = 40
"""Artifacts above which the lineage waits to be unfolded."""


def sections(story: Story, without_film: str = "") -> list[Section]:
    """All parts of the page, in order."""
    learned = (bugs, excitation, prediction, gap, unexplained, parameters, causes)
    used = (learning, forecasts, verdicts)
    begin = [loop(story), *decisions(story), film(story, without_film), *(tell(story) for tell in learned)]
    end = [*(tell(story) for tell in used), *adaptations(story), *terms(story), *scenarios(story), lineage(story)]
    return [*begin, *parts(story), *actuators(story), *end]


def loop(story: Story) -> Section:
    told = ("loop", "The loop, crank by crank")
    if not story.cranks:
        return missing(*told, "gapless collect", "the first logs")
    title = "Return on the robot, beside the forecast made before it moved"
    shown = any(c.forecast or c.outcome for c in story.cranks)
    chart = [both(title, lambda width: returns_chart(story.cranks, width))] if shown else []
    says = (
        "Each crank collects, learns the simulator, trains a policy and checks it. The gap is the median error half a "
        "second ahead, above the noise floor, in units of the signal’s deviation: data sheet → learned."
    )
    return Section(*told, says, join(*chart, loop_table(story.cranks)))


def film(story: Story, without_film: str) -> Section:
    told, found = ("film", "Robot against simulation"), story.film
    if without_film:
        return Section(*told, f"No film: {without_film.rstrip('.')}. The curves below show the same.", None)
    if found is not None and found.file(f"{FILM}.mp4").is_file():
        return Section(*told, about(found), screen(found))
    return missing(*told, "gapless report", "a film once a policy has been on the robot")


def prediction(story: Story) -> Section:
    told, found = ("prediction", "Predicted against measured"), story.last("gap")
    curves = [c for c in found.curves if c.time_s] if found else []
    if not curves:
        return missing(*told, "gapless learn", "the learned simulator")
    says = "A window of the logs that no fit has seen. Dots are measured; the dashed line is the data sheet’s "
    says += "prediction, the full line the learned model’s, both from the same start and the same commands."
    charts = ((f"{c.channel}: measured, and predicted from time 0 on", prediction_chart(c)) for c in curves)
    return Section(*told, says, panels(charts))


def gap(story: Story) -> Section:
    told, found = ("gap", "The gap by horizon and channel"), story.last("gap")
    channels = list(dict.fromkeys([*found.before, *found.after])) if found else []
    if not channels:
        return missing(*told, "gapless learn", "the gap")
    compared = times(found.total_before, found.total_after)
    says = f"Half a second ahead, the gap is {compared}. " if compared else ""
    says += "Errors are divided by the signal’s deviation, so that 1 is no better than guessing its mean; "
    says += "nothing can predict below the noise floor."
    heights = gap_heights(found)
    charts = ((f"{c}: how far predictions are off", gap_chart(found, c, heights)) for c in channels)
    return Section(*told, says, panels(charts))


def parameters(story: Story) -> Section:
    told, found = ("parameters", "Parameters"), story.last("estimates")
    if not found:
        return missing(*told, "gapless learn", "a belief over the parameters")
    fit: Fit | None = story.last("fit")
    says = f"{_fitted(fit)}Training randomizes over exactly this belief."
    title = "Each parameter in its prior range: data sheet and belief"
    body = [both(title, lambda width: parameters_chart(found, fit, width)), parameters_table(found)]
    if fit and fit.together:
        title = "What the logs tell only together: movements of parameters that leave no trace"
        body.insert(1, both(title, lambda width: combination_chart(fit, width)))
    asked = fit_table(fit) if fit else None
    return Section(*told, says, join(*body, *([asked] if asked is not None else [])))


def causes(story: Story) -> Section:
    told, found = ("causes", "What causes the gap"), story.last("attribution")
    if not found or not (found.families or found.others):
        return missing(*told, "gapless learn", "the attribution")
    says = "All bars together are the data sheet’s whole error; one to the left hides others."
    if found.families:
        says = f"The largest cause is {found.families[0].name} with {percent(found.families[0].value)}. {says}"
    if found.varied:
        says += f" Within the logs {', '.join(found.varied)}."
    if found.repeatability is not None:
        says += f" The machine repeats itself to within {percent(found.repeatability)}: no model can explain that."
    charts = [both("Whose fault the error half a second ahead is", lambda width: causes_chart(found, width))]
    if found.losses:
        costliest = found.losses[0]
        says += f" What costs the policy most is {costliest.name}: {number(costliest.value)} of its return."
        charts.append(both("What the policy loses by each cause", lambda width: losses_chart(found, width)))
    return Section(*told, says, join(*charts))


def learning(story: Story) -> Section:
    told = ("learning", "Learning curves")
    runs = [c for c in story.cranks if c.training and any(v is not None for v in c.training.returns)]
    if not runs:
        return missing(*told, "gapless train", "a policy")
    final = number(story.last("training").final)
    says = "Return in the simulator that each crank believed in. The best policy of a run is kept, marked by a dot; "
    says += f"the newest scores {final}."
    title = "Return in simulation while the policy was trained"
    return Section(*told, says, both(title, lambda width: learning_chart(runs, width)))


def forecasts(story: Story) -> Section:
    told = ("forecasts", "Forecast against outcome")
    shown = story.having("forecast")
    if not shown:
        return missing(*told, "gapless check", "a forecast")
    hits = story.hits
    says = f"{sum(hits)} of {count(len(hits), 'outcome')} fell inside the interval. " if hits else ""
    says += (
        f"The bar is the {_share(story)}interval stated before the robot moved, its fine marks the simulated returns "
        "it rests on; the dot is the mean return on the robot."
    )
    title = "Interval forecast for each crank, and the return the robot then got"
    return Section(*told, says, both(title, lambda width: forecasts_chart(shown, width)))


def verdicts(story: Story) -> Section:
    told, shown, stops = ("verdicts", "Verdicts and stops"), judged(story), stops_table(story)
    if not shown and stops is None:
        return missing(*told, "gapless check", "the first verdicts")
    title = "How clearly each episode passed: simulated starts, and episodes on the robot"
    chart = [both(title, lambda width: margins_chart(shown, width))] if shown else []
    says = "A verdict’s margin is 1 when nothing was off and negative when the episode failed. "
    says += "Every episode came to its own end." if stops is None else "The table lists episodes that were stopped."
    return Section(*told, says, join(*chart, *([stops] if stops is not None else [])))


def lineage(story: Story) -> Section:
    told = ("lineage", "Lineage")
    if not story.artifacts:
        return missing(*told, "gapless collect", "the first artifact")
    says = f"{count(len(story.artifacts), 'artifact')}, the oldest first. An id follows from kind, parents and recipe; "
    says += "the content hash from files and figures."
    listed = lineage_table(story)
    folded = tag("details", tag("summary", f"Show all {len(story.artifacts)}"), listed)
    return Section(*told, says, folded if len(story.artifacts) > FOLDED else listed)


def _fitted(fit: Fit | None) -> str:
    """What the belief rests on and how well it explains logs that it has not seen."""
    says = (
        f"The fit was refused, and the belief is still the prior: {fit.refused.rstrip('.')}. "
        if fit and fit.refused
        else ""
    )
    says += f"From {fixed(fit.seconds_of_log, 0)} s of logs. " if fit and fit.seconds_of_log is not None else ""
    if fit and fit.chi_square is not None:
        says += f"Chi-square on held-out logs is {number(fit.chi_square, 2)} per degree of freedom"
        says += (
            f", and was {number(fit.chi_square_before, 2)} before the fit" if fit.chi_square_before is not None else ""
        )
        says += "; 1 would be sensor "
        says += "noise alone, and what is above it has widened the belief. "
    return says


def _share(story: Story) -> str:
    share = story.last("forecast").share
    return f"{percent(share)} " if share is not None else ""
