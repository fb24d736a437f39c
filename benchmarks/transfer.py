"""Does the loop transfer? Share of the oracle's return on hidden realities: data sheet, three cranks, and beside them the same
without learned parts, and glue.

.venv/bin/python benchmarks/transfer.py --tier A --robots cartpole furuta puck --seeds 5
"""

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro
from scipy.stats import spearmanr

from beginnings import BRIEF_S, CRANKS, TASKS, brief, most_steps, quick, trained_steps
from chart import curves
from frame import Benchmark, Cells, finish, start
from gapless.core import Artifact, key_for, nominal_belief, prior_belief
from gapless.engine import Recipe, Stages, Turn, Workspace, cranks, new_workspace, usable
from gapless.learn import Excite, excite, gap
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.weights import weights_bytes
from gapless.robots import find_robot
from gapless.train import train
from glue import glue_belief
from judge import Judge
from methods import METHODS, compare
from statistic import bootstrap, middle, paired

WITH_EFFECTS = ("B", "C")
"""Tiers in which learned parts have something to learn: there, the cranks are also turned without them."""
RANKED = 10
"""Policies whose forecasts and outcomes are ranked against each other."""
BARS = {
    "A": {"nominal_median": "≤ 0.6", "crank_median": "≥ 0.95", "crank_worst": "≥ 0.85", "robot_seconds_max": "≤ 120",
          "gap_ratio_median": "≥ 5", "forecast_coverage80": "0.70–0.90", "forecast_rank": "≥ 0.8"},
    "B": {"crank_median": "≥ 0.95"},
    "C": {"crank_median": "≥ 0.90", "identify_only_median": "≤ 0.85", "learned_gain": "≥ 0.05", "glue_margin": "≥ 0.10"},
}  # fmt: skip


@dataclass(frozen=True)
class Transfer(Benchmark):
    """Share of the oracle's return on hidden realities."""

    tier: str = "A"
    """A, B or C."""
    robots: tuple[str, ...] = ("cartpole", "furuta", "puck")
    """Which robots."""
    seeds: int = 3
    """How many seeds."""
    begin: int = 0
    """The first of them; cells are kept, so that several processes can fill one table."""
    parts: bool = Recipe().parts
    """Whether the crank may learn parts beside the parameters; tiers B and C then show identification alone, too."""
    clone: bool = Recipe().clone
    """Whether a clone that is pulled towards the logs may take the place of the physics; likewise."""
    schedule: Literal["next-best", "fixed"] = Recipe().schedule
    """How the cranks spend robot seconds: where they are expected to add most, or as counted beforehand."""
    reality: str | None = None
    """Somebody else's hidden physics, FILE.py:Class, in place of our twins; needs --task and --model."""
    task: str | None = None
    """The task there: a built-in one, or FILE.py:Class."""
    model: str | None = None
    """The nominal model there: an MJCF or URDF file, or a built-in one."""
    methods: tuple[str, ...] = ()
    """Compare these ways of crossing the gap with the full crank, or all of them; see `methods.py`."""
    chart: Path | None = None
    """Draw share against robot seconds into this SVG file."""


def main() -> None:
    options = tyro.cli(Transfer, description=__doc__)
    if options.methods:
        common = {"tier": options.tier, "quick": options.quick}
        robots = [{"robot": r, "seed": s, **common} for s in seeds_of(options) for r in options.robots]
        compare(options, robots, _words(options), options.chart)
        return
    rows = with_alone(Cells("transfer", options).run(cell, settings_of(options)))
    if options.chart is not None:
        options.chart.write_text(curves(rows))
    finish("transfer", options, summary(rows), [table_row(r) for r in rows], BARS[options.tier])


def seeds_of(options: Transfer) -> range:
    """The seeds that were asked for."""
    return range(options.begin, options.begin + (1 if options.quick else options.seeds))


def settings_of(options: Transfer) -> list[dict[str, Any]]:
    """One setting for each robot and seed, and, where parts are learned, another for identification alone."""
    settings = [
        {
            "robot": r,
            "seed": s,
            "tier": options.tier,
            "quick": options.quick,
            "parts": options.parts,
            "schedule": options.schedule,
            **({"clone": True} if options.clone else {}),
            **_elsewhere(options),
        }
        for s in seeds_of(options)
        for r in (options.robots if options.reality is None else (options.reality,))
    ]
    learns = (options.parts or options.clone) and options.tier in WITH_EFFECTS
    alone = [{**s, "parts": False, "clone": False, "alone": True} for s in settings] if learns else []
    # One after the other, so that rows are whole however far the budget reaches.
    return [s for pair in zip(settings, alone, strict=True) for s in pair] if learns else settings


def _words(options: Transfer) -> list[str]:
    """The methods that were asked for."""
    words = [*METHODS] if options.methods == ("all",) else [*options.methods]
    unknown = [word for word in words if word not in METHODS]
    if unknown or options.reality is not None:
        what = f"there is no method {unknown[0]!r}" if unknown else "--methods compares on our twins, not --reality"
        raise SystemExit(f"{what}. Choose all, or some of {', '.join(METHODS)}.")
    return words


def _elsewhere(options: Transfer) -> dict[str, Any]:
    if options.reality is None:
        return {}
    if options.task is None or options.model is None:
        raise SystemExit("--reality needs --task and --model: what should happen there, and what is believed about it.")
    return {"task": options.task, "model": options.model}


def with_alone(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, each with what identification alone reached there; without effects that parameters cannot express, the crank
    is identification only. Rows that wait for it are left out."""
    alone = {(c["robot"], c["seed"]): c["value"] for c in cells if c.get("alone")}
    rows = [c for c in cells if not c.get("alone")]
    if any(r["parts"] or r.get("clone") for r in rows) and rows[0]["tier"] in WITH_EFFECTS:
        rows = [r for r in rows if (r["robot"], r["seed"]) in alone]
    values = [alone.get((r["robot"], r["seed"]), r["returns"][CRANKS]) for r in rows]
    return [r | {"identify_only": (v - r["j0"]) / (r["jstar"] - r["j0"])} for r, v in zip(rows, values, strict=True)]


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One robot and seed: nominal policy, three cranks, glue, oracle, gap, and how forecasts rank policies; or what cranks
    that learn no parts reach there."""
    robot, seed = setting["robot"], setting["seed"]
    spec = f"twin:{robot}?seed={seed}&tier={setting['tier']}"
    folder = Path(tempfile.mkdtemp(prefix="transfer-"))
    try:
        model, task = setting.get("model", robot), setting.get("task") or TASKS[robot]
        workspace = new_workspace(folder / "workspace", model, task, seed)
        judge = Judge(spec, workspace.task)
        recipe = replace(
            brief(quick(Recipe()) if setting["quick"] else Recipe(), robot),
            force=True, explain=False, parts=setting["parts"], clone=setting.get("clone", False),
            schedule=setting["schedule"],
        )  # fmt: skip
        if setting.get("alone"):
            turns = list(cranks(workspace, find_robot(spec), recipe, seed, CRANKS))
            return {**setting, "value": judge.worth(Stages(workspace, recipe, seed).policy(turns[-1].standing)).value}
        nominal = train(
            workspace.simulator, nominal_belief(workspace.parameters), workspace.task, recipe.train,
            key_for(seed, "nominal"),
        )  # fmt: skip
        turns = list(cranks(workspace, find_robot(spec), recipe, seed, CRANKS))
        stages = Stages(workspace, recipe, seed)
        policies = [nominal.policy, *(stages.policy(t.standing) for t in turns), glued(workspace, recipe, seed)]
        steps = nominal.steps + trained_steps(workspace)
        assert steps <= most_steps(recipe)
        best = _best(judge, policies[CRANKS], steps // 2 if setting["quick"] else 2 * steps)
        before, after = gaps(stages, judge, best, turns[-1].belief)
        ranks = ranked(stages, judge, turns[-1], [*nominal.looks, *policies[: CRANKS + 1]])
        found = _worths(judge, best, policies) | _forecasts(turns, judge, stages)
        learned = [bool(t.belief.figures["residual"] or t.belief.figures["parts"]) for t in turns]
        return {**setting, **found, **ranks, "gap_before": before, "gap_after": after, "learned": learned}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _best(judge: Judge, last: SeeingPolicy, steps: int) -> SeeingPolicy:
    """J*: the best of the oracles and of the crank's last policy, trained further in the reality."""
    return max((judge.oracle(steps), judge.tuned(last, steps // 4)), key=lambda p: judge.worth(p).value)


def _worths(judge: Judge, best: SeeingPolicy, policies: list[SeeingPolicy]) -> dict[str, Any]:
    """Shares of all policies."""
    floor, top = judge.without_policy(), judge.worth(best)
    worths = [judge.worth(p) for p in policies]
    *shares, glue = [(w.value - floor) / (top.value - floor) for w in worths]
    return {
        "j0": floor,
        "jstar": top.value,
        "oracle_passed": top.passed,
        "returns": [w.value for w in worths],
        "shares": shares,
        "glue": glue,
        "passed": [w.passed for w in worths],
    }


def _forecasts(turns: list[Turn], judge: Judge, stages: Stages) -> dict[str, Any]:
    """What was stated before each policy went to the robot, and what came; a crank that sent none states nothing."""
    store = stages.workspace.store
    outcomes = store.all("outcome")
    forecasts = [store.get(o.parents["forecast"]) for o in outcomes]
    stated = [f.figures for f in forecasts]
    worths = [judge.worth(stages.policy(store.get(f.parents["policy"]))).value for f in forecasts]
    return {
        "robot_seconds": [t.robot_seconds for t in turns],
        "why": [d.figures["why"] for t in turns for d in t.decisions],
        "inside": [bool(o.figures["inside"]) for o in outcomes],
        "true_inside": [bool(f["low"] <= w <= f["high"]) for f, w in zip(stated, worths, strict=True)],
        "stated": [[f["low"], f["mean"], f["high"]] for f in stated],
        "outcomes": [o.figures["return"] for o in outcomes],
        "simulated": [np.asarray(f["returns"]).tolist() for f in stated],
    }


def glued(workspace: Workspace, recipe: Recipe, seed: int) -> SeeingPolicy:
    """What today's tools make of the logs that the cranks recorded."""
    belief = glue_belief(workspace, usable(workspace.store.all("logs")), seed)
    return train(workspace.simulator, belief, workspace.task, recipe.train, key_for(seed, "glue")).policy


def ranked(stages: Stages, judge: Judge, turn: Turn, policies: list[SeeingPolicy]) -> dict[str, Any]:
    """Rank correlation of what is forecast under the last belief and what is so, over ten policies from clumsy to able."""
    distinct = list({weights_bytes(p): p for p in policies}.values())
    chosen = [distinct[k] for k in np.unique(np.linspace(0, len(distinct) - 1, RANKED).round().astype(int))]
    forecast = [float(np.mean(stages.simulate(turn.belief, p, 32, 1, "rank")[1])) for p in chosen]
    outcome = [judge.worth(p).value for p in chosen]
    return {"rank": float(spearmanr(forecast, outcome).statistic), "ranked": [forecast, outcome]}


def gaps(stages: Stages, judge: Judge, oracle: Any, belief: Artifact) -> tuple[float, float]:
    """The gap before and after, on ten logs of the oracle and ten of excitation that the engine never saw."""
    workspace, alone = stages.workspace, stages.identified(belief)
    limits, prior = judge.reality.interface, prior_belief(workspace.parameters)
    seconds = BRIEF_S.get(limits.robot, 5.0)
    motion = excite(
        workspace.simulator, prior, limits, seconds, Excite(), key_for(judge.reality.seed, "judge", "motion")
    )
    logs = judge.logs(oracle, 10, "oracle") + judge.logs(motion, 10, "excite")
    logs = [replace(log, interface=workspace.interface) for log in logs]
    nominal = nominal_belief(workspace.parameters)
    before = gap(workspace.simulator, nominal, logs, floor_from=alone, every_s=0.5)
    after = gap(stages.simulator(belief), stages.belief(belief), logs, every_s=0.5)
    return before.excess(0.5), after.excess(0.5)


def summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    nominal, last = (np.array([r["shares"][k] for r in rows]) for k in (0, -1))
    robots, glue = [r["robot"] for r in rows], np.array([r["glue"] for r in rows])
    low, high = bootstrap(last, robots)
    margin, margin_low, margin_high = paired(last, glue, robots)
    alone = np.array([r["identify_only"] for r in rows])
    gain, gain_low, gain_high = paired(last, alone, robots)
    return {
        "nominal_median": float(np.median(nominal)),
        "crank_median": float(np.median(last)),
        "crank_worst": float(last.min()),
        "crank_iqm": middle(last),
        "crank_iqm_low": low,
        "crank_iqm_high": high,
        "identify_only_median": float(np.median(alone)),
        "learned_gain": gain,
        "learned_gain_low": gain_low,
        "learned_gain_high": gain_high,
        "glue_median": float(np.median(glue)),
        "glue_margin": margin,
        "glue_margin_low": margin_low,
        "glue_margin_high": margin_high,
        "robot_seconds_max": max(r["robot_seconds"][-1] for r in rows),
        "gap_ratio_median": float(np.median([r["gap_before"] / r["gap_after"] for r in rows])),
        "forecast_coverage80": float(np.mean([i for r in rows for i in r["inside"]])),
        "forecast_rank": float(np.median([r["rank"] for r in rows])),
        "success_median": float(np.median([r["passed"][CRANKS] for r in rows])),
        "invalid": sum(max(*r["shares"], r["glue"]) > 1.03 or r["oracle_passed"] < 0.9 for r in rows),
    }


def table_row(r: dict[str, Any]) -> dict[str, Any]:
    shares = {"nominal": r["shares"][0]} | {f"crank {k}": s for k, s in enumerate(r["shares"]) if k}
    return {
        "robot": r["robot"], "tier": r["tier"], "seed": r["seed"], "J0": r["j0"], "J*": r["jstar"], **shares,
        "identify only": r["identify_only"], "parts": sum(r["learned"]), "glue": r["glue"],
        "success": r["passed"][CRANKS], "oracle": r["oracle_passed"],
        "robot s": r["robot_seconds"][-1], "gap before": r["gap_before"], "gap after": r["gap_after"],
        "forecasts hit": sum(r["inside"]), "rank": r["rank"],
    }  # fmt: skip


if __name__ == "__main__":
    start(main)
