"""What ten frames with contact say about a body's friction and mass: scenes in Box2D with polygons that nobody was taught with.

.venv/bin/python benchmarks/prompt.py

Bodies fall between walls or slide on a table; known strings pull about half of them. In each scene one body is asked about, as
soon as it has touched something during ten steps, from all frames until then; scenes in which none does are left out.
Outlines, pulls and the walls' material are known, every free body's mass, inertia, friction, restitution and drag are not. An
error is that of the mean of the belief (of logarithms), relative to the truth, and medians go over all bodies asked about, also
those that stick and never slide, and those that no string pulls. coverage90 counts friction and mass; the table has the others.
"""

import functools
import hashlib
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import tyro

from frame import Benchmark, Cells, finish, start
from gapless.learn.clone.honesty import WITHIN90, Case, asked, case, error
from gapless.learn.clone.lessons_of_matter import Watched, Watching, watched
from gapless.learn.clone.observed import touches, until
from gapless.learn.clone.prompt import Prompter, prompt
from gapless.learn.clone.refine import Refining
from gapless.learn.clone.stored_prompter import FILES as PROMPTERS
from gapless.learn.clone.stored_prompter import SHIPPED as PROMPTER
from gapless.learn.clone.stored_prompter import load_prompter
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.matter import NAMED
from gapless.simulators.planar.stored import FILES as CLONES
from gapless.simulators.planar.stored import SHIPPED as CLONE
from gapless.simulators.planar.stored import members

UNSEEN = (7, 8)
"""Corners of polygons; those that the encoder and the clone were taught with have fewer."""
EARLY = 10
"""In one scene out of so many, what is believed before the first contact is looked at, too."""
WAYS = ("prior", "encoder", "refined")
ASKED = NAMED[:5]
BARS = {
    "friction_error": "≤ 0.15",
    "mass_error": "≤ 0.15",
    "coverage90": "0.85–0.95",
    "friction_moved_before_contact": "0",
}


@dataclass(frozen=True)
class Prompting(Benchmark):
    """Friction and mass from ten frames with contact."""

    scenes: int = 60
    """Of each kind."""
    first: int = 0
    """Number of the first."""


def main() -> None:
    options = tyro.cli(Prompting, description=__doc__)
    count = 4 if options.quick else options.scenes
    weights = hashlib.sha256(
        b"".join(f.read_bytes() for f in (CLONES.weights(CLONE), PROMPTERS.weights(PROMPTER)))
    ).hexdigest()
    numbers = range(options.first, options.first + count)
    settings = [{"kind": kind, "scene": n, "weights": weights} for n in numbers for kind in ("fall", "table")]
    found = Cells("prompt", options).run(cell, settings)
    bodies = [body for scene in found for body in scene["bodies"]]
    rows = [_row(title, part, way) for title, part in _split(bodies).items() if part for way in range(len(WAYS))]
    finish("prompt", options, _figures(found, bodies), rows, BARS)


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """One body of one scene."""
    scene = watched(Watching(corners=UNSEEN), setting["kind"], setting["scene"], "benchmark")
    prompter, clone, recipe = taught()
    chosen = case(scene, setting["scene"])
    bodies = [] if chosen is None else [{"kind": setting["kind"], **_asked(prompter, clone, chosen, recipe)}]
    early = setting["scene"] % EARLY == 0
    return {"moved": _moved_before_contact(prompter, clone, scene, recipe) if early else 0.0, "bodies": bodies}


@functools.cache
def taught() -> tuple[Prompter, Clone, Refining]:
    """The prompter and the first clone that come with the package."""
    return load_prompter(), members()[0], Refining()


def _asked(prompter: Prompter, clone: Clone, chosen: Case, recipe: Refining) -> dict[str, Any]:
    found = error(chosen, asked(prompter, clone, chosen, recipe))
    pulled = np.asarray(chosen.watched.observed.push.force)[:, chosen.body].any()
    return {
        "pulled": bool(pulled),
        "steps": chosen.steps,
        "off": found.off.tolist(),
        "deviation": found.deviation.tolist(),
    }


def _moved_before_contact(prompter: Prompter, clone: Clone, scene: Watched, recipe: Refining) -> float:
    """The most that friction or restitution of any body differs from the prior before its first contact."""
    touched = np.asarray(touches(scene.scene, scene.observed))
    free = np.flatnonzero(np.asarray(scene.scene.free))
    early = int(np.argmax(touched[:, free].any(1))) if touched[:, free].any() else len(touched)
    found = jax.device_get(prompt(prompter, clone, scene.scene, until(scene.observed, early), scene.given, recipe))
    own = np.sqrt(np.diag(found.refined.covariance)).reshape(found.prior.mean.shape)
    off = [found.refined.mean - found.prior.mean, found.encoded.mean - found.prior.mean, own - found.prior.deviation]
    return float(np.max(np.abs([o[free][:, 2:4] for o in off])))


def _split(bodies: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """All bodies, and those of each kind."""
    parts = {"all": bodies}
    for kind in ("fall", "table"):
        for pulled, words in ((True, "pulled"), (False, "not pulled")):
            parts[f"{kind}, {words}"] = [b for b in bodies if b["kind"] == kind and b["pulled"] == pulled]
    return parts


def _row(title: str, bodies: list[dict[str, Any]], way: int) -> dict[str, Any]:
    row: dict[str, Any] = {"bodies": f"{title} ({len(bodies)})", "way": WAYS[way]}
    for name in ASKED:
        row[f"{name} error"] = _error(bodies, way, name)
        row[f"{name} within 90 %"] = _coverage(bodies, way, (name,))
    return row


def _figures(found: list[dict[str, Any]], bodies: list[dict[str, Any]]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for way, said in ((2, ""), (1, "encoder_"), (0, "prior_")):
        figures |= {f"{said}{name}_error": _error(bodies, way, name) for name in ("friction", "mass")}
        figures[f"{said}coverage90"] = _coverage(bodies, way, ("friction", "mass"))
    moved = max(scene["moved"] for scene in found)
    return figures | {"friction_moved_before_contact": moved, "scenes": len(found), "bodies": len(bodies)}


def _error(bodies: list[dict[str, Any]], way: int, name: str) -> float:
    """Median relative error; of the coordinate of restitution, which is a logit, the median distance."""
    off = _column(bodies, "off", way, name)
    return float(np.median(np.abs(off if name == "restitution" else np.expm1(off)))) if len(off) else float("nan")


def _coverage(bodies: list[dict[str, Any]], way: int, names: tuple[str, ...]) -> float:
    inside = [np.abs(_column(bodies, "off", way, n)) < WITHIN90 * _column(bodies, "deviation", way, n) for n in names]
    return float(np.concatenate(inside).mean()) if sum(map(len, inside)) else float("nan")


def _column(bodies: list[dict[str, Any]], what: str, way: int, name: str) -> np.ndarray:
    column = np.array([b[what][way][NAMED.index(name)] for b in bodies], float)
    return column[np.isfinite(column)]


if __name__ == "__main__":
    start(main)
