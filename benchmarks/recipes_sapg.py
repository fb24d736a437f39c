"""Many worlds for one policy or for a leader with followers: SAPG beside PPO at equal control periods.

The cart-pole swings its pole up in 1,024 worlds at once, with mass, motor and damping in doubt. Both ways have the same worlds,
steps, passes, pieces and networks. What counts is the policy as it would be deployed, without exploration: SAPG's leader, PPO's
centre. Returns are means over draws of the belief that are the same for both, after each quarter of the budget.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from gapless import robots
from gapless.core import Uniform
from gapless.robots.cartpole import INTERFACE
from gapless.simulators import JaxCartpole, read_parameters
from gapless.tasks import SwingUp
from gapless.train import Look, Method, Place, Ppo, Sapg

QUARTER, EPISODES = 12, 128
COMMON: dict[str, Any] = {"worlds": 1024, "steps": 16, "epochs": 4, "minibatches": 8, "hidden": (32, 2), "noise": 0.5}
COMMON["budget"] = 4 * QUARTER * COMMON["worlds"] * COMMON["steps"]
METHODS: dict[str, Method] = {"ppo": Ppo(**COMMON), "sapg": Sapg(**COMMON)}
DOUBT = Uniform(("pole.mass", "motor.gain", "slider.damping"), np.array([0.1, 1.2, 2.0]), np.array([0.22, 1.8, 8.0]))


def place() -> Place:
    """The cart-pole in two substeps per period, which is enough to compare and half as dear as five."""
    parameters = read_parameters(Path(robots.__file__).parent / "models/cartpole.toml")
    return Place(JaxCartpole(INTERFACE, parameters, 2), DOUBT, SwingUp())


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One training: the return after each quarter of the budget, and the share of episodes that pass in the end."""
    method = replace(METHODS[setting["method"]], **setting.get("with", {}))
    where, keys = place(), jax.random.split(jax.random.key(setting["seed"]), 6)
    learning = method.learning(where, keys[0])
    look = Look(where.simulator, where.belief, where.task, EPISODES, keys[1])
    found, passed = [], 0.0
    for key in keys[2:]:
        learning.iterate(key, QUARTER)
        value, passed = look.at(learning.policy)
        found.append(value)
    return {**setting, **{f"return_{k + 1}": v for k, v in enumerate(found)}, "passed": passed}


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over seeds."""
    names = [f"return_{k}" for k in range(1, 5)] + ["passed"]
    methods = dict.fromkeys(r["method"] for r in rows)
    return {f"{n}_{m}": float(np.mean([r[n] for r in rows if r["method"] == m])) for m in methods for n in names}
