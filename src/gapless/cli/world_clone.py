"""`gapless world clone`: teach a network to step scenes as Box2D does."""

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gapless.core.artifact import plain
from gapless.learn.clone import Course, Taught, teach
from gapless.simulators.planar.stored import save_members

from .console import say, table, working
from .options import Common


@dataclass(frozen=True)
class CloneCommand(Common):
    """Teach a network to step scenes as Box2D does: circles, boxes and convex polygons that fall, bounce, slide and are pushed.

    Box2D plays random scenes, the network learns what a touch does from pairs that meet, and then how many contacts settle
    together. Several independent members say by how much they disagree. A member takes about 15 minutes on one core. The weights
    that come with the package were made so, with --course.rounds 32.
    """

    out: Path = field(kw_only=True)
    """The folder to write clone.safetensors and clone.json to."""
    course: Course = field(default_factory=Course)
    """How it is taught."""

    def run(self) -> dict[str, Any]:
        began, found = time.perf_counter(), list[Taught]()
        with working("clone") as tell:
            for member in range(self.course.members):
                found.append(teach(self.course, self.seed, member, tell))
                # After each member, so that an interruption costs one and not all.
                save_members(self.out, [m.clone for m in found], self._said(found, time.perf_counter() - began))
        rows = [[k + 1, m.law, m.whole] for k, m in enumerate(found)]
        table("Errors on held-out lessons", ["member", "pairs that meet", "scenes"], rows)
        seconds = time.perf_counter() - began
        say(
            f"Wrote {self.out} after {seconds / 60:.1f} minutes. Try it with `gapless world play --weights {self.out}`."
        )
        return {"folder": self.out, "seconds": seconds, "held_out": [m.whole for m in found]}

    def _said(self, found: list[Taught], seconds: float) -> dict[str, Any]:
        """How the weights came to be."""
        errors = [{"law": m.law, "whole": m.whole} for m in found]
        return plain({"course": asdict(self.course), "seed": self.seed, "held_out": errors, "seconds": seconds})
