"""A film of the robot with its simulations as ghosts: drawn by MuJoCo without a screen, written as MP4 by ffmpeg."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mujoco
import numpy as np
from jaxtyping import Float

from gapless.core import Belief, GaplessError, Log
from gapless.simulators import MujocoSimulator

from .letters import lettered
from .stretches import STRETCH_S, take

WIDTH, HEIGHT = 720, 420
RATE = 25
"""Frames in a second of film."""
SPEED = 0.5
"""Seconds of the robot that a second of film shows."""
PATIENCE_S = 120.0
"""After which a film is given up."""
CAMERA = Path(__file__).with_name("camera.py")


@dataclass(frozen=True)
class Reel:
    """Motions on one clock, each a row of MuJoCo's qpos per frame, and how they are shown."""

    motions: Mapping[str, Float[np.ndarray, "frame position"]]
    share: Float[np.ndarray, " frame"]
    """How much of its stretch has passed, from 0 to 1."""
    panels: tuple[tuple[str, ...], ...]
    """Beside each other; in each, who is drawn whole, and then its ghosts."""
    titles: tuple[str, ...] = ()
    """Of each panel, in capital letters."""
    width: int = WIDTH
    """Of a panel."""


def shoot(simulator: MujocoSimulator, log: Log, belief: Belief, out: Path) -> dict[str, Any]:
    """Write the film of an episode, and return its figures."""
    find_encoder()
    taken = take(simulator, log, belief, SPEED / RATE)
    motions = {"robot": taken.robot, "nominal": taken.nominal, "identified": taken.identified}
    return develop(simulator.model, Reel(motions, taken.share, (tuple(motions),)), out)


def develop(model: mujoco.MjModel, reel: Reel, out: Path) -> dict[str, Any]:
    """Draw a reel, write it, and return its figures."""
    encoder, size = find_encoder(), (reel.width * len(reel.panels), HEIGHT)
    with TemporaryDirectory() as folder:
        binary, poses = Path(folder, "model.mjb"), Path(folder, "poses.npz")
        mujoco.mj_saveModel(model, str(binary), None)
        letters = lettered(reel.titles, size, reel.width)
        panels = np.array([" ".join(panel) for panel in reel.panels])
        np.savez(poses, share=reel.share, panels=panels, letters=letters, **reel.motions)
        platform = next((p for p in platforms() if _filmed(p, encoder, (binary, poses), size, out)), None)
    if platform is None:
        tried = ", ".join(p or "the default" for p in platforms())
        raise GaplessError(f"MuJoCo finds no way to draw without a screen here (tried {tried})")
    frames = len(reel.share)
    return {"frames": frames, "speed": SPEED, "stretch_s": STRETCH_S, "shown_s": frames / RATE * SPEED}


def platforms() -> tuple[str, ...]:
    """Values of MUJOCO_GL worth trying, the best first; the user's own choice is the only one."""
    chosen = os.environ.get("MUJOCO_GL")
    if chosen is not None:
        return (chosen,)
    return ("egl", "osmesa") if sys.platform == "linux" else ("",)


def find_encoder() -> str:
    """The path of an ffmpeg: the machine's, or the one that the extra `film` brings."""
    found = shutil.which("ffmpeg")
    if found is not None:
        return found
    if importlib.util.find_spec("imageio_ffmpeg") is None:
        raise GaplessError("there is no ffmpeg here; pip install 'gapless[film]' brings one")
    import imageio_ffmpeg

    return imageio_ffmpeg.get_ffmpeg_exe()


def _filmed(platform: str, encoder: str, scene: tuple[Path, Path], size: tuple[int, int], out: Path) -> bool:
    """Whether camera and encoder, run side by side, came to their end."""
    command = [sys.executable, str(CAMERA), *map(str, (*scene, *size))]
    surroundings = {**os.environ, "MUJOCO_GL": platform}
    camera = subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        encoded = encoding(encoder, out, size, RATE)
        done = subprocess.run(encoded, stdin=camera.stdout, capture_output=True, timeout=PATIENCE_S)
        return done.returncode == 0 and camera.wait(PATIENCE_S) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        camera.kill()
        camera.communicate()


def encoding(encoder: str, out: Path, size: tuple[int, int], rate: int) -> list[str]:
    """The command that makes an MP4 of raw RGB frames of a width and a height, read from standard input."""
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(rate), "-i", "-"]
    # yuv420p and the index in front are what browsers and phones can play from a page.
    kept = ["-c:v", "libx264", "-preset", "medium", "-crf", "24", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    return [encoder, "-y", "-loglevel", "error", *raw, *kept, str(out)]
