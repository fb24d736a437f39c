"""How weights for the package are made: several robots and their made-up cousins share one trunk.

LIMIT_S=1300 RESULTS=/tmp/robots MEMBERS=3 COUSINS=6 python benchmarks/clone_pretrain.py

Processes of their own draw lessons in C MuJoCo all the while; the fit, of all members side by side on whatever device JAX finds,
begins as soon as each robot has some, and not before the file WAIT_FOR exists, where one is named. Whatever comes out is written
under RESULTS, after every look at held-out lessons anew.
"""

import json
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from clone_lessons import Drawers, Library, makers
from clone_robots import ROBOTS, physics, skeleton
from gapless.core import generator_for
from gapless.learn.clone_robot.fit import Body, FitClone, Stage, clones_of, fit_clones, foretold
from gapless.learn.clone_robot.lessons import Lessons, Teach
from gapless.simulators.neural.stored import save_family

BEGAN = time.perf_counter()
LIMIT_S = float(os.environ.get("LIMIT_S", "1300"))
RESULTS = Path(os.environ.get("RESULTS", "/tmp/robots"))
WAIT_FOR = os.environ.get("WAIT_FOR")
SMALL = LIMIT_S < 200
MEMBERS, COUSINS = (int(os.environ.get(k, v)) for k, v in (("MEMBERS", 3), ("COUSINS", 1 if SMALL else 6)))
NAMES = ("cartpole", "hopper") if SMALL else tuple(ROBOTS)
PIECE = Teach(200, 12, 200) if SMALL else Teach(4000, 12, 1000)
ROOM = 5 * PIECE.stretches
"""Stretches kept of a robot, for each of its pieces in a turn."""
LOOKED_AT = Teach(100, 25, 100) if SMALL else Teach(2000, 25, 500)
LOOK_S, LAST_S = (5.0, 5.0) if SMALL else (60.0, 45.0)
WAIT_S = LIMIT_S / 2.5
PROCESSES = int(os.environ.get("PROCESSES", 2))
STEPS, SMALL_BATCH, CPU_BATCH, GPU_BATCH = (25, 30, 45), (32,) * 3, (512, 256, 96), (4096, 4096, 2048)


def main() -> None:
    say(f"{jax.devices()}, {len(os.sched_getaffinity(0))} cores")
    RESULTS.mkdir(parents=True, exist_ok=True)
    drawers = Drawers(NAMES, COUSINS, PIECE, PROCESSES)
    with jax.default_device(jax.devices("cpu")[0]):
        made = makers(NAMES, COUSINS)
        held_out = {n: made[n][1](LOOKED_AT, generator_for(1, n, "held out")) for n in NAMES}
        say("held out")
        library = Library(drawers, ROOM)
        fill(library, tuple(made))
    say(f"lessons: {library.drawn}")
    look, bodies = Look(held_out, library), {n: Body(made[n][0], library.shelves[n].lessons) for n in made}
    members = fit_clones(bodies, recipe(), MEMBERS, jax.random.key(0), tell=look, refill=library.fresh)
    drawers.close()
    keep(members, look.rows)
    say("done")


def recipe() -> FitClone:
    """The fit, for whatever time is left."""
    large = jax.default_backend() != "cpu" and not SMALL
    batches = SMALL_BATCH if SMALL else GPU_BATCH if large else CPU_BATCH
    stages = tuple(Stage(u, s, b) for u, s, b in zip((1, 4, 12), STEPS, batches, strict=True))
    chunk = 5 if SMALL else 100 if large else 20
    return FitClone(stages, rate=3e-3, chunk=chunk, turns=not large, seconds=max(15.0, LIMIT_S - spent() - LAST_S))


def fill(library: Library, names: tuple[str, ...]) -> None:
    """Until every robot has lessons and whatever is to be waited for has come."""
    while len(library.shelves) < len(names) or (WAIT_FOR and not Path(WAIT_FOR).exists() and spent() < WAIT_S):
        library.fresh(wait_s=1.0)


class Look:
    """Errors of held-out lessons on the way."""

    def __init__(self, held_out: dict[str, Lessons], library: Library) -> None:
        self.held_out, self.library, self.rows, self.last = held_out, library, list[dict[str, Any]](), 0.0
        self._ahead = {n: jax.jit(partial(_ahead, n)) for n in held_out}

    def __call__(self, share: float, steps: int, loss: float, family: Any) -> None:
        if time.perf_counter() - self.last < LOOK_S and share < 1:
            return
        row: dict[str, Any] = {"share": share, "steps": steps, "loss": loss, "seconds": spent()}
        members = [clones_of(family, k) for k in range(MEMBERS)]
        keep(members, self.rows)
        for name, truth in self.held_out.items():
            row[name] = [self._half_second(member[name], name, truth) for member in members]
        self.rows.append(row | {"drawn": self.library.drawn})
        say({k: v[0] if isinstance(v, list) else v for k, v in row.items()})
        keep(members, self.rows)
        self.last = time.perf_counter()

    def _half_second(self, clone: Any, name: str, truth: Lessons) -> dict[str, Any]:
        """Errors of positions after half a second, and of speeds after one period in typical changes."""
        position, velocity = (np.asarray(x) for x in self._ahead[name](clone, truth))
        inside = truth.counts[:, -1] > 0
        far = np.abs(position - truth.position)[inside, -1]
        once = np.abs(velocity - truth.velocity)[:, 1] / np.asarray(clone.limb.change)
        return {"median": np.median(far, 0).tolist(), "mean": far.mean(0).tolist(), "once": np.median(once, 0).tolist()}


def _ahead(name: str, clone: Any, truth: Lessons) -> Any:
    return foretold(clone, skeleton(name), truth)


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
