"""Does a policy that learned to push in a cloned world keep its return in Box2D?

.venv/bin/python benchmarks/pusher.py

Each seed hides a puck, drawn from all that is plausible. A few seconds of clumsy pushing in Box2D are watched, with a camera's
noise, and identified through the clone, whose parameters are the puck's embedding. The policy is trained by `train` in the clone,
over that belief and every member of the ensemble, and never meets Box2D before it is judged there. Both returns are means over
the same starts. `pusher_return_kept`: the return in Box2D with the hidden puck / that in the model over the belief, all seeds
together. Its mass cannot be told and does not matter: what a body that does not yield pushes moves
alike whatever it weighs.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import tyro

from frame import Benchmark, Cells, finish
from gapless.core import Belief, Gaussian, Log, Params, Signals, generator_for, key_for, on_one_clock, prior_belief
from gapless.learn import Identify, identify
from gapless.simulators import Rollout, logs_of
from gapless.simulators.planar.box2d_robot import Box2DRobot
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.robot import CloneRobot, over_members
from gapless.simulators.planar.stored import SHIPPED, members
from gapless.simulators.planar.tabletop import Tabletop
from gapless.simulators.planar.things import Thing, pusher_table
from gapless.tasks import Push
from gapless.train import Ppo, Train, Trained, train

BARS = {"pusher_return_kept": "≥ 0.9"}
TASK = Push()
TABLE = pusher_table(Thing("puck"))
WATCHED, WATCHED_S = 4, 2.5
"""Clumsy pushes, and how long each is."""
SEEN_M = 0.002
"""Error of what is watched, m and rad: a camera's."""
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
    belief = believed(robot, watched(truth, seed), seed)
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


def watched(truth: Params, seed: int) -> list[Log]:
    """Clumsy pushes in Box2D: ahead, and a little to this side or that."""
    rng, rows = generator_for(seed, "pusher", "watched"), round(WATCHED_S / TABLE.interface.period_s) + 1
    robot, start = Box2DRobot(TABLE, WATCHED), TASK.start(key_for(seed, "watched"), WATCHED)
    sent = np.repeat(rng.uniform([-0.6, -0.5], [1.5, 0.5], (rows // 6 + 1, WATCHED, 2)), 6, axis=0)[:rows]
    sent[: rows // 3, :, 0] = np.abs(sent[: rows // 3, :, 0])
    state, seen, _ = robot.reset(robot.init(), np.ones(WATCHED, bool), _rows(truth, WATCHED), start, None)
    frames = [_copied(seen)]
    for command in sent[:-1]:
        state, seen, _ = robot.step(state, {"pusher.vx": command[:, :1], "pusher.vy": command[:, 1:]}, None)
        frames.append(_copied(seen))
    clock = np.arange(rows) * TABLE.interface.period_s
    return [
        on_one_clock(
            TABLE.interface, {"pusher.vx": sent[:, k, :1], "pusher.vy": sent[:, k, 1:]},
            {name: np.stack([f[name][k] for f in frames]) + rng.normal(0, SEEN_M, (rows, 1)) for name in frames[0]}, clock,
        )
        for k in range(WATCHED)
    ]  # fmt: skip


def believed(robot: CloneRobot, logs: list[Log], seed: int) -> Gaussian:
    """What those pushes say about the puck."""
    return identify(
        robot, prior_belief(TABLE.parameters), logs[:-1], logs[-1:], Identify(method="least-squares"), seed
    ).belief


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


def _error(belief: Gaussian, name: str, truth: Any) -> float:
    return abs(float(belief.mean()[name]) / float(truth) - 1)


def _rows(params: Params, worlds: int) -> Params:
    return {k: np.full(worlds, v) for k, v in params.items()}


def _copied(signals: Signals) -> dict[str, np.ndarray]:
    return {k: np.array(v, np.float64) for k, v in signals.items()}


if __name__ == "__main__":
    main()
