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

import jax
import numpy as np
import tyro
from scipy.stats import spearmanr

from clone2d_lasting import lasting
from clone2d_scenes import Batch, drawn, rolled, sizes, taught
from frame import Benchmark, console, finish, start
from gapless.nets.weights import load_weights
from gapless.simulators.planar.baselines import ObjectTransformer, VertexGraph
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.scene import Motion
from gapless.simulators.planar.scenes import Scenes
from gapless.simulators.planar.stored import members
from pusher import pusher

RIVALS = Path(__file__).parent / "rivals2d"
"""Weights of the two plain networks, taught by `clone2d_rivals.py`."""
STEPS = 100
AWAY_M = 1e-4
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


def moved_away(batch: Batch) -> Batch:
    """Every free body 1e-4 m off, in some direction."""
    scene, motion = batch
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, motion.angle.shape)
    off = AWAY_M * np.stack([np.cos(angle), np.sin(angle)], -1) * np.asarray(scene.free)[..., None]
    return scene, motion._replace(position=motion.position + off.astype(np.float32))


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


if __name__ == "__main__":
    start(main)
