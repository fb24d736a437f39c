"""How the ancestor of new robots is taught: random relatives of every kind share all layers.

LIMIT_S=560 RELATIVES=1000 python benchmarks/clone_ancestor.py FOLDER

Processes of their own draw the relatives' lessons in C MuJoCo, one relative after the other, until there are enough or a quarter
of the time has gone; then one ancestor is fitted on whatever device JAX finds for what is left. It is looked at with relatives
that it never meets, and written with every look.
"""

import json
import multiprocessing
import os
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import generator_for
from gapless.learn.clone_robot.ancestry import Ancestry, Relative, foretelling_loss, in_slots
from gapless.learn.clone_robot.fit import FitClone, Stage
from gapless.learn.clone_robot.lessons import Lessons, Teach
from gapless.learn.clone_robot.relatives import relative
from gapless.simulators import mujoco_cpu
from gapless.simulators.neural.ancestor import Ancestor, save_ancestor

BEGAN = time.perf_counter()
LIMIT_S = float(os.environ.get("LIMIT_S", "560"))
RELATIVES = int(os.environ.get("RELATIVES", "1000"))
STRETCHES = int(os.environ.get("STRETCHES", "400"))
PROCESSES = int(os.environ.get("PROCESSES", str(len(os.sched_getaffinity(0)))))
WIDTH, DEPTH, MIND = (int(n) for n in os.environ.get("SIZE", "128,2,128").split(","))
TOGETHER, BATCH = (int(n) for n in os.environ.get("BATCH", "256,32").split(","))
CHUNK = int(os.environ.get("CHUNK", "100"))
DRAW_S, LOOK_S = LIMIT_S / 4, LIMIT_S / 25
ASIDE = 16
"""Relatives that only look."""
PERIOD_S = 0.02


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    found = drawn()
    say(f"{len(found)} relatives with {STRETCHES} stretches each")
    aside, own = _stacked(found[:ASIDE]), _stacked(found[ASIDE:])
    look = Look(aside, folder)
    stages = (Stage(1, 30, BATCH), Stage(4, 30, BATCH), Stage(10, 40, BATCH))
    recipe = FitClone(stages, rate=3e-3, chunk=CHUNK, seconds=max(15.0, LIMIT_S - (time.perf_counter() - BEGAN) - 15))
    say(jax.devices())
    ancestor = Ancestor(jax.random.key(0), WIDTH, DEPTH, MIND)
    Ancestry(own, recipe, TOGETHER, PERIOD_S).run(ancestor, jax.random.key(1), look)
    say("done")


def drawn() -> list[Relative]:
    """As many relatives as were asked for, or as there was time for."""
    context = multiprocessing.get_context("spawn")
    before = os.environ.get("JAX_PLATFORMS")
    os.environ["JAX_PLATFORMS"] = "cpu"
    with context.Pool(PROCESSES) as pool:
        found = []
        for row in pool.imap(_one, range(RELATIVES + ASIDE), chunksize=1):
            found += [] if row is None else [row]
            if len(found) % 100 == 50:
                say(f"{len(found)} relatives")
            if time.perf_counter() - BEGAN > DRAW_S and len(found) > 2 * ASIDE:
                break
        pool.terminate()
    os.environ.pop("JAX_PLATFORMS")
    if before is not None:
        os.environ["JAX_PLATFORMS"] = before
    return found


def _one(number: int) -> Relative | None:
    """A relative, or None where some number of it is none or most of its lessons lead out of its reach."""
    mujoco_cpu.THREADS = 1
    rng = generator_for(number, "relative")
    found = in_slots(relative(rng), Teach(STRETCHES, 12, STRETCHES), rng)
    found = jax.tree.map(np.asarray, found)
    fine = all(np.isfinite(x).all() for x in jax.tree.leaves(found)) and found.lessons.counts.mean() > 0.5
    return found if fine else None


def _stacked(found: list[Relative]) -> Relative:
    return jax.tree.map(lambda *x: np.stack(x), *found)


class Look:
    """The loss about relatives that were not met, on the way; what comes out is kept each time."""

    def __init__(self, aside: Relative, folder: Path) -> None:
        self._aside, self._folder, self._last = jax.tree.map(jnp.asarray, aside), folder, 0.0
        self._rows = list[dict[str, Any]]()
        self._loss = jax.jit(_losses)

    def __call__(self, share: float, steps: int, loss: float, ancestor: Ancestor) -> None:
        if time.perf_counter() - self._last < LOOK_S and share < 1:
            return
        errors = np.asarray(self._loss(ancestor, self._aside))
        row = {
            "share": share,
            "steps": steps,
            "loss": loss,
            "aside": float(np.median(errors)),
            "worst": float(errors.max()),
        }
        self._rows.append(row | {"seconds": time.perf_counter() - BEGAN})
        say({k: round(v, 5) for k, v in row.items()})
        host = jax.tree.map(lambda w: np.asarray(w) if isinstance(w, jnp.ndarray) else w, ancestor)
        said = {"relatives": RELATIVES, "stretches": STRETCHES, "seconds": self._rows[-1]["seconds"]}
        save_ancestor(self._folder, host, said | {"device": str(jax.devices()[0])})
        (self._folder / "looks.json").write_text(json.dumps(self._rows, indent=1))
        self._last = time.perf_counter()


def _losses(ancestor: Ancestor, aside: Relative) -> jax.Array:
    robots = aside._replace(lessons=())
    one = lambda robot, piece: foretelling_loss(ancestor, robot, Lessons(*piece), PERIOD_S)  # noqa: E731
    return jax.vmap(one)(robots, tuple(aside.lessons))


def say(what: Any) -> None:
    print(f"[{time.perf_counter() - BEGAN:6.0f} s] {what}", flush=True)


if __name__ == "__main__":
    main()
