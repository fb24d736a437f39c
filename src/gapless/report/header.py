"""The top of the page: what came of it in one sentence, and the figures that matter as tiles."""

from .markup import Markup, join, tag
from .story import Crank, Story
from .wording import count, fixed, interval, number, percent, terse, times


def verdict_sentence(story: Story) -> str:
    """What came of it so far, or which command comes next."""
    if not story.artifacts:
        return "Nothing has been made yet: gapless collect records the first logs."
    deployed = [c for c in story.having("outcome") if c.outcome and c.outcome.mean is not None]
    spent = f"{fixed(story.robot_seconds, 0)} robot seconds"
    if deployed:
        return f"After {_cranks(deployed[-1])}{spent} the policy {_scored(deployed[-1])}."
    training = story.last("training")
    if training:
        return (
            f"After {spent} the policy scores {number(training.final)} in simulation; it has not been on the robot yet."
        )
    if story.having("estimates"):
        return f"The simulator is learned from {spent}; gapless train makes a policy in it."
    return f"{spent.capitalize()} are recorded; gapless learn turns them into a better simulator."


def tiles(story: Story) -> Markup:
    """Robot time, gap, return, forecast and verdict; what is not known yet is left out."""
    if not story.artifacts:
        return Markup("")
    shown = [_spent(story), _gap(story)]
    deployed = story.having("outcome")
    if deployed:
        shown += [_return(deployed[-1]), _forecast(deployed[-1]), _verdict(deployed[-1])]
    return tag("dl", *(t for t in shown if t), class_="tiles")


def _cranks(crank: Crank) -> str:
    return f"{count(crank.number, 'crank')} and " if crank.number else ""


def _scored(crank: Crank) -> str:
    outcome, stated = crank.outcome, crank.forecast
    said = f"scores {number(outcome.mean if outcome else None)}"
    if stated and stated.low is not None and stated.high is not None and crank.hit is not None:
        said += f", {'inside' if crank.hit else 'outside'} its forecast of {interval(stated.low, stated.high)},"
    return f"{said} and {_passes(crank)}"


def _passes(crank: Crank) -> str:
    passed, of = (crank.outcome.passed, crank.outcome.of) if crank.outcome else (None, None)
    if passed is None or not of:
        return "has no verdict yet"
    if passed == of:
        return "passes"
    return f"passes {passed} of {of} episodes" if passed else "fails"


def tile(name: str, value: str, note: str, class_: str = "") -> Markup:
    """One figure with its name above and a note below."""
    return tag("div", tag("dt", name), tag("dd", value, class_=f"value {class_}"), tag("dd", note, class_="note"))


def _spent(story: Story) -> Markup:
    episodes, aborted = sum(c.episodes for c in story.cranks), sum(c.aborted for c in story.cranks)
    note = count(episodes, "episode") + (f", {aborted} aborted" if aborted else "")
    return tile("Robot time", f"{fixed(story.robot_seconds, 0)} s", note)


def _gap(story: Story) -> Markup:
    gap = story.last("gap")
    if gap is None:
        return Markup("")
    value = f"{terse(gap.total_before, 2)} → {terse(gap.total_after, 2)}"
    return tile("Gap, before → after", value, times(gap.total_before, gap.total_after) or "no ratio yet")


def _return(crank: Crank) -> Markup:
    outcome = crank.outcome
    of = outcome.of if outcome else None
    return tile(
        "Return on the robot",
        number(outcome.mean if outcome else None),
        f"mean of {count(of, 'episode')}" if of else "",
    )


def _forecast(crank: Crank) -> Markup:
    stated = crank.forecast
    if crank.hit is None or stated is None:
        return Markup("")
    share = f"{percent(stated.share)}: " if stated.share is not None else ""
    value, class_ = ("✓ hit", "good") if crank.hit else ("✗ miss", "bad")
    return tile("Forecast", value, share + interval(stated.low, stated.high), class_)


def _verdict(crank: Crank) -> Markup:
    outcome = crank.outcome
    if outcome is None or outcome.passed is None or not outcome.of:
        return Markup("")
    value, class_ = ("✓ passes", "good") if outcome.passed == outcome.of else ("✗ fails", "bad")
    return tile("Verdict", value, f"{outcome.passed} of {count(outcome.of, 'episode')}", class_)


def header(story: Story, title: str, subtitle: str) -> Markup:
    sentence = tag("p", verdict_sentence(story), class_="verdict")
    heading = join(tag("p", subtitle, class_="subtitle"), tag("h1", title))
    return tag("header", heading, sentence, tiles(story))
