"""Lessons for the pretraining of clones, drawn by processes of their own for as long as somebody takes them."""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from queue import Empty
from typing import Any

import numpy as np

from clone_robots import ROBOTS, physics, skeleton
from gapless.core import generator_for
from gapless.learn.clone_robot.cousins import Cousin, cousin
from gapless.learn.clone_robot.lessons import Lessons, Teach, lessons
from gapless.simulators.neural import Skeleton

SHARES = {"hopper": 3, "puck": 2}
"""Pieces of each turn, for robots that touch things; of the others it is one, of cousins one every third turn."""
Make = Callable[[Teach, np.random.Generator], Lessons]


def makers(names: Sequence[str], cousins: int) -> dict[str, tuple[Skeleton, Make]]:
    """The skeleton of each robot and cousin, and what draws its lessons."""
    found: dict[str, tuple[Skeleton, Make]] = {}
    for name in names:
        found[name] = skeleton(name), partial(lessons, physics(name), ROBOTS[name].reach, ROBOTS[name].begins)
    for k in range(cousins):
        made: Cousin = cousin(generator_for(k, "cousin"), 1 + k % 2)
        body = Skeleton(made.physics.model, made.physics.interface.period_s)
        found[f"cousin{k}"] = body, partial(lessons, made.physics, made.reach, ())
    return found


class Drawers:
    """Processes that draw pieces in turns; closing them ends them."""

    def __init__(self, names: Sequence[str], cousins: int, piece: Teach, processes: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._queue: Any = context.Queue(8)
        before, os.environ["JAX_PLATFORMS"] = os.environ.get("JAX_PLATFORMS"), "cpu"
        self._processes = [
            context.Process(target=_draw, args=(self._queue, tuple(names), cousins, piece, (k, processes)), daemon=True)
            for k in range(processes)
        ]
        for process in self._processes:
            process.start()
        if before is None:
            del os.environ["JAX_PLATFORMS"]
        else:
            os.environ["JAX_PLATFORMS"] = before

    def taken(self, wait_s: float) -> Iterator[tuple[str, Lessons]]:
        """What has come by now, each with its robot."""
        while True:
            try:
                name, arrays = self._queue.get(timeout=wait_s) if wait_s else self._queue.get_nowait()
            except Empty:
                return
            yield name, Lessons(*arrays)

    def close(self) -> None:
        for process in self._processes:
            process.terminate()


def _draw(queue: Any, names: Sequence[str], cousins: int, piece: Teach, mine: tuple[int, int]) -> None:
    made = makers(names, cousins)
    for number, (turn, name) in enumerate(_order(names, cousins)):
        if number % mine[1] == mine[0]:
            queue.put((name, tuple(made[name][1](piece, generator_for(number, name, turn, "lessons")))))


def _order(names: Sequence[str], cousins: int) -> Iterator[tuple[int, str]]:
    """Robots and cousins in turns, without end."""
    for turn in count():
        yield from ((turn, name) for name in names for _ in range(SHARES.get(name, 1)))
        if turn % 3 == 0:
            yield from ((turn, f"cousin{k}") for k in range(cousins))


class Shelf:
    """Room for some stretches of one robot; once it is full, the oldest make way."""

    def __init__(self, first: Lessons, room: int) -> None:
        self.drawn, self._next = len(first.control), len(first.control) % room
        rows = np.arange(room) % self.drawn
        self.lessons = Lessons(*(side[rows] for side in first))

    def add(self, piece: Lessons) -> None:
        room, fresh = len(self.lessons.control), len(piece.control)
        rows = (self._next + np.arange(fresh)) % room
        for kept, side in zip(self.lessons, piece, strict=True):
            kept[rows] = side
        self.drawn, self._next = self.drawn + fresh, (self._next + fresh) % room


class Library:
    """A shelf for each robot, and the processes that fill them."""

    def __init__(self, drawers: Drawers, room: int) -> None:
        self._drawers, self._room, self.shelves = drawers, room, dict[str, Shelf]()

    @property
    def drawn(self) -> dict[str, int]:
        """Stretches of each, those included that have made way."""
        return {name: shelf.drawn for name, shelf in sorted(self.shelves.items())}

    def fresh(self, wait_s: float = 0.0) -> dict[str, Lessons]:
        """The shelves that have changed since."""
        changed = set()
        for name, piece in self._drawers.taken(wait_s):
            if name in self.shelves:
                self.shelves[name].add(piece)
            else:
                self.shelves[name] = Shelf(piece, self._room * SHARES.get(name, 1))
            changed.add(name)
        return {name: self.shelves[name].lessons for name in changed}
