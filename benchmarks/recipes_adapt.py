"""Do a few episodes of a robot make a better policy for it? Ways of adapting against the policy that nobody adapts.

.venv/bin/python benchmarks/recipes_adapt.py --seeds 5

The problem is `home` of `recipes_teachers.py`: a cart must go to the middle and stay, of three motors one is wired backwards,
gains differ by a factor of three, damping, pole and latency are in doubt, and nobody without a memory can tell one machine
from another. Robots are draws from that belief which no adapter sees: it is sent the logs of its tries, and nothing else.

Unadapted is PPO over the belief with the budget of the blind policy there. `…_gain` is the mean return of the adapted policy less
that of the unadapted one, over robots and seeds, on the same robots and starts; `…_gain_low` is the lower end of its 95 %
interval, drawn anew over robots within each seed. `…_episodes` are the most that any robot was asked for.
"""

from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
import tyro

from frame import Benchmark, Cells, finish, start
from gapless.core import Log, Params, Signals, key_for
from gapless.nets.seeing import SeeingPolicy
from gapless.simulators import Rollout, logs_of
from gapless.train import Place, Train, train
from gapless.train.adapting import ADAPTERS, Adapter, EsMaml, Evolution, Gradients, Maml, Means, Norml
from recipes_teachers import BUDGET, TOLD, place_of
from statistic import bootstrap

UNADAPTED = Train(replace(TOLD, budget=2 * BUDGET), patience=99)
UNIVERSAL = Train(replace(TOLD, budget=4 * BUDGET), patience=99)
"""How what is told the params is trained, with what both phases of a student's training take together."""
SMALL = replace(UNADAPTED, method=replace(TOLD, budget=2 * BUDGET, hidden=(16, 1)))
"""The unadapted policy with fewer weights, from which evolution begins."""
HIDDEN = (32, 1)
"""Of policies that gradients change, which begin untrained: one that goes forwards always is where they would stay."""
METHODS: dict[str, Adapter] = {
    "es-maml": EsMaml(outer=Evolution(pairs=64, iterations=60)),
    "norml": Norml(hidden=HIDDEN, outer=Gradients(tasks=48, iterations=320, guided=0.4)),
    "maml": Maml(hidden=HIDDEN, outer=Gradients(tasks=48, iterations=600, inner_rate=10.0)),
} | {word: ADAPTERS[word]() for word in ("strategy-bo", "strategy-cma") if word in ADAPTERS}  # fmt: skip
ROBOTS, QUICK_ROBOTS = 24, 6
STARTS = 16
"""Episodes by which a policy is judged on each robot."""
BARS = {
    "strategy-bo_gain_low": "> 0", "strategy-cma_gain_low": "> 0", "es-maml_gain_low": "> 0", "norml_gain_low": "> 0",
    "strategy-bo_episodes": "≤ 10", "strategy-cma_episodes": "≤ 10", "es-maml_episodes": "≤ 5",
}  # fmt: skip


@dataclass(frozen=True)
class RecipesAdapt(Benchmark):
    """Ways of adapting on hidden cart-poles."""

    seeds: int = 5
    """Preparations of each method, and draws of the robots."""
    methods: tuple[str, ...] = ("unadapted", *METHODS)
    """Which methods."""


class HiddenRobot:
    """One draw of the params. Its episodes are all that leaves it; the benchmark alone judges by others."""

    def __init__(self, place: Place, params: Params) -> None:
        self._params, self._task = params, place.task
        self._one, self._many = (Rollout(place.simulator.with_worlds(n), place.task) for n in (1, STARTS))

    def episode(self, policy: SeeingPolicy, key: Any) -> Log:
        """What happened once."""
        return logs_of(self._one.run(policy, self._worlds(1), key), self._one.simulator)[0]

    def worth(self, policy: SeeingPolicy, key: Any) -> float:
        """The mean return over many episodes."""
        return float(self._many.run(policy, self._worlds(STARTS), key).returns.mean())

    def move_to(self, params: Params) -> None:
        """Another robot, for which nothing has to be compiled."""
        self._params = params

    def _worlds(self, count: int) -> Signals:
        return {name: np.full(count, float(v)) for name, v in self._params.items()}


def main() -> None:
    options = tyro.cli(RecipesAdapt, description=__doc__)
    seeds = 1 if options.quick else options.seeds
    settings = [{"seed": s, "method": m, "quick": options.quick} for s in range(seeds) for m in options.methods]
    rows = Cells("recipes_adapt", options).run(cell, settings)
    shown = [{k: v for k, v in r.items() if k != "returns"} for r in rows]
    finish("recipes_adapt", options, figures(rows), shown, BARS)


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One method prepared once, and what it was worth on each of the seed's robots."""
    place, seed, method = place_of("home"), setting["seed"], setting["method"]
    count = QUICK_ROBOTS if setting.get("quick") else ROBOTS
    drawn = place.belief.sample(key_for(seed, "hidden robots"), count)
    robot = HiddenRobot(place, {})
    key = key_for(seed, "prepared", method)
    if method == "unadapted":
        policy = train(place.simulator, place.belief, place.task, UNADAPTED, key).policy
        adapted = [(policy, 0)] * count
    else:
        recipe = SMALL if method == "es-maml" else UNIVERSAL
        adapter, means = METHODS[method], Means(recipe, recipe, key)
        prepared, adapted = adapter.prepared(place, means), []
        for k in range(count):
            robot.move_to({name: v[k] for name, v in drawn.items()})
            adapted.append(_adapted(adapter, prepared, place, replace(means, key=jax.random.fold_in(key, k)), robot))
    returns = []
    for k, (policy, _) in enumerate(adapted):
        robot.move_to({name: v[k] for name, v in drawn.items()})
        returns.append(robot.worth(policy, key_for(seed, "judge", k)))
    found = {"seed": seed, "method": method, "return": float(np.mean(returns)), "returns": returns}
    return found | {"worst": min(returns), "episodes": max(n for _, n in adapted)}


def _adapted(
    adapter: Adapter, prepared: SeeingPolicy, place: Place, means: Means, robot: HiddenRobot
) -> tuple[SeeingPolicy, int]:
    """The policy that an adapter keeps for one robot, and how many episodes it asked for."""
    tries, episodes = adapter.tries(prepared, place, means), 0
    keys = jax.random.split(jax.random.fold_in(means.key, 1), adapter.episodes + 1)
    try:
        policy = next(tries)
        while True:
            log, episodes = robot.episode(policy, keys[episodes]), episodes + 1
            policy = tries.send(log)
    except StopIteration as kept:
        return kept.value, episodes


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Gains over the unadapted policy of the same seed, robot by robot."""
    unadapted = {r["seed"]: np.array(r["returns"]) for r in rows if r["method"] == "unadapted"}
    found: dict[str, Any] = {f"{m}_return": _mean(rows, m) for m in dict.fromkeys(r["method"] for r in rows)}
    for method in METHODS:
        mine = [r for r in rows if r["method"] == method and r["seed"] in unadapted]
        if not mine:
            continue
        gains = np.concatenate([np.array(r["returns"]) - unadapted[r["seed"]] for r in mine])
        low, high = bootstrap(gains, [str(r["seed"]) for r in mine for _ in r["returns"]], lambda g: float(g.mean()))
        found |= {f"{method}_gain": float(gains.mean()), f"{method}_gain_low": low, f"{method}_gain_high": high}
        found[f"{method}_episodes"] = max(r["episodes"] for r in mine)
    return found


def _mean(rows: list[dict[str, Any]], method: str) -> float:
    return float(np.mean([r["return"] for r in rows if r["method"] == method]))


if __name__ == "__main__":
    start(main)
