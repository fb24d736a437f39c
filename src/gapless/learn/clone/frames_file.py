"""Watched frames as one NPZ file: outlines, motion, pushes, and what is known, with "not a number" for what is not."""

import io
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from gapless.core import GaplessError
from gapless.core.artifact import write_bytes
from gapless.logs.guard import one_sentence
from gapless.simulators.planar.clone import Push
from gapless.simulators.planar.matter import WIDTH
from gapless.simulators.planar.scene import CORNERS, Motion, Scene

from .observed import Observed

LARGEST = 2**24
"""Numbers in one array at most."""
MOST_PARTS = 256
"""Parts of one scene at most: every pair of them is looked at."""
SCENE = {
    "corners": "part corner 2", "count": "part", "radius": "part", "owner": "part", "z": "part embedding", "free": "body",
    "gravity": "2", "table": "",
}  # fmt: skip
MOTION = {"position": "frame body 2", "angle": "frame body", "velocity": "frame body 2", "spin": "frame body"}
PUSH = {"force": "step body 2", "torque": "step body", "commanded": "step body 3"}
KINDS = {"count": jnp.int32, "owner": jnp.int32, "free": jnp.bool_}
"""What arrays hold that do not hold numbers of single precision."""


def save_frames(path: Path, scene: Scene, observed: Observed, given: Bool[Array, "part embedding"]) -> None:
    """Write a file that `read_frames` reads."""
    known = scene._replace(z=np.where(np.asarray(given), np.asarray(scene.z), np.nan))  # pyright: ignore[reportArgumentType]
    steps = int(np.asarray(observed.seen).sum())
    arrays = known._asdict() | {k: v[: steps + 1] for k, v in observed.motion._asdict().items()}
    arrays |= {k: v[:steps] for k, v in observed.push._asdict().items()} | {"dt_s": observed.dt_s}
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **{k: np.asarray(v) for k, v in arrays.items()})
    write_bytes(path, file.getvalue())


def read_frames(path: Path) -> tuple[Scene, Observed, Bool[Array, "part embedding"]]:
    """The scene, what was seen of it, and which coordinates of its z are known: those that are numbers."""
    with one_sentence(path, "NPZ"), np.load(path, allow_pickle=False) as file:
        arrays = {name: _array(path, file, name) for name in (*SCENE, *MOTION, *PUSH, "dt_s")}
    _check(path, arrays)
    z = arrays["z"]
    given = jnp.asarray(np.isfinite(z))
    arrays["z"] = np.where(np.isfinite(z), z, 0.0)
    made = {k: jnp.asarray(v, KINDS.get(k, jnp.float32)) for k, v in arrays.items()}
    observed = Observed(
        Motion(*(made[k] for k in MOTION)),
        Push(*(made[k] for k in PUSH)),
        jnp.ones(len(arrays["force"]), bool),
        made["dt_s"],
    )
    return Scene(*(made[k] for k in SCENE)), observed, given


def _array(path: Path, file: Any, name: str) -> np.ndarray:
    if name not in file.files:
        raise GaplessError(
            f"{path} has no array {name!r} (it has: {', '.join(file.files)}). Write it with save_frames."
        )
    found = file[name]
    if found.dtype.kind not in "fiub" or found.size > LARGEST:
        raise GaplessError(
            f"array {name!r} of {path} holds {found.size} {found.dtype}; at most {LARGEST} numbers belong there."
        )
    return found


def _check(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Raise unless sizes agree, numbers are finite, and parts belong to bodies that are there."""
    size = {"2": 2, "3": 3, "corner": CORNERS, "embedding": WIDTH}
    for name, spelled in (SCENE | MOTION | PUSH | {"dt_s": ""}).items():
        shape, words = arrays[name].shape, spelled.split()
        if len(shape) != len(words) or any(size.setdefault(w, n) != n for w, n in zip(words, shape, strict=True)):
            raise GaplessError(
                f"array {name!r} of {path} has shape {shape}, and ({', '.join(words)}) is what fits with {size}."
            )
        if name != "z" and not np.all(np.isfinite(arrays[name])):
            raise GaplessError(f"array {name!r} of {path} holds what is not a finite number. Cut those frames off.")
    if size["frame"] != size["step"] + 1 or size["step"] < 1 or size["part"] > MOST_PARTS:
        raise GaplessError(f"{path} holds {size}; it needs one frame more than pushes, and {MOST_PARTS} parts at most.")
    owner, count = arrays["owner"], arrays["count"]
    if np.any((count > 0) & ((owner < 0) | (owner >= size["body"]))) or np.any((count < 0) | (count > CORNERS)):
        raise GaplessError(
            f"{path}: an owner is no body, or a part has more than {CORNERS} corners. Check owner and count."
        )
    if not 1e-4 <= float(arrays["dt_s"]) <= 0.1:
        raise GaplessError(f"{path}: frames are {float(arrays['dt_s']):g} s apart; 0.0001 to 0.1 s can be predicted.")
