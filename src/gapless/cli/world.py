"""`gapless world`: a world in two dimensions that a network steps; `play` is a page to try it on."""

import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from gapless.engine.play import Session, answers
from gapless.report import LocalServer, world_page
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.scenes import Kind

from .console import say, working
from .options import Common


@dataclass(frozen=True)
class Play(Common):
    """Draw, drop and push bodies in the browser: the network and Box2D side by side, with the spread of its ensemble."""

    port: int = 8642
    """Where the page is served, to this machine alone; 0 takes any that is free."""
    open: bool = True
    """Open the page in the browser."""
    bodies: int = 6
    """Random bodies at the beginning."""
    kind: Kind = "fall"
    """Bodies that fall between walls, or that slide on a table seen from above."""
    weights: Path | None = None
    """A folder with the members of an ensemble; those of the package if not given."""

    def run(self) -> dict[str, Any]:
        with working("world") as tell:
            tell("reading the network")
            session = Session(members(self.weights), self.bodies, self.seed, self.kind)
            tell("compiling it for this machine; only the first time takes long")
            session.warm()
        with LocalServer(world_page(), answers(session), self.port) as server:
            say(f"Play at {server.url}; Ctrl-C ends it.")
            if self.open:
                webbrowser.open(server.url)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                say("Stopped.")
        return {"url": server.url, "members": session.ensemble.size}


@dataclass(frozen=True)
class World:
    """A world in two dimensions whose step is a network's."""

    what: Annotated[Play, tyro.conf.subcommand(name="play")]

    @property
    def json(self) -> Path | None:
        return self.what.json

    def status(self, printed: dict[str, Any]) -> int:
        return self.what.status(printed)

    def run(self) -> dict[str, Any]:
        return self.what.run()


def members(weights: Path | None) -> list[Clone]:
    """An ensemble from a folder, or the one that comes with the package."""
    from gapless.simulators.planar import stored  # pyright: ignore[reportAttributeAccessIssue]

    return stored.members() if weights is None else stored.members(weights)
