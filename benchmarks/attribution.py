"""Is the cause that was put in the one that comes out? 60 realities with one effect and 40 with two.

.venv/bin/python benchmarks/attribution.py

A reality here is one of our twins with every hidden number at its nominal value but one (or two). Its logs are motions of
excitation, 24 s to learn from and 18 s held out; from these alone `identify` and `attribute` name the causes. They are ranked
by their share of the nominal model's held-out error, together with numerics and with what nothing explains, by size (a cause
that hides another has a negative share); noise is no cause. `first_right`: the true cause comes first. `both_right`: the two
true causes come first and second. Families that `attribute` reports as one class, because the Fisher information of the logs
separates them nowhere, count as that class. Ranking by size and not by sign was decided after one reality of seed 0 in which
numerics hid a part of the latency, and the method was built while looking at seed 0: report another seed.

Which family is right for which effect was written down before anything was measured:
- numbers of the data sheet, by the family of their parameter: latency (and its jitter), friction (viscous, Coulomb, LuGre,
  patches on the rail), inertia (masses, centres of mass), actuation (gain, a motor that weakens as it warms), contact (the
  table under the puck, patches of it), sensing (one sensor biased, scaled, or later than the others);
- numerics: the model as MuJoCo's defaults would integrate it, at a time step of 20 ms (without the armature that only
  belongs to explicit damping: beside implicit damping it would be a weight that no robot has);
- effects without a parameter, as their own family or as unexplained: a firmware's dead band and slew limit, belt, backlash and
  cogging belong to actuation, a dragged cable to friction.
"""

import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import tyro

from attribution_realities import SENSED, reality_of
from frame import Benchmark, Cells, finish, start
from gapless.core import Block, Log, generator_for, key_for, on_one_clock, prior_belief
from gapless.engine.workspace import built_in_models
from gapless.learn import Attribute, Attribution, Excite, Identify, attribute, excite, identify
from gapless.logs import Parted
from gapless.robots.finding import REALITIES
from gapless.robots.reality import Hidden, Reality
from gapless.simulators import MujocoSimulator, load_model, read_parameters, sensing_parameters
from gapless.simulators.explicit_damping import held_in_armature

TRAINING = {"cartpole": 4, "furuta": 4, "puck": 12}
HELD_OUT = {"cartpole": 3, "furuta": 3, "puck": 9}
SECONDS = {"cartpole": 6.0, "furuta": 6.0, "puck": 2.0}
"""Episodes; the puck is soon out of reach, so that short ones say more."""
LEARN = Identify(method="least-squares", windows=32, iterations=12)
SPLIT = Attribute(windows=32, ahead=24, iterations=8, draws=1)
"""Smaller than by default, as there are many realities and nobody looks at the intervals here."""
COARSE_S = 0.02
FAMILY = {
    "latency": "latency", "jitter": "latency",
    "viscous": "friction", "coulomb": "friction", "lugre": "friction", "rail patches": "friction", "cable": "friction",
    "heavy": "inertia", "light": "inertia", "com": "inertia", "puck mass": "inertia",
    "weak": "actuation", "strong": "actuation", "warming": "actuation", "firmware": "actuation",
    "belt": "actuation", "backlash": "actuation", "cogging": "actuation",
    "floor": "contact", "smooth floor": "contact", "floor patches": "contact",
    "bias": "sensing", "scale": "sensing", "late": "sensing",
    "numerics": "numerics",
}  # fmt: skip
NO_PARAMETER = ("firmware", "belt", "backlash", "cogging", "cable")
"""Effects that may also come out as unexplained."""
ONE = {
    "cartpole": ("latency", "viscous", "heavy", "weak", "scale", "coulomb", "firmware", "late", "numerics", "jitter", "lugre",
                 "strong", "light", "warming", "com", "bias", "rail patches", "cogging", "belt", "latency", "viscous", "weak",
                 "scale", "late"),
    "furuta": ("latency", "coulomb", "light", "strong", "late", "viscous", "numerics", "firmware", "heavy", "jitter", "bias",
               "lugre", "weak", "com", "warming", "scale", "rail patches", "cable", "backlash", "latency", "coulomb", "strong",
               "heavy", "late"),
    "puck": ("floor", "latency", "heavy", "weak", "late", "coulomb", "smooth floor", "warming", "puck mass", "floor patches",
             "scale", "viscous"),
}  # fmt: skip
TWO = 40
BARS = {"first_right": "≥ 0.95", "both_right": "≥ 0.85"}


@dataclass(frozen=True)
class Causes(Benchmark):
    """Realities whose causes are known to nobody but this benchmark."""

    robots: tuple[str, ...] = ("cartpole", "furuta", "puck")
    """Which robots."""
    effects: tuple[str, ...] = ()
    """Only realities with one of these effects."""
    most: int = 10**6
    """Realities of either kind at most."""
    seed: int = 0
    """Other seeds give other strengths and other pairs."""


def main() -> None:
    options = tyro.cli(Causes, description=__doc__)
    most = 2 if options.quick else options.most
    kinds = [[s for s in kind(options.seed) if _wanted(s, options)][:most] for kind in (one_effect, two_effects)]
    settings = sorted(
        kinds[0] + kinds[1], key=lambda s: s["place"]
    )  # so that a part of the table has some of everything
    rows = Cells("attribution", options).run(cell, settings)
    right = {n: [r["right"] for r in rows if len(r["effects"].split(" + ")) == n] for n in (1, 2)}
    figures = {k: float(np.mean(right[n])) for n, k in ((1, "first_right"), (2, "both_right")) if right[n]}
    figures |= {"one_effect": len(right[1]), "two_effects": len(right[2])}
    figures["seconds_median"] = float(np.median([r["seconds"] for r in rows])) if rows else 0.0
    finish("attribution", options, figures, rows, BARS)


def _wanted(setting: dict[str, Any], options: Causes) -> bool:
    chosen = not options.effects or bool(set(options.effects) & set(setting["effects"]))
    return chosen and setting["robot"] in options.robots


def one_effect(seed: int) -> list[dict[str, Any]]:
    """Each effect alone; robots take turns, so that the first few are of every kind."""
    listed = [(robot, k, effect) for robot, effects in ONE.items() for k, effect in enumerate(effects)]
    order = sorted(listed, key=lambda item: (item[1], item[0]))
    found = [{"robot": r, "effects": [e], "seed": seed * 1000 + k} for k, (r, _, e) in enumerate(order)]
    return [{**setting, "place": k / len(found)} for k, setting in enumerate(found)]


def two_effects(seed: int) -> list[dict[str, Any]]:
    """Pairs of effects of different families that have a parameter, or are numerics."""
    rng, found = generator_for(seed, "pairs"), []
    for k in range(TWO):
        robot = ("cartpole", "furuta", "cartpole", "furuta", "puck")[k % 5]
        by_family: dict[str, list[str]] = {}
        for effect in sorted(set(ONE[robot]) - set(NO_PARAMETER)):
            by_family.setdefault(FAMILY[effect], []).append(effect)
        families = rng.permutation(sorted(by_family))[:2]
        pair = [str(rng.choice(by_family[f])) for f in families]
        found.append({"robot": robot, "effects": pair, "seed": seed * 1000 + 100 + k, "place": k / TWO})
    return found


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """Logs of one reality, and the causes that are read off them."""
    robot, effects = setting["robot"], setting["effects"]
    began = time.perf_counter()
    simulator = simulator_of(robot, "numerics" in effects)
    logs = record(reality_of(robot, effects, setting["seed"]), robot)
    parts = Parted(logs[: TRAINING[robot]], logs[TRAINING[robot] :])
    recorded = time.perf_counter()
    belief = identify(simulator, prior_belief(simulator.parameters), *parts, LEARN).belief
    learned = time.perf_counter()
    found = attribute(simulator, belief, parts, recipe=SPLIT, seed=setting["seed"])
    done = time.perf_counter()
    ranks = ranking(found)
    return {
        "robot": robot, "effects": " + ".join(effects), "right": is_right(effects, [name for name, _ in ranks]),
        "found": ", ".join(f"{name} {share:.2f}" for name, share in ranks[:3]), "noise": found.noise.value,
        "departed": ", ".join(f"{n} {v:.3g}" for n, v in found.departed.items()), "gap": found.gap,
        "seconds": done - began, "recording": recorded - began, "identify": learned - recorded,
        "attribute": done - learned,
    }  # fmt: skip


def ranking(found: Attribution) -> list[tuple[str, float]]:
    """Causes, numerics and what nothing explains, the largest share first; one that hides others has a negative share."""
    shares = [(c.name, c.error.value) for c in found.causes]
    shares += [("numerics", found.numerics.value), ("unexplained", found.unexplained.value)]
    return sorted(shares, key=lambda pair: -abs(pair[1]))


def is_right(effects: list[str], ranks: list[str]) -> bool:
    """Whether as many of the first ranks as there are effects name them all; one class may name both."""
    allowed = [{FAMILY[e], "unexplained"} if e in NO_PARAMETER else {FAMILY[e]} for e in effects]
    first = [set(name.split(" or ")) for name in ranks[: len(effects)]]
    if len(effects) == 1 or all(a & first[0] for a in allowed):
        return all(a & first[0] for a in allowed)
    return any(a & first[0] and b & first[1] for a, b in (allowed, allowed[::-1]))


def simulator_of(robot: str, coarse: bool) -> MujocoSimulator:
    """The nominal model with everything that may be doubted; coarse as MuJoCo's defaults would have it."""
    path = built_in_models()[robot]
    model, interface = load_model(path), REALITIES[robot].interface
    if coarse:
        model.dof_armature[:] -= held_in_armature(model)
        model.opt.timestep = COARSE_S
        model.opt.disableflags &= ~mujoco.mjtDisableBit.mjDSBL_EULERDAMP.value
    return MujocoSimulator(model, interface, read_parameters(path.with_suffix(".toml")) + sensing_parameters(interface))


@cache
def motions(robot: str) -> tuple[Block, ...]:
    """The motions of excitation, the same for every reality of a robot."""
    simulator = simulator_of(robot, coarse=False)
    belief, limits = prior_belief(simulator.parameters), REALITIES[robot].interface
    keys = [key_for(0, "attribution", robot, k) for k in range(TRAINING[robot] + HELD_OUT[robot])]
    return tuple(excite(simulator, belief, limits, SECONDS[robot], Excite(candidates=8), key) for key in keys)


def record(reality: Reality, robot: str) -> list[Log]:
    """One log for every motion, as the judge takes its own."""
    made = motions(robot)
    arrays = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(eqx.filter(m, eqx.is_array) for m in made))
    keys = jax.random.split(key_for(reality.seed, "attribution"), len(made))
    run = _recorder(robot, reality.effects)
    sent, seen = run(jax.tree.map(lambda v: jnp.asarray(v, jnp.float32), reality.hidden), arrays, keys)
    clock = np.arange(round(SECONDS[robot] / reality.interface.period_s)) * reality.interface.period_s
    return [
        on_one_clock(reality.interface, {n: v[k] for n, v in sent.items()}, {n: v[k] for n, v in seen.items()}, clock)
        for k in range(len(made))
    ]


@cache
def _recorder(robot: str, effects: frozenset[str]) -> Any:
    """Hidden numbers, motions and keys → commands and measurements of an episode each; compiled once."""
    reality: Any = SENSED[robot](0)
    reality.effects = effects
    static, period_s = eqx.filter(motions(robot)[0], eqx.is_array, inverse=True), reality.interface.period_s
    ticks, rows = round(period_s / reality.tick_s), round(SECONDS[robot] / period_s)

    def episode(hidden: Hidden, arrays: Any, key: Any) -> Any:
        policy, keys = eqx.combine(arrays, static), jax.random.split(key, (rows, 2))

        def period(held: Any, pair: Any) -> Any:
            state, memory = held
            seen = reality.measure(hidden, state, pair[0])
            memory, command = policy.step({}, memory, seen, period_s, pair[1])
            state = reality.send(hidden, state, command, pair[1])
            state = jax.lax.fori_loop(0, ticks, lambda _, s: reality.tick(hidden, s), state)
            return (state, memory), (command, seen)

        return jax.lax.scan(period, (reality.start(hidden, key), policy.init(key)), keys)[1]

    return jax.jit(jax.vmap(episode, (None, 0, 0)))


if __name__ == "__main__":
    start(main)
