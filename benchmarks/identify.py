"""How fast, how exactly and how honestly the cart-pole's parameters are found from 30 s of logs, on hidden realities of tier A.

.venv/bin/python benchmarks/identify.py

Five motions of 6 s, chosen under the prior, are run in each reality: four are fitted, the fifth is held out. Coverage is
counted over 50 realities, ours and that of the intervals that `mujoco.sysid` states itself; the races against `mujoco.sysid`
and CMA-ES are run side by side in one process, a reality each, all from the nominal values. `mujoco.sysid` and we are timed to
the held-out error that both reach (5 % above the worse of the two; we from when on we never left it), and as wholes. CMA-ES is
timed to 5 % above our error against our whole fit, intervals included, and counts with its whole time where it never gets
there.
"""

import functools
import time
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import tyro

from excite import MODELS, cramer_rao, recorded, simulator_of, truth_of
from frame import Benchmark, Cells, finish, start
from gapless.core import Block, Gaussian, Log, key_for, prior_belief
from gapless.learn import Excite, Identify, excite, identify
from gapless.robots.finding import REALITIES, reality_of
from rivals import REACHED, Clock, HeldOut, by_cma, by_sysid

ROBOT, EPISODES, SECONDS, MOTIONS = "cartpole", 5, 6.0, 10
KNOWN, OFF_S, WITHIN = 0.02, 0.012, 1.96
BARS = {
    "seconds_cartpole": "≤ 10", "error_worst": "≤ 0.05", "known_least": "≥ 6", "latency_error_ms": "≤ 1",
    "coverage95": "0.90–0.99", "time_vs_mujoco_sysid": "≤ 0.5", "time_vs_cma": "≤ 0.15",
}  # fmt: skip


@dataclass(frozen=True)
class Identification(Benchmark):
    """Eight parameters from 30 s of logs."""

    seeds: int = 50
    """Realities first … first + seeds − 1, for coverage; the first few of them also for the rest."""
    first: int = 0
    """Seed of the first."""
    exact: int = 5
    """Realities in which time, errors and latency from a start 12 ms off are measured."""
    races: int = 5
    """Realities in which all three fit side by side."""
    theirs: int = 50
    """Realities in which `mujoco.sysid` states its intervals."""


def main() -> None:
    options = tyro.cli(Identification, description=__doc__)
    count, exact, races, theirs = (
        (2, 1, 1, 1) if options.quick else (options.seeds, options.exact, options.races, options.theirs)
    )
    cells, seeds = Cells("identify", options), range(options.first, options.first + count)
    raced = cells.run(race, [{"race": s} for s in seeds[:races]])
    timed = cells.run(exactly, [{"exact": s} for s in seeds[:exact]])
    covered = cells.run(cover, [{"cover": s} for s in seeds])
    beside = cells.run(cover_of_sysid, [{"sysid": s} for s in seeds[:theirs]])
    known = [r for c in timed for r in c["rows"] if r["bound"] < KNOWN]
    figures = {
        "seconds_cartpole": float(np.median([c["seconds"] for c in timed])),
        "cpu_seconds_cartpole": float(np.median([c["cpu_seconds"] for c in timed])),
        "error_worst": max(abs(r["error"]) for r in known),
        "known_least": min(sum(r["bound"] < KNOWN for r in c["rows"]) for c in timed),
        "time_vs_mujoco_sysid": float(np.median([c["ours"] / c["sysid"] for c in raced])),
        "total_vs_mujoco_sysid": float(np.median([c["total"] / c["sysid total"] for c in raced])),
        "error_vs_mujoco_sysid": float(np.median([c["error"] / c["sysid error"] for c in raced])),
        "time_vs_cma": float(np.median([c["total"] / c["cma"] for c in raced])),
        "cma_reached": sum(c["cma reached"] for c in raced),
        "latency_error_ms": max(c["latency_error_ms"] for c in timed),
        "coverage95": float(np.mean([list(c["inside"].values()) for c in covered])),
        "truths": len(covered),
        "coverage95_mujoco_sysid": float(np.mean([list(c["inside"].values()) for c in beside])),
        "truths_mujoco_sysid": len(beside),
    }
    names = list(covered[0]["inside"])
    figures |= {f"coverage95_{n}": float(np.mean([c["inside"][n] for c in covered])) for n in names}
    figures |= {f"z_rms_{n}": float(np.sqrt(np.mean([c["z"][n] ** 2 for c in covered]))) for n in names}
    finish("identify", options, figures, [r for c in timed for r in c["rows"]], BARS)


def race(setting: dict[str, Any]) -> dict[str, Any]:
    """Seconds until each has a held-out error that both reach, and those of both whole fits, our intervals included."""
    seed, simulator = setting["race"], simulator_of(ROBOT)
    logs, prior = collected(seed), prior_belief(simulator.parameters)
    judge = HeldOut(simulator, logs[-1:], prior.names)
    _warm(simulator, logs)
    once, clock = Identify(starts=1), Clock()
    found = identify(simulator, prior, logs[:-1], logs[-1:], once, seed, lambda k, cost, at: clock.passed(at))
    total, error = clock.seconds, judge.error(found.belief.centre[: len(prior.names)])
    theirs = by_sysid(simulator, _spec(), logs[:-1])
    their_error = judge.error(theirs.values)
    both = REACHED * max(error, their_error)
    ours = judge.settled(clock.trace, both) or total
    evolving, evolved = by_cma(simulator, logs[:-1], seed, lambda values: judge.error(values) <= REACHED * error)
    return {
        "seed": seed, "error": error, "sysid error": their_error, "ours": ours, "total": total,
        "sysid": judge.reached(theirs.clock.trace, both) or theirs.seconds, "sysid total": theirs.seconds,
        "cma": evolved or evolving.seconds, "cma reached": evolved is not None,
    }  # fmt: skip


def exactly(setting: dict[str, Any]) -> dict[str, Any]:
    """One reality: time and errors of a fit, the bound at the truth, and latency from a start 12 ms off."""
    seed, simulator = setting["exact"], simulator_of(ROBOT)
    logs, prior = collected(seed), prior_belief(simulator.parameters)
    _warm(simulator, logs)
    began, cpu = time.perf_counter(), time.process_time()
    belief = identify(simulator, prior, logs[:-1], logs[-1:], seed=seed).belief
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    truth = truth_of(reality_of(f"twin:{ROBOT}?seed={seed}"))
    bounds = cramer_rao(simulator, logs[:-1], truth)
    late = truth["command.latency"]
    off = _begun_off(prior, late + OFF_S * (1 if seed % 2 else -1))
    again = identify(simulator, off, logs[:-1], logs[-1:], seed=seed).belief.mean()["command.latency"]
    mean, deviation = belief.mean(), belief.deviation()
    rows = [
        {
            "seed": seed, "parameter": name, "truth": true, "found": float(mean[name]),
            "deviation": float(deviation[name]), "error": float(mean[name]) / true - 1, "bound": bounds[name] / abs(true),
        }
        for name, true in truth.items()
    ]  # fmt: skip
    return {
        "seconds": seconds, "cpu_seconds": cpu_seconds, "rows": rows,
        "latency_error_ms": abs(float(again) - late) * 1e3,
    }  # fmt: skip


def cover(setting: dict[str, Any]) -> dict[str, Any]:
    """Which truths lie inside our 95 % intervals, and how many deviations off they are."""
    seed, simulator = setting["cover"], simulator_of(ROBOT)
    logs = collected(seed)
    belief = identify(simulator, prior_belief(simulator.parameters), logs[:-1], logs[-1:], seed=seed).belief
    truth = truth_of(reality_of(f"twin:{ROBOT}?seed={seed}"))
    z = {n: (float(belief.mean()[n]) - true) / float(belief.deviation()[n]) for n, true in truth.items()}
    return {"seed": seed, "inside": {n: abs(v) < WITHIN for n, v in z.items()}, "z": z}


def cover_of_sysid(setting: dict[str, Any]) -> dict[str, Any]:
    """Which truths lie inside the intervals that `mujoco.sysid` states."""
    seed, simulator = setting["sysid"], simulator_of(ROBOT)
    theirs = by_sysid(simulator, _spec(), collected(seed)[:-1])
    truth = truth_of(reality_of(f"twin:{ROBOT}?seed={seed}"))
    names = [p.name for p in simulator.parameters if p.free]
    off = theirs.values - np.array([truth[n] for n in names])
    return {"seed": seed, "inside": dict(zip(names, (np.abs(off) < theirs.half_width).tolist(), strict=True))}


def collected(seed: int) -> list[Log]:
    """30 s in one reality; two sets of motions take turns, since nothing is known about it when they are chosen."""
    reality = reality_of(f"twin:{ROBOT}?seed={seed}")
    motions = [_motion((EPISODES * seed + k) % MOTIONS) for k in range(EPISODES)]
    return [recorded(reality, motion, key_for(seed, "episode", k)) for k, motion in enumerate(motions)]


@functools.cache
def _motion(which: int) -> Block:
    simulator = simulator_of(ROBOT)
    prior, limits = prior_belief(simulator.parameters), REALITIES[ROBOT].interface
    return excite(simulator, prior, limits, SECONDS, Excite(candidates=8), key_for(which, "motion"))


def _begun_off(prior: Gaussian, latency_s: float) -> Gaussian:
    """The prior with its centre of latency elsewhere."""
    centre = np.where([n == "command.latency" for n in prior.names], latency_s, prior.centre)
    return Gaussian(prior.names, centre, prior.covariance, prior.low, prior.high)


def _warm(simulator: Any, logs: list[Log]) -> None:
    """Batches are made and caches filled before a clock runs."""
    identify(simulator, prior_belief(simulator.parameters), logs[:1], logs[1:2])


def _spec() -> mujoco.MjSpec:
    return mujoco.MjSpec.from_file(str(MODELS / f"{ROBOT}.xml"))


if __name__ == "__main__":
    start(main)
