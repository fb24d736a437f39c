"""`gapless world`: a world in two dimensions that a network steps. `play` is a page to try it on, `film` what it foresees."""

import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from gapless.core import GaplessError
from gapless.core.seeds import generator_for
from gapless.engine.play import DT_S, Session, answers, foresight, happening
from gapless.report import Answer, LocalServer, shoot_world, world_page
from gapless.report.film import find_encoder
from gapless.simulators.planar import stored
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.scenes import Kind, Scenes, draw

from .console import say, working
from .options import Common, Group
from .world_clone import CloneCommand
from .world_prompt import WorldPrompt, WorldTeachPrompter

MOST_S = 60
"""Seconds that a film may last."""


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
        answering: dict[str, Answer] = {}
        with LocalServer(world_page(), answering, self.port) as server:
            session = self._session()
            answering.update(answers(session))
            try:
                say(f"Play at {server.url}; Ctrl-C ends it.")
                if self.open:
                    webbrowser.open(server.url)
                server.serve_forever()
            except KeyboardInterrupt:
                say("Stopped.")
        return {"url": server.url, "members": session.ensemble.size}

    def _session(self) -> Session:
        with working("world") as tell:
            tell("reading the network")
            session = Session(members(self.weights), self.bodies, self.seed, self.kind)
            tell("compiling it for this machine; only the first time takes long")
            session.warm()
        return session


@dataclass(frozen=True)
class Film(Common):
    """Film a random scene: what happens in Box2D, filled, and what each member of the ensemble foresees, as a tint over it."""

    out: Path = Path("world.mp4")
    """The film to write."""
    seconds: float = 4.0
    """How long the scene is left alone."""
    bodies: int = 6
    """Random bodies in it."""
    kind: Kind = "fall"
    """Bodies that fall between walls, or that slide on a table seen from above."""
    weights: Path | None = None
    """A folder with the members of an ensemble; those of the package if not given."""

    def run(self) -> dict[str, Any]:
        steps = round(self.seconds / DT_S)
        if not 1 <= steps <= MOST_S / DT_S:
            raise GaplessError(f"a film shows a moment to {MOST_S} s; {self.seconds:g} s is not.")
        find_encoder()  # before the network is asked
        scene, motion = draw(
            Scenes(kind=self.kind, bodies=(self.bodies, self.bodies)), generator_for(self.seed, "film")
        )
        with working("world") as tell:
            tell("reading the network")
            clones = members(self.weights)
            tell("asking Box2D and the network")
            truth = happening(scene, motion, steps, DT_S)
            futures = foresight(clones, scene, motion, steps, DT_S)
            figures = shoot_world(scene, truth, futures, DT_S, self.out, lambda share: tell("drawing", share))
        say(f"Wrote {self.out}: {figures['seconds']:.1f} s, {figures['members']} members.")
        return {"film": self.out, **figures}


@dataclass(frozen=True)
class World(Group):
    """A world in two dimensions whose step is a network's: teach it, play with it, film it, ask it what bodies are made of."""

    what: (
        Annotated[CloneCommand, tyro.conf.subcommand(name="clone")]
        | Annotated[WorldPrompt, tyro.conf.subcommand(name="prompt")]
        | Annotated[WorldTeachPrompter, tyro.conf.subcommand(name="teach-prompter")]
        | Annotated[Play, tyro.conf.subcommand(name="play")]
        | Annotated[Film, tyro.conf.subcommand(name="film")]
    )


def members(weights: Path | None) -> list[Clone]:
    """An ensemble from a folder, or the one that comes with the package."""
    return stored.members() if weights is None else stored.members(weights)
