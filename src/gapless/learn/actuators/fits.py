"""What climbing the ladder is about: its recipe, the rungs that are tried, and what a fit of one leaves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Params
from gapless.simulators.driven import Driven
from gapless.simulators.parts.actuator_network import NetworkActuator, NetworkForm
from gapless.simulators.parts.friction import LAWS

from .choose import Choice, choose
from .ladder import Command, Rung, geared, ladder
from .recorded import Windows

Tell = Callable[[str, float], None]
"""Takes what is being done and the share that is done."""
NETWORKS = ("mlp", "gru")
DATA_SHEET = "data sheet"


@dataclass(frozen=True)
class Climb:
    """How an actuator is learned."""

    window_s: float = 1.0
    """Length of the windows that are predicted."""
    windows: int = 40
    """Windows to learn from at most; a third as many are held out."""
    laws: tuple[Literal["m1", "m2", "m3", "m4"], ...] = ("m1", "m4")
    """Friction laws to try: m1 Coulomb and viscous, m2 with Stribeck, m3 with load, m4 with both."""
    gears: bool = False
    """Whether gears with play and gears that give are tried, too, with the first of the laws."""
    iterations: int = 15
    """Steps of the search for a rung's parameters."""
    networks: bool = True
    """Whether networks are tried above the rungs that physics names."""
    steps: int = 200
    """Training steps of each network through the simulation; five times as many on torque alone, where one costs little."""
    margin: float = 0.1
    """By what share a rung must be better than one below it to be taken."""

    def __post_init__(self) -> None:
        if not self.window_s > 0 or min(self.windows, self.iterations, self.steps) < 1 or not self.laws:
            raise GaplessError(
                "climbing needs a window above 0 s, a friction law, and windows, iterations and steps ≥ 1."
            )


@dataclass(frozen=True)
class Fit:
    """One rung as fitted."""

    rung: Rung
    law: str
    params: Params
    errors: Float[np.ndarray, " window"]
    """Of each held-out window: RMS of position, or of torque where that is measured."""
    network: NetworkActuator | None = None
    below: str = ""
    """What the table calls the rung that a network corrects."""


def rungs_of(recipe: Climb, command: Command) -> dict[str, tuple[Rung, str]]:
    """The rungs that physics names, from the lowest on, by what the table calls them, and each one's friction law."""
    named = {rung.name: (rung, recipe.laws[0]) for rung in ladder(recipe.laws[0], command)[:2]}
    named |= {f"friction {law}": (ladder(law, command)[2], law) for law in recipe.laws}
    behind = geared(recipe.laws[0], command) if recipe.gears else ()
    return named | {rung.name: (rung, recipe.laws[0]) for rung in behind}


def rung_by_rung(
    driven: Driven, recipe: Climb, sheet: Fit, one: Callable[[Rung, str, Callable[[float], None]], Fit],
    network: Callable[[str, str, Fit], Fit], tell: Tell,
) -> dict[str, Fit]:  # fmt: skip
    """Every rung, from the lowest on: `one` fits those that physics names, `network` those on the best of them."""
    rungs, fits = rungs_of(recipe, driven.told), {DATA_SHEET: sheet}
    count = 1 + len(rungs) + len(NETWORKS) * recipe.networks

    def telling(name: str) -> Callable[[float], None]:
        done = len(fits)
        tell(name, done / count)
        return lambda share: tell(name, (done + share) / count)

    for name, (rung, law) in rungs.items():
        fits[name] = one(rung, law, telling(name))
    base = best(fits, recipe.margin).rung
    for name in NETWORKS if recipe.networks else ():
        telling(name)
        fits[name] = network(name, base, fits[base])
    return fits


def data_sheet(driven: Driven) -> Rung:
    """The actuator as the model file has it, with the joint's own friction."""
    lowest = ladder("m1", driven.told)[0]
    return Rung(DATA_SHEET, lowest.actuator, LAWS["m1"], (), driven.told)


def best(fits: Mapping[str, Fit], margin: float) -> Choice:
    """The rung to take; the data sheet's is only shown."""
    return choose({name: f.errors for name, f in fits.items() if name != DATA_SHEET}, margin)


def form_of(name: str, command: Command, period_s: float) -> NetworkForm:
    """A small network on the last few periods that corrects the rung below."""
    lags, relative = tuple(round(k * period_s, 9) for k in range(4)), command == "position"
    if name == "gru":
        return NetworkForm(lags[:2], period_s, (16, 1), 8, adds=True, relative=relative)
    return NetworkForm(lags, period_s, (16, 1), adds=True, relative=relative)


def looked_at(windows: Windows) -> np.ndarray:
    """Which windows to learn from only decide when a network's training stops: every fifth, at least one."""
    every = min(5, len(windows))
    return np.arange(len(windows)) % every == every - 1
