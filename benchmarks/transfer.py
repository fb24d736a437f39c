"""Does the loop transfer? Share of the oracle's return on hidden realities, before and after three cranks.

.venv/bin/python benchmarks/transfer.py --tier A --robots cartpole --seeds 5
"""

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import tyro

from frame import Benchmark, Cells, finish
from gapless.core import key_for, nominal_belief, prior_belief
from gapless.engine import Recipe, Stages, Workspace, cranks, new_workspace
from gapless.learn import Excite, excite, gap
from gapless.robots import find_robot
from gapless.train import Ppo, Train, train
from judge import Judge

TASKS = {"cartpole": "swingup"}
CRANKS = 3
BARS = {
    "A": {"nominal_median": "≤ 0.6", "crank_median": "≥ 0.95", "crank_worst": "≥ 0.85", "robot_seconds_max": "≤ 120",
          "gap_ratio_median": "≥ 5", "forecast_coverage80": "0.70–0.90"},
    "B": {"crank_median": "≥ 0.95"},
    "C": {"crank_median": "≥ 0.90"},
}  # fmt: skip


@dataclass(frozen=True)
class Transfer(Benchmark):
    """Share of the oracle's return on hidden realities."""

    tier: str = "A"
    """A, B or C."""
    robots: tuple[str, ...] = ("cartpole",)
    """Which robots."""
    seeds: int = 5
    """How many seeds."""
    begin: int = 0
    """The first of them; cells are kept, so that several processes can fill one table."""


def main() -> None:
    options = tyro.cli(Transfer, description=__doc__)
    seeds = 1 if options.quick else options.seeds
    settings = [
        {"robot": r, "seed": s, "tier": options.tier, "quick": options.quick}
        for r in options.robots
        for s in range(options.begin, options.begin + seeds)
    ]
    rows = Cells("transfer", options).run(cell, settings)
    figures = summary(rows)
    finish("transfer", options, figures, [table_row(r) for r in rows], BARS[options.tier])


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One robot and seed: nominal policy, three cranks, oracle, gap."""
    robot, seed = setting["robot"], setting["seed"]
    spec = f"twin:{robot}?seed={seed}&tier={setting['tier']}"
    folder = Path(tempfile.mkdtemp(prefix="transfer-"))
    try:
        workspace = new_workspace(folder / robot, robot, TASKS[robot], seed)
        judge = Judge(spec, workspace.task)
        recipe = quick(Recipe()) if setting["quick"] else Recipe()
        nominal = train(
            workspace.simulator, nominal_belief(workspace.parameters), workspace.task, recipe.train,
            key_for(seed, "nominal"),
        )  # fmt: skip
        turns = list(cranks(workspace, find_robot(spec), recipe, seed, CRANKS))
        stages = Stages(workspace, recipe, seed)
        policies = [stages.policy(t.policy) for t in turns]
        steps = nominal.steps + sum(t.policy.figures["steps"] for t in turns)
        oracle_steps = steps // 2 if setting["quick"] else 2 * max(steps, _most(recipe))
        oracle = judge.oracle(oracle_steps)
        best = max((oracle, judge.tuned(policies[-1], oracle_steps // 4)), key=lambda p: judge.worth(p).value)
        floor, top = judge.without_policy(), judge.worth(best)
        worths = [judge.worth(p) for p in (nominal.policy, *policies)]
        before, after = gaps(workspace, judge, best, stages.belief(turns[-1].belief))
        return {
            **setting,
            "j0": floor,
            "jstar": top.value,
            "oracle_passed": top.passed,
            "returns": [w.value for w in worths],
            "shares": [(w.value - floor) / (top.value - floor) for w in worths],
            "passed": [w.passed for w in worths],
            "robot_seconds": [t.robot_seconds for t in turns],
            "gap_before": before,
            "gap_after": after,
            "inside": [bool(t.outcome.figures["inside"]) for t in turns],
            "true_inside": [
                bool(t.forecast.figures["low"] <= w.value <= t.forecast.figures["high"])
                for t, w in zip(turns, worths[1:], strict=True)
            ],
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _most(recipe: Recipe) -> int:
    """Steps of nominal and cranks together, had none of them stopped early."""
    return 2 * recipe.train.ppo.budget + (CRANKS - 1) * recipe.again.ppo.budget


def gaps(workspace: Workspace, judge: Judge, oracle: Any, belief: Any) -> tuple[float, float]:
    """The gap before and after, on ten logs of the oracle and ten of excitation that the engine never saw."""
    limits, prior = judge.reality.interface, prior_belief(workspace.parameters)
    motion = excite(workspace.simulator, prior, limits, 5.0, Excite(), key_for(judge.reality.seed, "judge", "motion"))
    logs = judge.logs(oracle, 10, "oracle") + judge.logs(motion, 10, "excite")
    logs = [replace(log, interface=workspace.interface) for log in logs]
    nominal = nominal_belief(workspace.parameters)
    before = gap(workspace.simulator, nominal, logs, floor_from=belief, every_s=0.5)
    return before.excess(0.5), gap(workspace.simulator, belief, logs, every_s=0.5).excess(0.5)


def quick(recipe: Recipe) -> Recipe:
    """The same thing, smaller."""
    return replace(recipe, train=Train(Ppo(budget=120_000), looks=3), again=Train(Ppo(budget=40_000), looks=2))


def summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    nominal, last = (np.array([r["shares"][k] for r in rows]) for k in (0, -1))
    low, high = _interval(last)
    return {
        "nominal_median": float(np.median(nominal)),
        "crank_median": float(np.median(last)),
        "crank_worst": float(last.min()),
        "crank_iqm": _middle(last),
        "crank_iqm_low": low,
        "crank_iqm_high": high,
        "robot_seconds_max": max(r["robot_seconds"][-1] for r in rows),
        "gap_ratio_median": float(np.median([r["gap_before"] / r["gap_after"] for r in rows])),
        "forecast_coverage80": float(np.mean([i for r in rows for i in r["inside"]])),
        "success_median": float(np.median([r["passed"][-1] for r in rows])),
        "invalid": sum(max(r["shares"]) > 1.03 or r["oracle_passed"] < 0.9 for r in rows),
    }


def table_row(r: dict[str, Any]) -> dict[str, Any]:
    shares = {"nominal": r["shares"][0]} | {f"crank {k}": s for k, s in enumerate(r["shares"]) if k}
    return {
        "robot": r["robot"], "tier": r["tier"], "seed": r["seed"], "J0": r["j0"], "J*": r["jstar"], **shares,
        "success": r["passed"][-1], "robot s": r["robot_seconds"][-1], "gap before": r["gap_before"], "gap after": r["gap_after"],
        "forecasts hit": sum(r["inside"]),
    }  # fmt: skip


def _middle(values: np.ndarray) -> float:
    """Interquartile mean."""
    cut = len(values) // 4
    return float(np.sort(values)[cut : len(values) - cut].mean())


def _interval(values: np.ndarray) -> tuple[float, float]:
    """95 % bootstrap interval of the interquartile mean."""
    rng = np.random.default_rng(0)
    drawn = [_middle(rng.choice(values, len(values))) for _ in range(2000)]
    return tuple(float(q) for q in np.quantile(drawn, [0.025, 0.975]))  # type: ignore[return-value]


if __name__ == "__main__":
    jax.config.update("jax_compilation_cache_dir", str(Path(tempfile.gettempdir()) / "gapless-compiled"))
    main()
