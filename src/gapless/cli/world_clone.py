"""`gapless world clone`: teach a network to step scenes as Box2D does."""

import time
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gapless.core import GaplessError
from gapless.core.artifact import plain
from gapless.learn.clone import Course, Taught, teach
from gapless.simulators.planar.stored import FILES, members_and_said, save_members

from .console import Tell, say, table, working
from .options import Common


@dataclass(frozen=True)
class CloneCommand(Common):
    """Teach a network to step scenes as Box2D does: circles, boxes and convex polygons that fall, bounce, slide and are pushed.

    Box2D plays random scenes, the network learns what a touch does from pairs that meet, and then how many contacts settle
    together. Several independent members say by how much they disagree. A member takes about ten minutes on one core, and an
    interrupted course goes on where it was. The weights that come with the package were made so, with --course.rounds 32.
    """

    out: Path = field(kw_only=True)
    """The folder to write clone.safetensors and clone.json to."""
    course: Course = field(default_factory=Course)
    """How it is taught."""

    def run(self) -> dict[str, Any]:
        found = self._begun()
        began, before = time.perf_counter(), len(found)
        with working("clone") as tell:
            for member in range(before, self.course.members):
                found.append(teach(self.course, self.seed, member, partial(self._tell, tell, member)))
                # After each member, so that an interruption costs one and not all.
                save_members(self.out, [m.clone for m in found], self._said(found, time.perf_counter() - began))
        rows = [[k + 1, m.law, m.whole] for k, m in enumerate(found)]
        table("Errors on held-out lessons", ["member", "pairs that meet", "scenes"], rows)
        seconds = time.perf_counter() - began
        kept = f" ({before} had been taught before)" if before else ""
        say(
            f"Wrote {self.out} after {seconds / 60:.1f} minutes{kept}. "
            f"Try it with `gapless world play --weights {self.out}`."
        )
        return {"folder": self.out, "seconds": seconds, "held_out": [m.whole for m in found]}

    def _begun(self) -> list[Taught]:
        """The members that the same command has taught before it was interrupted."""
        if not FILES.description(self.out).exists():
            return []
        clones, said = members_and_said(self.out)
        alike = {**(said.get("course") or {}), "members": self.course.members} == plain(asdict(self.course))
        try:
            errors = [(float(e["law"]), float(e["whole"])) for e in said["held_out"]]
        except (KeyError, TypeError, ValueError):
            errors = []
        if not alike or said.get("seed") != self.seed or len(errors) != len(clones):
            raise GaplessError(
                f"{self.out} holds a clone that was taught by another course or with another seed. "
                f"Choose another --out, or remove it."
            )
        return [Taught(c, *e) for c, e in zip(clones, errors, strict=True)][: self.course.members]

    def _tell(self, tell: Tell, member: int, what: str, share: float) -> None:
        many = self.course.members
        tell(f"member {member + 1} of {many}: {what}", (member + share) / many)

    def _said(self, found: list[Taught], seconds: float) -> dict[str, Any]:
        """How the weights came to be."""
        errors = [{"law": m.law, "whole": m.whole} for m in found]
        return plain({"course": asdict(self.course), "seed": self.seed, "held_out": errors, "seconds": seconds})
