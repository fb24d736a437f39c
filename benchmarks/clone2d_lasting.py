"""What must hold of a clone for 1,000 steps: nothing blows up, drifts, sinks in, or gains momentum or energy."""

import jax
import jax.numpy as jnp
import numpy as np

from clone2d_scenes import Batch, drawn, picked, rolled, sizes, taught
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.contacts import find
from gapless.simulators.planar.geometry import SKIN_M
from gapless.simulators.planar.scene import Motion, Scene, masses
from gapless.simulators.planar.scenes import WALL_M, Scenes

LONG = 1000
FASTEST = 100.0


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
