"""`gapless world prompt`: what the bodies of a watched scene are made of; and how the prompter is taught."""

import itertools
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import tyro

from gapless.core import GaplessError
from gapless.core.artifact import plain, write_text
from gapless.learn.clone.frames_file import read_frames
from gapless.learn.clone.prior import askable
from gapless.learn.clone.prompt import belief, names_of, placed, prompt
from gapless.learn.clone.prompt_course import PromptCourse, teach_prompter, trust
from gapless.learn.clone.stored_prompter import SHIPPED as PROMPTERS
from gapless.learn.clone.stored_prompter import load_prompter, save_prompter
from gapless.simulators.planar.matter import NAMED
from gapless.simulators.planar.scene import Scene
from gapless.simulators.planar.stored import SHIPPED as CLONES
from gapless.simulators.planar.stored import members

from .console import say, table, working
from .options import Common

SHARE = 0.9
"""Of the belief that lies inside the intervals shown."""


@dataclass(frozen=True)
class WorldPrompt(Common):
    """What are these bodies made of? Reads a few watched frames and stores a belief that training can draw from."""

    frames: tyro.conf.Positional[Path] = field(kw_only=True)
    """An NPZ file with outlines, frames and pushes; docs/world.md lists its arrays."""
    given: tuple[str, ...] = ()
    """Properties that are known, e.g. body0.mass=1.2; beside those that the file gives."""
    out: Path = Path("belief.json")
    """Where the belief is written."""
    clone: Path = CLONES
    """Folder of the clone; that of the package if not given."""
    prompter: Path = PROMPTERS
    """Folder of a prompter that was taught for this clone; that of the package if not given."""

    def run(self) -> dict[str, Any]:
        scene, observed, given = read_frames(self.frames)
        scene, given = _with(scene, given, self.given)
        prompter, clone = load_prompter(self.prompter), members(self.clone)[0]
        with working("Prompting") as tell:
            tell(f"{len(observed.seen)} steps through the clone; the first time, compiling takes a minute")
            found = prompt(prompter, clone, scene, observed, given)
        believed = belief(scene, found)
        write_text(self.out, json.dumps(believed.to_dict(), indent=1) + "\n")
        low, middle, high = (believed.quantile(q) for q in ((1 - SHARE) / 2, 0.5, (1 + SHARE) / 2))
        told = dict(zip(itertools.chain(*names_of(scene)), found.open.reshape(-1).tolist(), strict=True))
        rows = [
            {"name": n, "found": float(middle[n]), "low": float(low[n]), "high": float(high[n]), "told": told[n]}
            for n in believed.names
        ]
        shown = [
            [r["name"], r["found"], f"{r['low']:.3g} … {r['high']:.3g}", "" if r["told"] else "prior"] for r in rows
        ]
        table(f"What {len(observed.seen)} steps say", ["property", "found", f"{SHARE:.0%}", ""], shown)
        say(f"Wrote {self.out}.")
        return {"frames": str(self.frames), "belief": str(self.out), "properties": rows}


@dataclass(frozen=True)
class WorldTeachPrompter(Common):
    """Teach a prompter for a clone: watches scenes in Box2D, fits the encoder, and learns how far to trust itself."""

    out: Path = Path("prompter")
    """Folder for prompter.safetensors and prompter.json."""
    clone: Path = CLONES
    """Folder of the clone; that of the package if not given."""
    encoder: Path | None = None
    """Folder of a prompter whose encoder is kept; only the trust is learned again."""
    course: PromptCourse = field(default_factory=PromptCourse)
    """Settings of the course."""

    def run(self) -> dict[str, Any]:
        clone = members(self.clone)[0]
        with working("Teaching") as tell:
            if self.encoder is None:
                found = teach_prompter(self.course, clone, self.seed, tell)
            else:
                found = trust(self.course, load_prompter(self.encoder).encoder, clone, self.seed, tell)
        stretch = {k: dict(zip(NAMED, v.tolist(), strict=True)) for k, v in found.honest._asdict().items()}
        save_prompter(self.out, found, {"seed": self.seed, "course": plain(asdict(self.course))})
        table(
            "Deviations are stretched by",
            ["property", *stretch],
            [[n, *(s[n] for s in stretch.values())] for n in NAMED],
        )
        say(f"Wrote {self.out}.")
        return {"out": str(self.out), "stretch": stretch}


def _with(scene: Scene, given: Any, assignments: tuple[str, ...]) -> tuple[Scene, Any]:
    """The scene with what the user knows."""
    called = names_of(scene)
    open_ = {
        n: (p, c) for p, names in enumerate(called) for c, n in enumerate(names) if n and bool(askable(scene)[p, c])
    }
    for spelled in assignments:
        name, _, value = spelled.partition("=")
        if name not in open_ or not _positive(value):
            raise GaplessError(
                f"--given {spelled} is not a property of this scene with a positive number, such as body0.mass=1.2 "
                f"(it has: {', '.join(open_)})."
            )
        scene, given = placed(scene, {name: jnp.asarray(float(value))}), given.at[open_[name]].set(True)
    return scene, given


def _positive(spelled: str) -> bool:
    try:
        return 0 < float(spelled) < float("inf")
    except ValueError:
        return False
