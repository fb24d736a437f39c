"""Does a policy that learned to push in a cloned world keep its return in Box2D?

.venv/bin/python benchmarks/pusher.py

Each seed hides a puck, drawn from all that is plausible. One clumsy push in Box2D is watched, 97 frames of 1/60 s, and the scene
is prompted by them: the prompter that comes with the package says what the puck is made of, of which only the outline is known.
As in `prompt.py`, frames are without noise. The policy is trained by `train` in the clone, over that belief and every member of
the ensemble, and never meets Box2D before it is judged there. Both returns are means over the same starts.
`pusher_return_kept`: the return in Box2D with the hidden puck / that in the model over the belief, all seeds together. The
puck's mass cannot be told and does not matter: what a body that does not yield pushes moves alike whatever it weighs.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tyro

from frame import Benchmark, Cells, finish
from gapless.core import Belief, LogGaussian, Params, generator_for, key_for
from gapless.learn.clone.observed import Observed
from gapless.learn.clone.prior import given_of
from gapless.learn.clone.prompt import belief as belief_of
from gapless.learn.clone.prompt import prompt
from gapless.learn.clone.stored_prompter import load_prompter
from gapless.simulators import Rollout, logs_of
from gapless.simulators.planar.box2d_robot import Box2DRobot
from gapless.simulators.planar.clone import Clone, no_push
from gapless.simulators.planar.robot import CloneRobot, over_members
from gapless.simulators.planar.scene import Motion
from gapless.simulators.planar.stored import SHIPPED, members
from gapless.simulators.planar.tabletop import SUBSTEPS, Tabletop
from gapless.simulators.planar.teacher import Box2DWorld
from gapless.simulators.planar.things import Thing, pusher_table
from gapless.tasks import Push
from gapless.train import Ppo, Train, Trained, train

BARS = {"pusher_return_kept": "≥ 0.9"}
TASK = Push()
TABLE = pusher_table(Thing("puck"))
WATCHED = 96
"""Steps of the push that is watched: as many as the prompter was taught with."""
HELD = 6 * SUBSTEPS
"""Steps for which a clumsy hand keeps its velocity."""
EPISODES = 64
LONG, SHORT = Train(Ppo(budget=400_000), looks=8), Train(Ppo(budget=60_000), looks=2)


@dataclass(frozen=True)
class Pusher(Benchmark):
    """A pusher trained in the clone, in Box2D."""

    seeds: int = 5
    """Hidden pucks."""
    weights: Path | None = None
    """Folder of other clones than the package's."""


def main() -> None:
    options = tyro.cli(Pusher, description=__doc__)
    figures, rows = pusher(options, options.weights, 1 if options.quick else options.seeds)
    finish("pusher", options, figures, rows, BARS)


def pusher(options: Benchmark, weights: Path | None, seeds: int) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Figures and one row per seed."""
    folder = weights or SHIPPED
    # The weights decide, too, and are no code.
    files = hashlib.sha256(b"".join(f.read_bytes() for f in sorted(folder.iterdir()))).hexdigest()
    settings = [{"seed": k, "weights": str(folder), "files": files, "quick": options.quick} for k in range(seeds)]
    rows = Cells("pusher", options).run(_cell, settings)
    model, real = (float(np.mean([r[side] for r in rows])) for side in ("model", "box2d"))
    return {
        "pusher_return_kept": real / model,
        "pusher_return_kept_worst": min(r["kept"] for r in rows),
        "pusher_return_still": float(np.mean([r["still"] for r in rows])) / model,
        "pusher_passed": float(np.mean([r["passed"] for r in rows])),
    }, rows


def _cell(setting: dict[str, Any]) -> dict[str, Any]:
    return kept(members(Path(setting["weights"])), setting["seed"], SHORT if setting["quick"] else LONG)


def kept(clones: Sequence[Clone], seed: int, recipe: Train) -> dict[str, Any]:
    """Returns of one policy in the model that it was trained in and in Box2D, with what stands beside them."""
    truth = hidden(TABLE, seed)
    robot = CloneRobot(TABLE, clones)
    belief = believed(clones[0], watched(truth, seed))
    trained = train(robot, over_members(belief, robot), TASK, recipe, key_for(seed, "pusher"))
    model, real = returns(robot, trained, over_members(belief, robot), truth, seed)
    return {
        "seed": seed, "members": robot.members, **{k: float(v) for k, v in truth.items()},
        **{f"{k} error": _error(belief, k, v) for k, v in truth.items() if k in ("puck.friction", "puck.drag")},
        "steps": trained.steps, "model": model.mean, "box2d": real.mean, "kept": real.mean / model.mean,
        "still": idle(seed), "passed": real.passed,
    }  # fmt: skip


def hidden(table: Tabletop, seed: int) -> Params:
    """A puck that nobody who learns is told of, drawn from all that is plausible."""
    rng = generator_for(seed, "pusher", "truth")
    return {p.name: rng.uniform(p.low, p.high) for p in table.parameters}


def watched(truth: Params, seed: int) -> Observed:
    """A clumsy push in Box2D: ahead, and a little to this side or that."""
    rng = generator_for(seed, "pusher", "watched")
    speeds = np.repeat(rng.uniform([0.2, -0.3], [1.2, 0.3], (-(-WATCHED // HELD), 2)), HELD, axis=0)[:WATCHED]
    scene = TABLE.scene._replace(z=np.asarray(TABLE.embeddings(_rows(truth, 1))[0]))
    world = Box2DWorld(scene, _first(TABLE.motion(TASK.start(key_for(seed, "watched"), 1), 1)))
    frames, commanded = [_single(world.motion())], []
    for speed in speeds.astype(np.float32):
        commanded.append(TABLE.commanded(frames[-1], speed))
        frames.append(_single(world.step(TABLE.step_s, commanded=commanded[-1])))
    push = jax.tree.map(lambda x: jnp.broadcast_to(x, (WATCHED, *x.shape)), no_push(scene))
    return Observed(
        jax.tree.map(lambda *rows: jnp.stack(rows), *frames), push._replace(commanded=jnp.stack(commanded)),
        jnp.ones(WATCHED, bool), jnp.float32(TABLE.step_s),
    )  # fmt: skip


def believed(clone: Clone, seen: Observed) -> LogGaussian:
    """What those frames say about the puck."""
    scene = jax.tree.map(jnp.asarray, TABLE.scene)
    found = belief_of(scene, prompt(load_prompter(), clone, scene, seen, given_of(scene)))
    things = {f"body{part}": name for name, part in TABLE.parts.items()}
    names = tuple(f"{things[body]}.{name}" for body, name in (n.split(".") for n in found.names))
    return LogGaussian(names, found.centre, found.covariance, found.share)


@dataclass(frozen=True)
class Outcome:
    """Episodes of one policy."""

    mean: float
    passed: float


def returns(robot: CloneRobot, trained: Trained, belief: Belief, truth: Params, seed: int) -> tuple[Outcome, Outcome]:
    """In the model over the belief, and in Box2D with the truth, from the same starts."""
    drawn = {k: np.asarray(v, np.float64) for k, v in belief.sample(key_for(seed, "drawn"), EPISODES).items()}
    start, key = TASK.start(key_for(seed, "starts"), EPISODES), jax.random.key(seed)
    found = []
    for simulator, params in (
        (robot.with_worlds(EPISODES), drawn),
        (Box2DRobot(TABLE, EPISODES), _rows(truth, EPISODES)),
    ):
        episodes = Rollout(simulator, TASK).run(trained.policy, params, key, start)
        passed = np.mean([TASK.judge(log).passed for log in logs_of(episodes, simulator)])
        found.append(Outcome(float(episodes.returns.mean()), float(passed)))
    return found[0], found[1]


def idle(seed: int) -> float:
    """What a pusher gets that stays where it is."""
    start = {k: np.asarray(v) for k, v in TASK.start(key_for(seed, "starts"), EPISODES).items()}
    resting = {c.name: np.zeros((EPISODES, 1)) for c in TASK.measurements}
    resting |= {f"puck.{side}": start[f"puck_{side}.position"] for side in ("x", "y")}
    command = {c.name: np.zeros((EPISODES, 1)) for c in TASK.commands}
    return float(np.asarray(TASK.reward(resting, command, resting)).mean()) * TASK.seconds


def _error(belief: LogGaussian, name: str, truth: Any) -> float:
    return abs(float(belief.mean()[name]) / float(truth) - 1)


def _rows(params: Params, worlds: int) -> Params:
    return {k: np.full(worlds, v) for k, v in params.items()}


def _first(motion: Motion) -> Motion:
    return jax.tree.map(lambda x: np.asarray(x)[0], motion)


def _single(motion: Motion) -> Motion:
    return jax.tree.map(lambda x: np.asarray(x, np.float32), motion)


if __name__ == "__main__":
    main()
