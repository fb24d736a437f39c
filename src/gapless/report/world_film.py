"""A film of a planar world: what happened, filled, and what an ensemble foresaw, as a tint as strong as its members agree."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gapless.core import GaplessError
from gapless.simulators.planar.raster import Paint, View, deepest, filled, lined, picture
from gapless.simulators.planar.scene import Motion, Scene, sized

from .film import PATIENCE_S, encoding, find_encoder

WIDTH, TALLEST = 640, 960
"""Pixels of a frame."""
RATE = 30
"""Frames in a second of film, which is a second of the world."""
GROUND, WALL, TRUTH = (0.106, 0.122, 0.145), (0.2, 0.225, 0.26), (0.86, 0.88, 0.9)
FORESEEN = jnp.array([0.3, 0.66, 1.0])
TINT, LINE = 0.55, 0.95
"""How much of the colour is left where all members agree: inside of a body, and on its edge."""
LINE_PX = 2.0
MARGIN_M = 0.1
BATCH = 8
"""Frames drawn at once."""
Tell = Callable[[float], None]
"""Is told the share of the film that is drawn."""


def shoot_world(
    scene: Scene, truth: Motion, futures: Motion, dt_s: float, out: Path, tell: Tell = lambda share: None
) -> dict[str, Any]:
    """Write the film of a motion (step first) and of what was foreseen (member first, then step), and return its figures."""
    every = max(1, round(1 / (RATE * dt_s)))
    view, steps = framing(scene, truth), truth.position.shape[0]
    scene, truth, futures = jax.tree.map(jnp.asarray, (scene, truth, futures))
    shown = jnp.arange(0, steps, every)
    draw = jax.jit(lambda at: jax.lax.map(lambda k: frame(scene, *_at(truth, futures, k), view), at))
    command = encoding(find_encoder(), out, (view.width, view.height), RATE)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as encoder:
        try:
            for first in range(0, len(shown), BATCH):
                some = shown[first : first + BATCH]
                drawn = draw(jnp.pad(some, (0, BATCH - len(some)), mode="edge"))[: len(some)]
                encoder.stdin.write(np.asarray(drawn).tobytes())  # pyright: ignore[reportOptionalMemberAccess]
                tell((first + len(some)) / len(shown))
        except BrokenPipeError:
            pass  # ffmpeg has given up, and says below why
        try:
            _, said = encoder.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            encoder.kill()
            raise GaplessError(f"ffmpeg did not finish {out} within {PATIENCE_S:.0f} s. Film fewer seconds.") from None
    if encoder.returncode:
        raise GaplessError(f"ffmpeg could not write {out}: {said.decode(errors='replace').strip()[-200:]}")
    return {"frames": len(shown), "seconds": len(shown) / RATE, "members": futures.position.shape[0]}


def frame(scene: Scene, truth: Motion, futures: Motion, view: View) -> Array:
    """One frame, as bytes: height, width, colour."""
    moves = scene.free[scene.owner] & (scene.count > 0)
    paint = Paint(jnp.array(GROUND), jnp.where(moves[:, None], jnp.array(TRUTH), jnp.array(WALL)))
    image = picture(scene, truth, paint, view)
    inside = jax.lax.map(lambda motion: deepest(scene, motion, view), futures)
    for covered, strong in ((filled(inside, view), TINT), (lined(inside, view, LINE_PX), LINE)):
        agreed = strong * jnp.mean(covered, 0)[..., None]
        image = image + agreed * (FORESEEN - image)
    return jnp.round(255 * jnp.clip(image, 0, 1)).astype(jnp.uint8)


def framing(scene: Scene, truth: Motion) -> View:
    """A view of all that free bodies reach, with even numbers of pixels, which the film's format wants."""
    corners, count, radius = map(np.asarray, sized(scene))
    reach = float(
        np.where(count > 0, np.linalg.norm(corners, axis=-1).max(-1) + radius, 0.0)[_free(scene)].max(initial=0.1)
    )
    bodies = np.unique(np.asarray(scene.owner)[_free(scene)])
    if not len(bodies):
        raise GaplessError("nothing in this scene is free to move. Film one with bodies.")
    places = np.asarray(truth.position)[:, bodies].reshape(-1, 2)
    low, high = places.min(0) - reach - MARGIN_M, places.max(0) + reach + MARGIN_M
    height = min(TALLEST, 2 * round(WIDTH * float((high - low)[1] / (high - low)[0]) / 2))
    wide_m = float(max((high - low)[0], (high - low)[1] * WIDTH / height))
    return View(WIDTH, height, (float((low + high)[0] / 2), float((low + high)[1] / 2)), wide_m)


def _free(scene: Scene) -> Float[np.ndarray, " part"]:
    return np.asarray(scene.free)[np.asarray(scene.owner)] & (np.asarray(scene.count) > 0)


def _at(truth: Motion, futures: Motion, step: Array) -> tuple[Motion, Motion]:
    return jax.tree.map(lambda x: x[step], truth), jax.tree.map(lambda x: x[:, step], futures)
