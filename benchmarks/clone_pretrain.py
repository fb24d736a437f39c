"""How weights for the package are made: several robots and their made-up cousins share one trunk.

LIMIT_S=1300 RESULTS=/tmp/robots python benchmarks/clone_pretrain.py

Lessons from C MuJoCo for a sixth of the time, then the fit on whatever device JAX finds, a look at held-out lessons on the way,
and how fast the clones step. Everything is written under RESULTS, after every look anew.
"""

import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from clone_robots import ROBOTS, physics, skeleton
from gapless.core import generator_for
from gapless.learn.clone_robot.cousins import Cousin, cousin
from gapless.learn.clone_robot.fit import Body, FitClone, Stage, clones_of, fit_clones, foretold
from gapless.learn.clone_robot.lessons import Lessons, Teach, lessons
from gapless.simulators.neural import CloneSimulator, Skeleton
from gapless.simulators.neural.stored import save_family

BEGAN = time.perf_counter()
LIMIT_S = float(os.environ.get("LIMIT_S", "1300"))
RESULTS = Path(os.environ.get("RESULTS", "/tmp/robots"))
SMALL = LIMIT_S < 200
MEMBERS, COUSINS, LOOK_S = (2, 1, 10.0) if SMALL else (4, 6, 60.0)
NAMES = ("cartpole", "hopper") if SMALL else tuple(ROBOTS)
PIECE = Teach(stretches=500 if SMALL else 4000, length=12, worlds=500 if SMALL else 1000)
MOST_PIECES = 1 if SMALL else 30
MEMBERS, COUSINS = (int(os.environ.get(k, v)) for k, v in (("MEMBERS", MEMBERS), ("COUSINS", COUSINS)))
LARGE = not SMALL and jax.default_backend() != "cpu"
SHARES, BATCHES = (25, 30, 45), (4096, 2048, 1024) if LARGE else (512, 256, 96)
STAGES = tuple(Stage(u, s, 64 if SMALL else b) for u, s, b in zip((1, 4, 12), SHARES, BATCHES, strict=True))


def main() -> None:
    say(f"{jax.devices()}, {len(os.sched_getaffinity(0))} cores")
    RESULTS.mkdir(parents=True, exist_ok=True)
    cpu = jax.devices("cpu")[0]
    with jax.default_device(cpu):
        bodies, held_out = taught()
    say(f"lessons: { ({n: len(b.lessons.control) for n, b in bodies.items()}) }")
    recipe = FitClone(
        STAGES,
        rate=3e-3,
        chunk=200 if LARGE else 20,
        turns=not LARGE,
        seconds=max(20.0, LIMIT_S - spent() - (10 if SMALL else 150)),
    )
    look = Look(held_out)
    members = fit_clones(bodies, recipe, MEMBERS, jax.random.key(0), tell=look)
    keep(members, look.rows)
    for name in NAMES if LARGE or SMALL else ():
        for worlds in (64,) if SMALL else (4096, 16384, 65536):
            if spent() < LIMIT_S - 5:
                look.rows.append(
                    {"robot": name, "worlds": worlds, "world_steps_per_s": rate(members[0][name], name, worlds)}
                )
                say(look.rows[-1])
                keep(members, look.rows)


def taught() -> tuple[dict[str, Body], dict[str, Lessons]]:
    """Lessons of all robots, in turns until their time is over; and those that are only looked at."""
    makers: dict[str, tuple[Skeleton, Callable[[Teach, np.random.Generator], Lessons]]] = {}
    for name in NAMES:
        makers[name] = skeleton(name), partial(lessons, physics(name), ROBOTS[name].reach, ROBOTS[name].begins)
    for k in range(COUSINS):
        found: Cousin = cousin(generator_for(k, "cousin"), 1 + k % 2)
        made = partial(lessons, found.physics, found.reach, ())
        makers[f"cousin{k}"] = Skeleton(found.physics.model, found.physics.interface.period_s), made
    held_out = {n: makers[n][1](Teach(100 if SMALL else 2000, 25, 500), generator_for(1, n, "held out")) for n in NAMES}
    say("held out")
    pieces: dict[str, list[Lessons]] = {name: [] for name in makers}
    for turn in range(MOST_PIECES):
        for name, (_, make) in makers.items():
            if name in NAMES or turn % 3 == 0:
                pieces[name].append(make(PIECE, generator_for(turn, name, "lessons")))
        say(f"lessons, turn {turn}")
        if spent() > LIMIT_S / 6:
            break
    joined = {n: Lessons(*(np.concatenate(side) for side in zip(*found, strict=True))) for n, found in pieces.items()}
    return {n: Body(makers[n][0], joined[n]) for n in makers}, held_out


class Look:
    """Errors of held-out lessons on the way."""

    def __init__(self, held_out: dict[str, Lessons]) -> None:
        self.held_out, self.rows, self.last = held_out, list[dict[str, Any]](), 0.0

    def __call__(self, share: float, steps: int, loss: float, family: Any) -> None:
        if time.perf_counter() - self.last < LOOK_S and share < 1:
            return
        row: dict[str, Any] = {"share": share, "steps": steps, "loss": loss, "seconds": spent()}
        members = [clones_of(family, k) for k in range(MEMBERS)]
        for name, truth in self.held_out.items():
            row[name] = [half_second(member[name], name, truth) for member in members]
        self.rows.append(row)
        say({k: v[0] if isinstance(v, list) else v for k, v in row.items()})
        keep([{n: c for n, c in m.items() if n in ROBOTS} for m in members], self.rows)
        self.last = time.perf_counter()


def half_second(clone: Any, name: str, truth: Lessons) -> dict[str, Any]:
    """Errors of positions after half a second, and of speeds after one period in typical changes."""
    position, velocity = (np.asarray(x) for x in jax.jit(lambda c: foretold(c, skeleton(name), truth))(clone))
    inside = truth.counts[:, -1] > 0
    far = np.abs(position - truth.position)[inside, -1]
    once = np.abs(velocity - truth.velocity)[:, 1] / np.asarray(clone.limb.change)
    return {"median": np.median(far, 0).tolist(), "mean": far.mean(0).tolist(), "once": np.median(once, 0).tolist()}


def rate(clone: Any, name: str, worlds: int) -> float:
    """World-steps per second of the whole simulator, latency and sensors included."""
    simulator = CloneSimulator(physics(name), [clone], worlds)
    state, _, _ = simulator.reset(simulator.init(), np.ones(worlds, bool), {}, {}, jax.random.key(0))

    @jax.jit
    def run(state: Any, key: Any) -> Any:
        def body(state: Any, key: Any) -> Any:
            keys = jax.random.split(key)
            sent = {
                c.name: jax.random.uniform(keys[0], (worlds, 1), minval=c.low, maxval=c.high)
                for c in simulator.interface.commands
            }
            state, seen, _ = simulator.step(state, sent, keys[1])
            return state, sum(v.sum() for v in seen.values())

        return jax.lax.scan(body, state, jax.random.split(key, 200))

    jax.block_until_ready(run(state, jax.random.key(0)))
    began = time.perf_counter()
    for _ in range(3):
        jax.block_until_ready(run(state, jax.random.key(1)))
    return 600 * worlds / (time.perf_counter() - began)


def keep(members: list, rows: list) -> None:
    device = str(jax.devices()[0])
    small = [{n: c for n, c in m.items() if n in ROBOTS} for m in members]
    host = jax.tree.map(lambda w: np.asarray(w) if isinstance(w, jnp.ndarray) else w, small)
    save_family(
        RESULTS / "weights",
        host,
        {"seconds": spent(), "device": device, "cousins": COUSINS},
        {n: physics(n) for n in NAMES},
    )
    (RESULTS / "looks.json").write_text(json.dumps(rows, indent=1))


def spent() -> float:
    return time.perf_counter() - BEGAN


def say(what: Any) -> None:
    print(f"[{spent():6.0f} s] {what}", flush=True)


if __name__ == "__main__":
    main()
