"""Do students recover what their teacher knows of a load that changes in the middle of the episode?

.venv/bin/python benchmarks/recipes_payload.py --seeds 5

An arm lifts its tip to a target and holds it there, with a load on its hook that is another one from some moment on. The
teacher is told the load as it is now. Students by distillation and by rapid motor adaptation are told nothing, nor is the blind
policy: PPO over the same draws, with the budget that both phases of a student have together. Shares are (J − J0) / (J of the
teacher − J0), J0 being the better of no volts and random ones; the teacher is the one that the student was taught by, for the
blind that of the distillation.

It is `hold-load` with three differences, for what a policy without memory can do about a load: hold stiffly. Where one load takes
more torque than another, commands that follow from angles and rates alone give it only as far off the target as torque /
stiffness, and how late commands come limits the stiffness. So they come 30 to 50 ms late, and the target is half as wide,
15 mm: the best stiffness leaves the tip off by about that. The last commands are not observed, or a policy could sum up by them
what it sent, which is a memory. Loads are 0.05 to 0.55 kg, before the change and after it.

The arm is a compiled one (`jax_arm.py`), whose load `simulators/changing.py` changes as it does any simulator's: in MuJoCo the
same training takes twenty times as long.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import tyro
from jaxtyping import Array, Float

from frame import Benchmark, Cells, finish, start
from gapless import robots
from gapless.core import Block, Change, Feature, Observation, Signals, Uniform, key_for
from gapless.robots.arm import INTERFACE
from gapless.simulators import Rollout, read_parameters
from gapless.tasks import HoldLoad
from gapless.tasks.hold_load import KINDS, tip_off
from gapless.train import Distil, Method, Place, Ppo, Rma
from gapless.train.phases import Phases
from jax_arm import JaxArm
from judge import Blind

LOADS_KG, LATE_S = (0.05, 0.55), (0.03, 0.05)
WIDTH_M = 0.015
NOISE = {"shoulder.angle.noise": 5e-4, "elbow.angle.noise": 5e-4}
SUBSTEPS, EPISODES = 5, 256
SMALL: dict[str, Any] = {"worlds": 64, "steps": 32}
BUDGET = 64 * 32 * 240
TOLD = Ppo(**SMALL, budget=BUDGET, epochs=4, noise=0.5)
METHODS: dict[str, Method] = {
    "blind": replace(TOLD, budget=2 * BUDGET),
    "distil": Distil(**SMALL, budget=2 * BUDGET, teacher=TOLD, hidden=(32, 1), replay=2, leading=0.0),
    "rma": Rma(**SMALL, budget=2 * BUDGET, base=TOLD),
}
BARS = {"payload_distil_share": "≥ 0.95", "payload_rma_share": "≥ 0.95", "payload_blind_share": "≤ 0.80"}


@dataclass(frozen=True)
class RecipesPayload(Benchmark):
    """Students of one who is told the load."""

    seeds: int = 5
    """Trainings of each method."""


class HoldAny(HoldLoad):
    """Reward: as of holding a load, with a target that is half as wide. Any load is hung on, and once another one."""

    name = "hold-any"
    changes = (Change("payload.mass", *LOADS_KG, 1.5, 3.5),)
    observe = Observation(tuple(Feature(c.name, kind) for c in HoldLoad.measurements for kind in KINDS), commands=0)

    def terms(self, before: Signals, command: Signals, after: Signals) -> dict[str, Float[Array, " *world"]]:
        on_target = 0.8 * jnp.exp(-((tip_off(after) / WIDTH_M) ** 2))
        return super().terms(before, command, after) | {"on target": on_target}


def main() -> None:
    options = tyro.cli(RecipesPayload, description=__doc__)
    seeds = 1 if options.quick else options.seeds
    settings = [{"seed": s, "method": m, "quick": options.quick} for s in range(seeds) for m in METHODS]
    rows = Cells("recipes_payload", options).run(cell, settings)
    finish("recipes_payload", options, figures(rows), rows, BARS)


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One training: what it, its teacher, and an arm without a policy are worth on the same draws."""
    place, seed, method = place_of(), setting["seed"], METHODS[setting["method"]]
    method = replace(method, budget=method.budget // (4 if setting.get("quick") else 1))
    learning = method.learning(place, key_for(seed, "train", setting["method"]))
    learning.iterate(key_for(seed, "iterate"), method.budget // method.per_iteration)
    rollout, draws = Rollout(place.simulator.with_worlds(EPISODES), place.task), key_for(seed, "look")
    params = place.belief.sample(key_for(seed, "loads"), EPISODES)

    def worth(policy: Block) -> float:
        return float(rollout.run(policy, params, draws).returns.mean())

    teacher = worth(learning.before) if isinstance(learning, Phases) else None
    found = {"seed": seed, "method": setting["method"], "return": worth(learning.policy), "teacher": teacher}
    return found | {"nothing": max(worth(Blind(INTERFACE, loud)) for loud in (0.0, 1.0))}


def place_of() -> Place:
    """The arm of the data sheet, with any load and late commands."""
    listed = read_parameters(Path(robots.__file__).parent / "models" / "arm.toml")
    simulator = JaxArm(INTERFACE, tuple(replace(p, nominal=NOISE.get(p.name, p.nominal)) for p in listed), SUBSTEPS)
    low, high = np.array([LOADS_KG, LATE_S]).T
    return Place(simulator, Uniform(("payload.mass", "command.latency"), low, high), HoldAny())


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of the teacher, means over seeds and the worst of them."""
    teachers = {r["seed"]: r["teacher"] for r in rows if r["method"] == "distil"}
    shares: dict[str, list[float]] = {m: [] for m in METHODS}
    for r in rows:
        teacher = teachers.get(r["seed"]) if r["teacher"] is None else r["teacher"]
        if teacher is not None:
            shares[r["method"]].append((r["return"] - r["nothing"]) / (teacher - r["nothing"]))
    found = {f"payload_{m}_share": float(np.mean(v)) for m, v in shares.items() if v}
    return found | {f"payload_{m}_share_worst": min(v) for m, v in shares.items() if v and m != "blind"}


if __name__ == "__main__":
    start(main)
