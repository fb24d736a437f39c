"""Logs that have something to say, and why others have not."""

from gapless.core import Artifact, GaplessError, Log
from gapless.logs import Parted, read_logs, split, split_each

from .episodes import LOGS, SHORTEST, good_part, steady_part, teaches

FEW = 4
"""Logs below which holding out a whole one would keep the fit from what was recorded last."""
JUDGED = 0.15
"""Least share of all seconds that whole logs held out must have; an episode that ended at once judges nothing."""


def usable(logs: list[Artifact]) -> list[Log]:
    """The logs of several artifacts that have something to say, each as far as its robot could be trusted and was left alone."""
    every = [log for a in logs for log in read_logs(a.folder / LOGS)]
    found = [steady_part(log) for log in every if teaches(log)]
    if every and not found:
        raise GaplessError(f"{too_short(every)}. Collect or import longer ones.")
    if not found:
        raise GaplessError("there are no logs to learn from. Collect or import some first.")
    return found


def parted(logs: list[Log], one_by_one: bool) -> Parted:
    """Logs to learn from and logs held out. Recorded one by one, each to teach something, they are cut each while they are few
    or those that would be held out are short."""
    whole = split(logs)
    if not one_by_one:
        return whole
    judged, every = (sum(log.seconds for log in part) for part in (whole.held_out, logs))
    return split_each(logs) if len(logs) < FEW or judged < JUDGED * every else whole


def too_short(logs: list[Log]) -> str:
    """That none of these episodes is long enough."""
    return (
        f"all {len(logs)} episodes are too short to learn from, which takes more than {SHORTEST} samples "
        f"(the last has {len(good_part(logs[-1]))}{why(logs[-1])})"
    )


def why(log: Log) -> str:
    """Why an episode was stopped, if it was."""
    return f", stopped: {log.source['stopped']}" if log.source.get("stopped") else ""
