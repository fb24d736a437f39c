"""Bug or gap? What the logs show by themselves, and then what the model has to say about their conventions."""

from collections.abc import Callable

from gapless.core import GaplessError, Gaussian, Log, Simulator
from gapless.simulators.quiet import quietly

from .finding import Finding
from .quaternions import quaternion_findings
from .search import search
from .signals import signal_findings


def preflight(
    simulator: Simulator,
    prior: Gaussian,
    logs: list[Log],
    tell: Callable[[str], None] = lambda what: None,
    ask_model: bool = True,
) -> list[Finding]:
    """Wrong conventions in the logs, relative to the model; what plausible parameters explain is a gap, and no finding."""
    if not logs:
        raise GaplessError("there are no logs to check. Collect or import some first.")
    for log in logs:
        simulator.interface.require_same(log.interface, "the simulator", "the log")
    found = signal_findings(logs) + quaternion_findings(logs)
    if found or not ask_model or not simulator.sensed or not prior.names:
        return found  # a model would only be fitted to what the sensors did not see
    with quietly():
        return search(simulator, prior, logs, tell)
