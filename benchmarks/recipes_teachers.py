"""Do students recover what their privileged teachers know, does memory pay, and does an asymmetric critic learn sooner?

.venv/bin/python benchmarks/recipes_teachers.py --seeds 5

`home`, the problem of teachers and of rapid motor adaptation: a policy must know its machine to act well, and can only find it
out by acting. A cart must go from the right to the middle and stay. Of three motors one is wired backwards, gains differ by a
factor of three; damping, pole and latency are in doubt. Whoever does not remember cannot tell the wiring; the last command is
not observed, or a policy could remember by it. Returns are shares: (J − J of no volts) / (J of the teacher − J of no volts), the
teacher being the policy that is told and that the student was taught by. The blind policy has the teacher's budget.

`balance`, the problem of memory and of asymmetric critics (Pinto et al. 2018): what matters is not measured. A pole must stay up
for two seconds, rates are not observed and one frame is, under wide uniform ranges of gain, masses, damping and latency. The same
PPO with a gated memory and without, and with a critic that sees state and params and one that sees what the policy sees.
`asymmetric_steps`: steps to the return that the symmetric one had best, as a share of the steps that it took there itself.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import tyro
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from frame import Benchmark, Cells, finish, start
from gapless import robots
from gapless.core import Belief, Feature, Log, Observation, Params, Signals, Uniform, Verdict, key_for
from gapless.nets.policy import NetworkPolicy
from gapless.robots.cartpole import INTERFACE
from gapless.simulators import JaxCartpole, read_parameters
from gapless.tasks import SwingUp
from gapless.train import Distil, Learning, Look, Method, Place, Ppo, Rma
from statistic import paired

NOISE = {"cart.position.noise": 2e-4, "pole.angle.noise": 1.5e-3}
RANGES = {
    "motor.gain": (0.75, 2.25), "pole.mass": (0.075, 0.3), "slider.damping": (2.0, 8.0), "command.latency": (0.0, 0.03),
}  # fmt: skip
BACKWARDS = 1 / 3
WIDTH_M, BEGINS_M, RAIL_M = 0.1, 0.3, 0.42
LEAN_RAD = 0.6
SMALL: dict[str, Any] = {"worlds": 64, "steps": 32}
BUDGET = 64 * 32 * 120
LOOKS = 12
TOLD = Ppo(**SMALL, budget=BUDGET, epochs=4, noise=0.5)
METHODS: dict[str, dict[str, Method]] = {
    "home": {
        "blind": replace(TOLD, budget=2 * BUDGET),
        # The student drives from the first: the teacher's commands are not among what it observes, its own it remembers.
        "distil": Distil(**SMALL, budget=4 * BUDGET, teacher=TOLD, hidden=(32, 1), replay=2, leading=0.0),
        "rma": Rma(**SMALL, budget=4 * BUDGET, base=TOLD),
    },
    "balance": {
        "memoryless": TOLD,
        "memory": replace(TOLD, network="gru"),
        "symmetric": replace(TOLD, network="gru", asymmetric=False),
    },
}
BARS = {
    "distil_share": "≥ 0.95", "rma_share": "≥ 0.95", "blind_share": "≤ 0.80", "memory_gain_low": "> 0",
    "asymmetric_steps": "≤ 0.70",
}  # fmt: skip


@dataclass(frozen=True)
class RecipesTeachers(Benchmark):
    """Teachers, memory and asymmetric critics on the compiled cart-pole."""

    seeds: int = 5
    """Trainings of each method."""
    problems: tuple[str, ...] = ("home", "balance")
    """Which problems."""


class Home(SwingUp):
    """Reward: how near the middle the cart is, a little less for volts."""

    name = "home"
    seconds = 3.0
    observe = Observation(
        (
            Feature("cart.position"), Feature("cart.position", "rate"), Feature("pole.angle", "sin"),
            Feature("pole.angle", "angle_rate"),
        ),
        commands=0,
    )  # fmt: skip

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        """At rest, on the right."""
        keys = jax.random.split(key)
        at = BEGINS_M + 0.05 * jax.random.uniform(keys[0], (n, 1), minval=-1.0)
        return {"slider.position": at, "hinge.position": 0.05 * jax.random.normal(keys[1], (n, 1))}

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        return self.start(key, n)

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        off, volts = after["cart.position"][..., 0], command["motor"][..., 0]
        return 0.7 * jnp.exp(-((off / WIDTH_M) ** 2)) + 0.3 * (1 - jnp.abs(off) / RAIL_M) - 0.02 * (volts / 10) ** 2

    def judge(self, log: Log) -> Verdict:
        off = float(abs(log.measurements["cart.position"][-1, 0]))
        return Verdict(off < WIDTH_M, 1 - off / WIDTH_M, f"it ended {off:.2f} m off")


class Balance(SwingUp):
    """Reward: the pole is up and the cart near the middle."""

    name = "balance"
    seconds = 2.0
    observe = Observation((Feature("cart.position"), Feature("pole.angle", "sin")), commands=1)

    def start(self, key: PRNGKeyArray, n: int) -> Signals:
        """Upright, nearly at rest."""
        keys = jax.random.split(key, 3)
        return {
            "slider.position": 0.05 * jax.random.normal(keys[0], (n, 1)),
            "hinge.position": jnp.pi + 0.1 * jax.random.normal(keys[1], (n, 1)),
            "hinge.velocity": 0.3 * jax.random.normal(keys[2], (n, 1)),
        }

    def explore(self, key: PRNGKeyArray, n: int) -> Signals:
        return self.start(key, n)

    def reward(self, before: Signals, command: Signals, after: Signals) -> Float[Array, " *world"]:
        return 1 - 0.5 * (after["cart.position"][..., 0] / RAIL_M) ** 2 - 0.02 * (command["motor"][..., 0] / 10) ** 2

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        lean = jnp.cos(measurement["pole.angle"][..., 0]) > -np.cos(LEAN_RAD)
        return lean | super().finished(measurement)

    def judge(self, log: Log) -> Verdict:
        passed = log.seconds > self.seconds - 2 * log.interface.period_s
        return Verdict(passed, log.seconds / self.seconds - 1, f"it was up for {log.seconds:.1f} s")


class Wired(Belief):
    """Uniform ranges, with a share of motors that pull backwards."""

    names: tuple[str, ...] = eqx.field(static=True)
    ranges: Uniform

    def sample(self, key: PRNGKeyArray, n: int) -> Params:
        keys = jax.random.split(key)
        drawn = self.ranges.sample(keys[0], n)
        sign = jnp.where(jax.random.bernoulli(keys[1], BACKWARDS, (n,)), -1.0, 1.0)
        return drawn | {"motor.gain": sign * drawn["motor.gain"]}

    def log_prob(self, params: Params) -> Float[Array, " n"]:
        backwards = jnp.where(params["motor.gain"] < 0, jnp.log(BACKWARDS), jnp.log(1 - BACKWARDS))
        return backwards + self.ranges.log_prob(params | {"motor.gain": jnp.abs(params["motor.gain"])})

    def mean(self) -> Params:
        mean = self.ranges.mean()
        return mean | {"motor.gain": (1 - 2 * BACKWARDS) * mean["motor.gain"]}

    def deviation(self) -> Params:
        spread, mean = self.ranges.deviation(), self.ranges.mean()["motor.gain"]
        square = spread["motor.gain"] ** 2 + 4 * BACKWARDS * (1 - BACKWARDS) * mean**2
        return spread | {"motor.gain": jnp.sqrt(square)}

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "wired", **self.ranges.to_dict()}


def main() -> None:
    options = tyro.cli(RecipesTeachers, description=__doc__)
    seeds = 1 if options.quick else options.seeds
    settings = [
        {"seed": s, "problem": p, "method": m, "quick": options.quick}
        for s in range(seeds)
        for p in options.problems
        for m in METHODS[p]
    ]
    rows = Cells("recipes_teachers", options).run(cell, settings)
    finish("recipes_teachers", options, figures(rows), rows, BARS)


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One training: what it was worth at each look, and what its teacher and what no volts are worth."""
    place, method = place_of(setting["problem"]), METHODS[setting["problem"]][setting["method"]]
    method = replace(method, budget=method.budget // (4 if setting.get("quick") else 1))
    look = Look(*place[:3], 128, key_for(setting["seed"], "look"))
    learning = method.learning(place, key_for(setting["seed"], "train", setting["method"]))
    times, values = method.budget // (method.per_iteration * LOOKS), []
    nothing = look.at(_still(learning.policy))[0]
    for k in range(LOOKS):
        learning.iterate(key_for(setting["seed"], "iterate", k), times)
        values.append(look.at(learning.policy)[0] if learning.ready else nothing)
    found = {"seed": setting["seed"], "problem": setting["problem"], "method": setting["method"], "return": values[-1]}
    teacher = look.at(_teacher(learning))[0]
    return found | {"teacher": teacher, "nothing": nothing, "steps": times * method.per_iteration, "curve": values}


def place_of(problem: str) -> Place:
    """Simulator, belief and task."""
    listed = read_parameters(Path(robots.__file__).parent / "models" / "cartpole.toml")
    simulator = JaxCartpole(INTERFACE, tuple(replace(p, nominal=NOISE.get(p.name, p.nominal)) for p in listed), 2)
    low, high = (np.array([r[k] for r in RANGES.values()]) for k in (0, 1))
    wide = Uniform(tuple(RANGES), low, high)
    return Place(simulator, Wired(wide.names, wide), Home()) if problem == "home" else Place(simulator, wide, Balance())


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over seeds."""
    return _recovered([r for r in rows if r["problem"] == "home"]) | _gained(
        [r for r in rows if r["problem"] == "balance"]
    )


def _recovered(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Shares of the teacher; a seed's blind policy is compared with the teacher of its distillation."""
    teachers = {r["seed"]: r["teacher"] for r in rows if r["method"] == "distil"}
    shares: dict[str, list[float]] = {m: [] for m in METHODS["home"]}
    for r in rows:
        teacher = teachers.get(r["seed"]) if r["method"] == "blind" else r["teacher"]
        if teacher is not None:
            shares[r["method"]].append((r["return"] - r["nothing"]) / (teacher - r["nothing"]))
    found = {f"{m}_share": float(np.mean(v)) for m, v in shares.items() if v}
    return found | {f"{m}_share_worst": min(v) for m, v in shares.items() if v and m != "blind"}


def _gained(rows: list[dict[str, Any]]) -> dict[str, float]:
    """What memory gains in return, and how much sooner the asymmetric critic gets there, seed by seed."""
    of = {(r["method"], r["seed"]): r for r in rows}
    seeds = sorted({r["seed"] for r in rows if all((m, r["seed"]) in of for m in METHODS["balance"])})
    if not seeds:
        return {}
    runs = {m: [of[m, s] for s in seeds] for m in METHODS["balance"]}
    values = {m: np.array([r["return"] for r in mine]) for m, mine in runs.items()}
    gain = paired(values["memory"], values["memoryless"], ["balance"] * len(seeds))
    sooner = [_sooner(*both) for both in zip(runs["memory"], runs["symmetric"], strict=True)]
    found = {f"{m}_return": float(v.mean()) for m, v in values.items()}
    found |= dict(zip(("memory_gain", "memory_gain_low", "memory_gain_high"), gain, strict=True))
    return found | {"asymmetric_steps": float(np.mean(sooner)), "asymmetric_steps_worst": max(sooner)}


def _sooner(asymmetric: dict[str, Any], symmetric: dict[str, Any]) -> float:
    """Steps to the symmetric one's best return, as a share of its own; where it was never reached, of one look more."""
    goal = max(symmetric["curve"])
    own = symmetric["curve"].index(goal) + 1
    return next((k + 1 for k, v in enumerate(asymmetric["curve"]) if v >= goal), LOOKS + 1) / own


def _still(policy: NetworkPolicy) -> NetworkPolicy:
    """The same policy sending no volts."""
    return eqx.tree_at(
        lambda p: p.network, policy, jax.tree.map(lambda x: 0 * x if eqx.is_array(x) else x, policy.network)
    )


def _teacher(learning: Learning) -> NetworkPolicy:
    return getattr(learning, "before", learning.policy)


if __name__ == "__main__":
    start(main)
