"""Episodes that ended before their time have failed, whatever they showed."""

from gapless.core import Log, Verdict


def ended_early(log: Log, seconds: float, lost: str) -> Verdict | None:
    """The verdict on an episode whose robot was stopped, or that did not last; `lost` says what the latter means."""
    if log.source.get("stopped"):
        return Verdict(False, -1.0, f"the robot was stopped: {log.source['stopped']}")
    if log.seconds < seconds - 2 * log.interface.period_s:
        return Verdict(False, -1.0, f"{lost} after {log.seconds:.1f} s")
    return None
