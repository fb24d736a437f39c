"""Randomised episodes under fire: broken measurements, failing drivers, late answers, hostile policies, bad starts.

Each episode draws a machine (channels, limits, rates, period, sensors with and without noise), a policy that is rarely kind, the
gate's patience, and at most one fault at a random time. At the motors stands a witness that shares no code with the gate: it
checks the shape, limits and rate of every command that arrives, that after a jump to rest nothing but rest follows, and that
every episode ends at rest.
"""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

import tyro

from frame import Benchmark, console, finish
from safety_episode import play
from safety_faults import MACHINE_FAULTS, POLICY_FAULTS

BARS = {"episodes": "≥ 10000", "violations": "0", "stopped_within_period": "all of must_stop", "false_stops": "0"}


@dataclass(frozen=True)
class Safety(Benchmark):
    """Injure the robot, the driver and the policy, and watch what reaches the motors."""

    episodes: int = 10_000
    """Episodes in all."""
    seed: int = 0
    """Of everything random."""
    jobs: int = 2
    """Episodes at the same time."""


def some(task: tuple[int, range]) -> list[dict[str, Any]]:
    return [play(task[0], number) for number in task[1]]


def main() -> None:
    options = tyro.cli(Safety, description=__doc__)
    if options.quick:
        options = replace(options, episodes=min(options.episodes, 640))
    pieces = [range(k, min(k + 200, options.episodes)) for k in range(0, options.episodes, 200)]
    context = get_context("spawn")  # threads of JAX do not survive a fork
    with ProcessPoolExecutor(options.jobs, context) as pool, console.status("under fire") as status:
        results: list[dict[str, Any]] = []
        for found in pool.map(some, [(options.seed, piece) for piece in pieces]):
            results += found
            status.update(f"{len(results)} of {options.episodes} episodes")
    figures = {
        "episodes": len(results),
        "commands": sum(r["commands"] for r in results),
        "faults": sum(r["struck"] for r in results),
        "violations": sum(r["violations"] for r in results),
        "must_stop": sum(r["must_stop"] for r in results),
        "stopped_within_period": sum(r["in_time"] for r in results),
        "logs_kept": sum(r["kept"] for r in results),
        "false_stops": sum(r["false_stop"] for r in results),
    }
    finish("safety", options, figures, [by_kind(results, f) for f in MACHINE_FAULTS + POLICY_FAULTS], BARS)


def by_kind(results: list[dict[str, Any]], fault: str) -> dict[str, Any]:
    """The row of one kind of fault; one of the sentences that it led to is printed beside."""
    chosen = [r for r in results if r["fault"] == fault]
    says = [r["says"] for r in chosen if r["says"]]
    console.print(f"{fault}: {says[0] if says else '-'}", markup=False, highlight=False, soft_wrap=True)
    counted = ("must_stop", "in_time", "false_stop", "kept", "violations")
    return {"fault": fault, "episodes": len(chosen)} | {k: sum(r[k] for r in chosen) for k in counted}


if __name__ == "__main__":
    main()
