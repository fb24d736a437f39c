"""Reality, the only impure edge: LeRobot's verbs and a clock."""

from abc import ABC, abstractmethod

from .interface import Interface
from .signals import Signals


class Robot(ABC):
    """A machine that answers commands with measurements. Values are (width,) arrays in SI units."""

    interface: Interface
    simulated: bool = False
    """Whether nothing can break, so that `gapless doctor` may move it without asking."""

    @abstractmethod
    def connect(self) -> None:
        """Take the machine; raise GaplessError with the next step when it cannot be had."""

    @abstractmethod
    def disconnect(self) -> None:
        """Leave the machine at rest and let it go; harmless when called twice."""

    @abstractmethod
    def reset(self, episode: int) -> None:
        """Bring the machine to where episodes start. The number tells one episode's noise from another's."""

    def announce(self, for_task: bool) -> None:  # noqa: B027 — most robots need not care
        """Told before a reset whether the next episode is the task's own.

        If not, it is to teach, and nothing around the robot should change in it: no load is handed over.
        """

    @abstractmethod
    def get_observation(self) -> Signals:
        """The newest measurements; a driver that knows when one was taken adds "<channel>.time" in seconds."""

    @abstractmethod
    def send_action(self, command: Signals) -> Signals:
        """Send a command; returns what was really sent."""

    @abstractmethod
    def now(self) -> float:
        """Seconds on the robot's clock: wall time for hardware, virtual for twins."""

    @abstractmethod
    def wait_until(self, time_s: float) -> None:
        """Let time pass on that clock."""
