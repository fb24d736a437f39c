"""Recordings of real machines, read from the shared folder and never copied: npz files → `Log`s on their true clocks.

They are looked for in `../shared/data` beside the checkout, or in the folder that GAPLESS_DATA names.
"""

import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gapless.core import Channel, GaplessError, Interface, Log

HERE = Path(__file__).parent
Columns = dict[str, np.ndarray]


def data_folder() -> Path | None:
    """Where the recordings are; None where there are none."""
    named = os.environ.get("GAPLESS_DATA")
    found = Path(named) if named else HERE.parents[1] / "shared" / "data"
    return found if found.is_dir() else None


@dataclass(frozen=True)
class Machine:
    """How one machine's files become logs."""

    name: str
    """The folder's name."""
    period_s: float
    """Time between two commands; samples carry their own clocks."""
    commands: tuple[str, ...]
    """Actuators of the model, in the order of the command's columns."""
    joints: tuple[str, ...]
    """Joints of the model, in the order of the state's columns."""
    read: Callable[["Machine", Columns], Log | None]
    """One recording as a log; None where it belongs to another machine."""
    needs: tuple[str, ...] = ("time", "command", "state")
    """Channels without which a recording cannot be read."""
    rates: bool = False
    """Whether the recorded rates are good enough to be channels of the log."""
    slides: tuple[str, ...] = ()
    """Joints that slide."""

    @property
    def interface(self) -> Interface:
        units = {j: "m" if j in self.slides else "rad" for j in self.joints}
        seen = [Channel(f"{j}.position", unit=units[j]) for j in self.joints]
        seen += [Channel(f"{j}.velocity", unit=f"{units[j]}/s") for j in self.joints if self.rates]
        return Interface(self.name, self.period_s, tuple(map(Channel, self.commands)), tuple(seen), self.joints)

    def logs(self, path: Path) -> list[Log]:
        """Every recording in a file that this machine made, named in its source."""
        read = [(name, self._checked(path, name, columns)) for name, columns in recordings(path, self.needs).items()]
        found = [log.with_source(log=name) for name, log in read if log is not None]
        if not found:
            raise GaplessError(f"{path} holds no recording of the machine {self.name!r}.")
        return found

    def _checked(self, path: Path, name: str, columns: Columns) -> Log | None:
        """One recording as a log, of as many columns as the machine has."""
        for channel, width in (("command", len(self.commands)), ("state", 2 * len(self.joints))):
            if channel in self.needs and columns[channel].shape[1:] != (width,):
                shape = columns[channel].shape
                raise GaplessError(
                    f"channel {channel!r} of log {name!r} in {path} has the shape {shape} and {self.name} has {width} columns. "
                    "Is it a recording of another machine?"
                )
        return self.read(self, columns)

    def log(self, sent_at: np.ndarray, sent: np.ndarray, seen_at: np.ndarray, seen: np.ndarray) -> Log:
        """A log of commands and joint states, each on its own clock."""
        interface = self.interface
        return Log(
            interface,
            {name: sent[:, i : i + 1] for i, name in enumerate(interface.command_names)},
            {name: seen[:, i : i + 1] for i, name in enumerate(interface.measurement_names)},
            sent_at,
            dict.fromkeys(interface.measurement_names, seen_at),
        )


def motion(log: Log) -> str:
    """What a log's recording calls its motion."""
    return str(log.source["log"]).split(".")[0]


def recordings(path: Path, needs: tuple[str, ...] = ()) -> dict[str, Columns]:
    """Log → channel → values; every log must have the channels that are needed."""
    if not path.is_file():
        raise GaplessError(f"there is no recording {path}. Set GAPLESS_DATA to the folder of recordings.")
    found: dict[str, Columns] = {}
    try:
        with np.load(path, allow_pickle=False) as archive:
            for key in archive.files:
                name, _, column = key.rpartition("/")
                found.setdefault(name, {})[column] = np.asarray(archive[key], np.float64)
    except (ValueError, AttributeError, zipfile.BadZipFile) as problem:
        raise GaplessError(f"{path} is no archive of recordings (npz, keys LOG/CHANNEL, numbers only).") from problem
    for name, columns in found.items():
        if missing := [c for c in needs if c not in columns]:
            raise GaplessError(
                f"log {name!r} of {path} has no channel {missing[0]!r} (it has: {', '.join(columns)}). "
                "Is it a recording of another machine?"
            )
    return found


def _sampled(machine: Machine, columns: Columns) -> Log:
    """Commands and states side by side, one row a sample; only positions are kept, for the rates are filtered and late."""
    width = len(machine.joints)
    return machine.log(
        columns["time"][:-1], columns["command"], columns["time"], np.unwrap(columns["state"][:, :width], axis=0)
    )


def _cartpole(machine: Machine, columns: Columns) -> Log:
    """As above; the first row of x has another zero, and only theta is an angle."""
    state = columns["state"][1:, :2].copy()
    state[:, 1] = np.unwrap(state[:, 1])
    return machine.log(columns["time"][:-1], columns["command"], columns["time"][1:], state)


def _double_pendulum(machine: Machine, columns: Columns) -> Log | None:
    """Row k of tau_con acts from row k + 1 on; the older logs, which have none, are of another design."""
    if "tau_con1" not in columns:
        return None
    pairs = {k: np.stack([columns[f"{k}1"], columns[f"{k}2"]], axis=1) for k in ("tau_con", "pos_meas")}
    return machine.log(columns["time"][1:], pairs["tau_con"][:-1], columns["time"], pairs["pos_meas"])


def _free(machine: Machine, columns: Columns) -> Log:
    """Absolute angles and rates at 1 kHz as the joints' own; nothing is commanded."""
    absolute = np.split(columns["state"], 2, axis=1)
    relative = np.concatenate([np.diff(part, axis=1, prepend=0.0) for part in absolute], axis=1)
    times = np.arange(len(relative)) * 0.001
    return machine.log(times, np.zeros((len(times), 1)), times, relative)


UNUSED = "unused"
"""The motor of machines that have none: simulators are driven by commands, and this one is always 0."""
MACHINES = {
    m.name: m
    for m in (
        Machine("furuta", 0.004, ("voltage",), ("theta", "alpha"), _sampled),
        Machine("cartpole", 0.004, ("voltage",), ("x", "theta"), _cartpole, slides=("x",)),
        Machine("double_pendulum", 0.004, ("tau1", "tau2"), ("q1", "q2"), _double_pendulum, ("time",)),
        Machine(
            "wam_arm",
            0.002,
            tuple(f"{kind}{j}" for kind in "pd" for j in range(1, 8)),
            tuple(f"j{j}" for j in range(1, 8)),
            _sampled,
        ),
        Machine("free_double_pendulum", 0.002, (UNUSED,), ("q1", "q2"), _free, ("state",), rates=True),
        Machine("free_triple_pendulum", 0.002, (UNUSED,), ("q1", "q2", "q3"), _free, ("state",), rates=True),
    )
}
