"""Does each recipe do what it was invented for? Each against plain PPO with uniform randomization, on that problem, in one run.

.venv/bin/python benchmarks/recipes.py --seeds 5

- memory beats no memory where what matters is not measured, and an asymmetric critic reaches the same return in 70 % of the
  steps (`recipes_teachers.py`, balance); students recover 95 % of a teacher that is told the params, where the blind have at most
  80 % (home);
- off-policy learning needs a fifth of PPO's steps, gradients through the physics half of them (`recipes_off_policy.py`);
- planning on the calibrated simulator swings up without training (`recipes_planning.py`);
- flows solve a task with two modes, which a Gaussian averages away (`recipes_flow.py`);
- SAPG beside PPO in 1,024 worlds, without a bar (`recipes_sapg.py`);
- a few episodes of a robot make a better policy for it: strategy optimization in at most ten, ES-MAML in at most five, NoRML
  without reward (`recipes_adapt.py`);
- students recover 95 % of a teacher that is told a load which changes in the middle of the episode, where the blind have at most
  80 % (`recipes_payload.py`).

Every part can be run alone: --parts flow, or its own file where that has one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tyro

import recipes_adapt
import recipes_flow
import recipes_off_policy
import recipes_payload
import recipes_planning
import recipes_sapg
import recipes_teachers
from frame import Benchmark, Cells, finish, start

Row = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """One problem with the recipes that are tried on it."""

    settings: list[Row]
    """All but the seed of each cell."""
    cell: Callable[[Row], Row]
    figures: Callable[[list[Row]], Row]


PARTS = {
    "teachers": Part(
        [{"problem": p, "method": m} for p, methods in recipes_teachers.METHODS.items() for m in methods],
        recipes_teachers.cell,
        recipes_teachers.figures,
    ),
    "off_policy": Part(
        [{"method": m} for m in recipes_off_policy.METHODS], recipes_off_policy.cell, recipes_off_policy.figures
    ),
    "planning": Part(
        [{"simulator": s, "episodes": 4} for s in ("traced", "mujoco")],
        recipes_planning.swing_up_untrained,
        recipes_planning.summary,
    ),
    "flow": Part([{"method": m} for m in recipes_flow.METHODS], recipes_flow.cell, recipes_flow.figures),
    "sapg": Part([{"method": m} for m in recipes_sapg.METHODS], recipes_sapg.cell, recipes_sapg.figures),
    "adapt": Part(
        [{"method": m} for m in ("unadapted", *recipes_adapt.METHODS)], recipes_adapt.cell, recipes_adapt.figures
    ),
    "payload": Part([{"method": m} for m in recipes_payload.METHODS], recipes_payload.cell, recipes_payload.figures),
}
BARS = recipes_teachers.BARS | recipes_off_policy.BARS | recipes_planning.BARS | recipes_adapt.BARS
BARS |= recipes_payload.BARS | {"solved_fpo++": "> best_gaussian"}
SHOWN = ("return", "best", "solved", "return_4", "identified_passed")
"""The figure of a row that says how it went, whichever it has."""


@dataclass(frozen=True)
class Recipes(Benchmark):
    """Every recipe on the problem that it was invented for."""

    seeds: int = 5
    """Trainings of each, 0 … seeds − 1."""
    parts: tuple[str, ...] = tuple(PARTS)
    """Which problems."""


def main() -> None:
    options = tyro.cli(Recipes, description=__doc__)
    seeds, parts = (1, options.parts[3:4]) if options.quick else (options.seeds, options.parts)
    figures: Row = {}
    rows: list[Row] = []
    for name in parts:
        part = PARTS[name]
        settings = [{**s, "seed": seed} for seed in range(seeds) for s in part.settings]
        found = Cells(f"recipes_{name}", options).run(part.cell, settings)
        figures |= part.figures(found) if found else {}
        rows += [_told(name, row) for row in found]
    finish("recipes", options, figures, rows, BARS)


def _told(part: str, row: Row) -> Row:
    how = next((k for k in SHOWN if k in row), "")
    who = row.get("method") or row.get("simulator")
    return {
        "problem": row.get("problem", part),
        "recipe": who,
        "seed": row["seed"],
        "what": how,
        "figure": row.get(how),
    }


if __name__ == "__main__":
    start(main)
