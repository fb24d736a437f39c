"""What a page may ask of a game: every request is a JSON object, checked field by field before anything moves."""

import math
from collections.abc import Callable
from threading import Lock
from typing import Any, get_args

import jax.numpy as jnp
import numpy as np

from gapless.core import GaplessError
from gapless.simulators.planar.scenes import Kind

from .arena import HALF_M
from .hand import Hand
from .outline import LIMITS, Drawn, Matter, circle, polygon
from .session import Session

Asked = dict[str, Any]
Answer = Callable[[Asked], dict[str, Any]]
Verb = Callable[[Session, Asked], dict[str, Any] | None]
"""What it says, or None: then the state is said."""

FRAMES = 8
"""Frames that one request may step."""
POINTS = 2000
"""Points that one stroke may have."""


def answers(session: Session) -> dict[str, Answer]:
    """What each path does with a request; one at a time."""
    lock = Lock()

    def told(ask: Verb) -> Answer:
        def answer(asked: Asked) -> dict[str, Any]:
            with lock:
                return ask(session, asked) or session.state()

        return answer

    return {path: told(ask) for path, ask in VERBS.items()}


def _state(session: Session, asked: Asked) -> None:
    _only(asked)


def _step(session: Session, asked: Asked) -> None:
    _only(asked, "frames", "hand")
    frames = asked.get("frames", 1)
    if type(frames) is not int or not 1 <= frames <= FRAMES:
        raise GaplessError(f"frames is a whole number from 1 to {FRAMES}; {_brief(frames)} is not.")
    session.step(frames, _hand(asked.get("hand")))


def _run(session: Session, asked: Asked) -> None:
    _only(asked, "hand")
    session.run(_hand(asked.get("hand")))


def _pause(session: Session, asked: Asked) -> None:
    _only(asked, "paused")
    if not isinstance(asked.get("paused"), bool):
        raise GaplessError(f"paused is true or false; {_brief(asked.get('paused'))} is neither.")
    session.pause(asked["paused"])


def _foresee(session: Session, asked: Asked) -> dict[str, Any]:
    _only(asked, "hand")
    return session.foresee(_hand(asked.get("hand")))


def _add(session: Session, asked: Asked) -> None:
    _only(asked, "circle", "polygon", *LIMITS)
    given = {name: _number(asked[name], name) for name in LIMITS if name in asked}
    session.add(_drawn(asked), Matter(**given))


def _reset(session: Session, asked: Asked) -> None:
    _only(asked, "kind")
    session.reset(_kind(asked, session))


def _clear(session: Session, asked: Asked) -> None:
    _only(asked, "kind")
    session.clear(_kind(asked, session))


def _align(session: Session, asked: Asked) -> None:
    _only(asked)
    session.align()


VERBS: dict[str, Verb] = {
    "/state": _state, "/run": _run, "/pause": _pause, "/step": _step, "/foresee": _foresee, "/add": _add, "/reset": _reset,
    "/clear": _clear, "/align": _align,
}  # fmt: skip


def _kind(asked: Asked, session: Session) -> Kind:
    kind = asked.get("kind", session.kind)
    if kind not in get_args(Kind):
        raise GaplessError(f"kind is {' or '.join(get_args(Kind))}; {_brief(kind)} is neither.")
    return kind


def _drawn(asked: Asked) -> Drawn:
    if ("circle" in asked) == ("polygon" in asked):
        raise GaplessError("a body is drawn as a circle or as a polygon. Give one of the two.")
    if "polygon" in asked:
        return polygon(_stroke(asked["polygon"]))
    found = asked["circle"]
    if not isinstance(found, dict):
        raise GaplessError(f"a circle has a centre and a radius; {_brief(found)} has not.")
    _only(found, "centre", "radius")
    return circle(_point(found.get("centre"), "the centre"), _number(found.get("radius"), "the radius"))


def _stroke(found: Any) -> np.ndarray:
    if not isinstance(found, list) or not 3 <= len(found) <= POINTS:
        raise GaplessError(f"a polygon is a list of 3 to {POINTS} points [x, y] in m.")
    return np.stack([_point(each, "a point of the polygon") for each in found])


def _hand(found: Any) -> Hand | None:
    if found is None:
        return None
    if not isinstance(found, dict):
        raise GaplessError(f"a hand has a body, a grip and a target; {_brief(found)} has not.")
    _only(found, "body", "grip", "target")
    if type(found.get("body")) is not int or not 0 <= found["body"] < 1000:
        raise GaplessError(f"the hand's body is the number of a body; {_brief(found.get('body'))} is none.")
    grip, target = _point(found.get("grip"), "the grip"), _point(found.get("target"), "the target")
    return Hand(jnp.asarray(found["body"], jnp.int32), jnp.asarray(grip, jnp.float32), jnp.asarray(target, jnp.float32))


def _point(found: Any, name: str) -> np.ndarray:
    """Two numbers in m, moved to where the walls are if they are beyond."""
    if not isinstance(found, list) or len(found) != 2:
        raise GaplessError(f"{name} is [x, y] in m; {_brief(found)} is not.")
    return np.clip([_number(each, name) for each in found], -HALF_M, HALF_M)


def _number(found: Any, name: str) -> float:
    # A whole number may be longer than any float.
    if isinstance(found, bool) or not isinstance(found, int | float) or abs(found) > 1e9 or not math.isfinite(found):
        raise GaplessError(f"{name} is made of numbers; {_brief(found)} is none that can be used.")
    return float(found)


def _only(asked: Asked, *known: str) -> None:
    strange = sorted(set(asked) - set(known))
    if strange:
        raise GaplessError(f"nobody knows what {_brief(strange[0])} is (known here: {', '.join(known) or 'nothing'}).")


def _brief(found: Any) -> str:
    if isinstance(found, list | dict):
        return "a list" if isinstance(found, list) else "an object"
    spelled = repr(found)
    return spelled if len(spelled) <= 40 else f"{spelled[:40]}…"
