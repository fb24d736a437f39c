"""A task that is another one in everything that it does not say itself."""

from jaxtyping import Array, Bool, Float, PRNGKeyArray

from .log import Log
from .signals import Signals
from .task import Task, Verdict


class WrappedTask(Task):
    """Starts, rewards, ends and verdicts of the task within."""

    def __init__(self, task: Task) -> None:
        self.task, self.name, self.seconds, self.observe = task, task.name, task.seconds, task.observe
        self.commands, self.measurements, self.changes = task.commands, task.measurements, task.changes
        self.mirror, self.easy = task.mirror, task.easy

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        return self.task.start(key, n)

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        return self.task.explore(key, n)

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        return self.task.reward(before, command, after)

    def terms(self, before: Signals, command: Signals, after: Signals) -> dict[str, Float[Array, " *world"]]:
        return self.task.terms(before, command, after)

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        return self.task.finished(measurement)

    def judge(self, log: Log) -> Verdict:
        return self.task.judge(log)
