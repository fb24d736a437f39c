"""Does the clone move as Box2D does? Held-out scenes, outlines with more corners and more bodies than it was taught, beside two
plain networks taught the same lessons, and Box2D started 1e-4 m away.

.venv/bin/python benchmarks/clone2d.py

`position_pct_100`: the median body's distance from where Box2D has it after 100 steps of 1/60 s, in % of its diameter, over
falling scenes and tables with up to 10 bodies. `pile_vs_chaos`: the mean distance in piles of 50 over that of Box2D from
itself. `disagreement_rank`: whether members disagree where they are wrong. The others are of 1,000 steps: worlds that blow
up (a body faster than 100 m/s, or outside its walls), how far bodies at rest drift (99th percentile, % of diameter), how
deep outlines overlap on average where they touch (% of the smaller diameter; skins, which Box2D lets overlap, do not count;
beside it the 99th percentile, which is of impacts, and Box2D's own), momentum lost without walls (share of all momentum
there is), and the largest gain of energy in falling scenes that nobody pushes (share of the energy at the start).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import tyro
from scipy.stats import spearmanr

from frame import Benchmark, console, finish, start
from gapless.core import generator_for
from gapless.nets.weights import load_weights
from gapless.simulators.planar.baselines import ObjectTransformer, VertexGraph
from gapless.simulators.planar.clone import Clone, at, no_push, unroll
from gapless.simulators.planar.contacts import find
from gapless.simulators.planar.geometry import SKIN_M
from gapless.simulators.planar.scene import Motion, Scene, masses
from gapless.simulators.planar.scenes import WALL_M, Scenes, draw
from gapless.simulators.planar.stored import members
from gapless.simulators.planar.teacher import Box2DWorld
from pusher import pusher

RIVALS = Path(__file__).parent / "rivals2d"
"""Weights of the two plain networks, taught by `clone2d_rivals.py`."""
DT_S, STEPS, LONG = 1 / 60, 100, 1000
AWAY_M = 1e-4
FASTEST = 100.0
BARS = {
    "position_pct_100": "≤ 5", "pile_vs_chaos": "≤ 2", "blowups": "0", "rest_drift_pct": "≤ 1", "penetration_pct": "≤ 1",
    "momentum_error": "≤ 1e-5", "energy_gain": "≤ 0.01", "pusher_return_kept": "≥ 0.9",
}  # fmt: skip
SCENES = {
    "fall": Scenes("fall", (1, 10), corners=(3, 8)),
    "table": Scenes("table", (1, 10), corners=(3, 8)),
    "20 bodies": Scenes("fall", (20, 20), corners=(3, 8)),
    "pile of 50": Scenes("fall", (50, 50), corners=(3, 8)),
}


@dataclass(frozen=True)
class Clone2D(Benchmark):
    """A clone against its teacher."""

    scenes: int = 60
    """Scenes of each kind; piles are a fifth of that."""
    seed: int = 0
    """Of the scenes; those of the lessons are others."""
    pucks: int = 5
    """Hidden pucks that a pusher is trained for; see pusher.py. With 0, none is."""
    weights: Path | None = None
    """Folder of another clone than the package's."""


def main() -> None:
    options = tyro.cli(Clone2D, description=__doc__)
    count = 8 if options.quick else options.scenes
    clones = members() if options.weights is None else members(options.weights)
    models: dict[str, Any] = {"contacts (ours)": clones[0], **rivals()}
    if len(models) == 1:
        console.print(
            f"The plain networks are left out: teach them first with clone2d_rivals.py, which fills {RIVALS}."
        )
    rows, figures = [], {}
    for name, recipe in SCENES.items():
        many = max(2, count // 5) if "pile" in name else count
        batch = drawn(recipe, many, options.seed, name)
        truth, chaos = taught(batch, STEPS), taught(moved_away(batch), STEPS)
        rows.append(compared("Box2D, 1e-4 m away", name, batch, chaos, truth))
        rows += [compared(model, name, batch, rolled(m, batch, STEPS), truth) for model, m in models.items()]
    ours = {r["scenes"]: r for r in rows if "ours" in r["model"]}
    both = np.concatenate([ours["fall"].pop("errors"), ours["table"].pop("errors")])
    figures["position_pct_100"] = float(np.median(both))
    figures["position_pct_100_mean"] = float(np.mean(both))
    pile = {r["model"]: r["mean %"] for r in rows if r["scenes"] == "pile of 50"}
    figures["pile_vs_chaos"] = pile["contacts (ours)"] / pile["Box2D, 1e-4 m away"]
    figures["disagreement_rank"] = known_doubt(clones, drawn(SCENES["fall"], count, options.seed, "doubt"))
    figures |= lasting(clones[0], max(4, count // 5), options.seed)
    if options.pucks:
        figures |= pusher(options, options.weights, 1 if options.quick else options.pucks)[0]
    for row in rows:
        row.pop("errors", None)
    finish("clone2d", options, figures, rows, BARS)


def rivals() -> dict[str, Any]:
    """The plain networks, where they have been taught."""
    kinds = {"graph of vertices": (VertexGraph, "vertices"), "object transformer": (ObjectTransformer, "transformer")}
    files = {name: (kind, RIVALS / f"{file}.safetensors") for name, (kind, file) in kinds.items()}
    return {name: load_weights(file, kind(jax.random.key(0))) for name, (kind, file) in files.items() if file.is_file()}


Batch = tuple[Scene, Motion]


def drawn(recipe: Scenes, count: int, seed: int, name: str) -> Batch:
    """Scenes that no lesson has shown, one after the other."""
    rng = generator_for(seed, "clone2d", name)
    found = [draw(recipe, rng) for _ in range(count)]
    return stacked([s for s, _ in found]), stacked([m for _, m in found])


def picked(batch: Any, which: int) -> Any:
    """One scene of many."""
    return jax.tree.map(lambda x: x[which], batch)


def stacked(rows: list[Any]) -> Any:
    return jax.tree.map(lambda *x: np.stack(x), *rows)


def moved_away(batch: Batch) -> Batch:
    """Every free body 1e-4 m off, in some direction."""
    scene, motion = batch
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, motion.angle.shape)
    off = AWAY_M * np.stack([np.cos(angle), np.sin(angle)], -1) * np.asarray(scene.free)[..., None]
    return scene, motion._replace(position=motion.position + off.astype(np.float32))


def taught(batch: Batch, steps: int) -> Motion:
    """What Box2D does: frames (scene, step, body, …)."""
    count = len(batch[1].angle)
    return stacked([stacked(_course(picked(batch[0], k), picked(batch[1], k), steps)) for k in range(count)])


def _course(scene: Scene, motion: Motion, steps: int) -> list[Motion]:
    world = Box2DWorld(scene, motion)
    return [world.step(DT_S) for _ in range(steps)]


@eqx.filter_jit
def frames(model: Any, scene: Scene, motion: Motion, steps: int) -> Motion:
    """What a network does, left on its device: frames (scene, step, body, …)."""

    def one(scene: Scene, motion: Motion) -> Motion:
        pushes = jax.tree.map(lambda x: jnp.zeros((steps, *x.shape)), no_push(scene))
        return unroll(model, scene, at(scene, motion), pushes, DT_S)[1]

    return jax.vmap(one)(scene, motion)


def rolled(model: Any, batch: Batch, steps: int) -> Motion:
    """The same as arrays of NumPy."""
    scene, motion = jax.tree.map(jnp.asarray, batch)
    return jax.tree.map(np.asarray, frames(model, scene, motion, steps))


def sizes(scene: Scene) -> np.ndarray:
    """Diameters of bodies of one part each."""
    return 2 * (np.linalg.norm(np.asarray(scene.corners), axis=-1).max(-1) + np.asarray(scene.radius))


def compared(model: str, scenes: str, batch: Batch, found: Motion, truth: Motion) -> dict[str, Any]:
    scene, _ = batch
    off = np.linalg.norm(found.position[:, -1] - truth.position[:, -1], axis=-1)
    errors = (100 * off / np.maximum(sizes(scene), 1e-6))[np.asarray(scene.free)]
    errors = np.nan_to_num(errors, nan=1e6, posinf=1e6)
    return {
        "model": model, "scenes": scenes, "count": len(off), "median %": float(np.median(errors)),
        "mean %": float(np.mean(np.minimum(errors, 1e4))), "within 5 %": float(np.mean(errors < 5)), "errors": errors,
    }  # fmt: skip


def known_doubt(clones: list[Clone], batch: Batch) -> float:
    """Rank correlation, over bodies, of how far members end up from each other and how far their middle is from the truth."""
    if len(clones) < 2:
        return 0.0
    ends = np.stack([rolled(clone, batch, STEPS).position[:, -1] for clone in clones])
    truth, free = taught(batch, STEPS).position[:, -1], np.asarray(batch[0].free)
    apart = np.sqrt(((ends - ends.mean(0)) ** 2).sum(-1).mean(0))
    off = np.linalg.norm(np.median(ends, 0) - truth, axis=-1)
    return float(spearmanr(apart[free], off[free]).statistic)  # pyright: ignore[reportAttributeAccessIssue]


def lasting(clone: Clone, count: int, seed: int) -> dict[str, float]:
    """What must hold for 1,000 steps."""
    falling = drawn(Scenes("fall", (1, 10), corners=(3, 8)), count, seed, "long")
    course, teacher = rolled(clone, falling, LONG), taught(falling, LONG)
    overlap, overlap_box2d = _overlap(falling[0], course), _overlap(falling[0], teacher)
    loose = drawn(Scenes("fall", (5, 10), walls=False), count, seed, "loose")
    loose = loose[0]._replace(gravity=np.zeros_like(loose[0].gravity)), gathered(loose[1])
    return {
        "blowups": float(sum(_blown(*picked((falling[0], course), k)) for k in range(count))),
        "rest_drift_pct": _drift(clone, falling),
        "penetration_pct": overlap[0],
        "penetration_pct_99": overlap[1],
        "penetration_pct_99_box2d": overlap_box2d[1],
        "momentum_error": _momentum(clone, loose),
        "energy_gain": _energy(falling, course),
        "energy_gain_box2d": _energy(falling, teacher),
    }  # fmt: skip


def gathered(motion: Motion) -> Motion:
    """All bodies fly at the middle, so that they meet."""
    away = np.linalg.norm(motion.position, axis=-1, keepdims=True)
    return motion._replace(velocity=(-2.0 * motion.position / np.maximum(away, 1e-3)).astype(np.float32))


def _blown(scene: Scene, course: Motion) -> bool:
    free = np.asarray(scene.free)
    place, speed = course.position[:, free], course.velocity[:, free]
    walls = np.abs(course.position[0, ~free & (np.asarray(scene.count) > 0)]).max(0)
    return not np.all(np.isfinite(speed)) or np.abs(speed).max() > FASTEST or bool(np.any(np.abs(place) > walls))


def _drift(clone: Clone, batch: Batch) -> float:
    """From where Box2D has come to rest, how far the clone lets go what Box2D holds."""
    scene, _ = batch
    rest = jax.tree.map(lambda x: x[:, -1], taught(batch, 600))
    later = jax.tree.map(lambda x: x[:, -1], taught((scene, rest), LONG))
    found = rolled(clone, (scene, _single(rest)), LONG)
    size = np.maximum(sizes(scene), 1e-6)
    still = np.asarray(scene.free) & (np.linalg.norm(later.position - rest.position, axis=-1) / size < 1e-3)
    moved = 100 * np.linalg.norm(found.position[:, -1] - rest.position, axis=-1) / size
    return float(np.quantile(moved[still], 0.99)) if still.any() else 0.0


def _single(motion: Motion) -> Motion:
    return jax.tree.map(lambda x: np.asarray(x, np.float32), motion)


def _overlap(scene: Scene, course: Motion) -> tuple[float, float]:
    """Mean and 99th percentile of the depth of the outlines themselves where parts touch."""
    some = jax.tree.map(lambda x: jnp.asarray(x[:, ::20], jnp.float32), course)
    found = jax.jit(jax.vmap(lambda s, m: jax.vmap(lambda one: find(s, one))(m)))(
        jax.tree.map(jnp.asarray, scene), some
    )
    pair, touching = np.asarray(found.pair), np.asarray(found.touching)
    rows = np.arange(len(pair))[:, None, None, None]
    skin = np.where(np.asarray(scene.count)[rows, pair] > 1, SKIN_M, 0.0).sum(-1)
    size = sizes(scene)[rows, pair].min(-1)
    depth = np.maximum(-np.asarray(found.separation) - skin, 0.0) / np.maximum(size, 1e-6)
    if not touching.any():
        return 0.0, 0.0
    return float(100 * depth[touching].mean()), float(100 * np.quantile(depth[touching], 0.99))


def _momentum(clone: Clone, batch: Batch) -> float:
    scene, motion = batch
    course = rolled(clone, batch, LONG)
    kg = np.asarray(jax.vmap(masses)(jax.tree.map(jnp.asarray, scene)).kg, np.float64)
    total = lambda velocity: (kg[..., None] * velocity.astype(np.float64)).sum(-2)  # noqa: E731
    lost = np.linalg.norm(total(course.velocity[:, -1]) - total(motion.velocity), axis=-1)
    return float((lost / (kg * np.linalg.norm(motion.velocity, axis=-1)).sum(-1)).max())


def _energy(batch: Batch, course: Motion) -> float:
    """The largest energy above the start's."""
    scene, motion = batch
    first = _energies(scene, jax.tree.map(lambda x: x[:, None], motion))
    return float(np.max(np.maximum((_energies(scene, course).max(1) - first[:, 0]) / first[:, 0], 0.0)))


def _energies(scene: Scene, course: Motion) -> np.ndarray:
    """Of all free bodies, (scene, step), above the floor."""
    mass = jax.vmap(masses)(jax.tree.map(jnp.asarray, scene))
    free = np.asarray(scene.free)
    kg, inertia = (np.asarray(m, np.float64) * free for m in (mass.kg, mass.inertia))
    floor = np.asarray(course.position[:, :1, :, 1]).min(-1, keepdims=True) + WALL_M / 2
    moving = 0.5 * kg[:, None] * (course.velocity**2).sum(-1) + 0.5 * inertia[:, None] * course.spin**2
    return (moving + 9.81 * kg[:, None] * (course.position[..., 1] - floor)).sum(-1)


if __name__ == "__main__":
    start(main)
