"""The subcommands: each a frozen dataclass whose fields are its options and whose `run` returns what it printed."""

from .actuator import ActuatorCommand
from .adapt import AdaptCommand
from .clone import CloneRobotCommand
from .collect import Collect
from .crank import Crank, Demo
from .doctor import Doctor
from .excite import ExciteCommand
from .export import Export
from .film import FilmCommand
from .fleet import FleetCommand
from .importing import Import
from .learn import Gap, Learn
from .new import New
from .policy import Check, Forecast, TrainPolicy
from .preflight import Preflight
from .report import Report
from .scenario import ScenarioCommand
from .trust import Trust
from .world import World

COMMANDS: dict[str, type] = {
    "new": New,
    "collect": Collect,
    "import": Import,
    "excite": ExciteCommand,
    "preflight": Preflight,
    "gap": Gap,
    "learn": Learn,
    "actuator": ActuatorCommand,
    "fleet": FleetCommand,
    "clone": CloneRobotCommand,
    "train": TrainPolicy,
    "check": Check,
    "scenario": ScenarioCommand,
    "forecast": Forecast,
    "adapt": AdaptCommand,
    "crank": Crank,
    "report": Report,
    "film": FilmCommand,
    "export": Export,
    "doctor": Doctor,
    "demo": Demo,
    "trust": Trust,
    "world": World,
}
