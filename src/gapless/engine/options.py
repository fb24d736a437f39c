"""What may be done next, what each is expected to add to the return and to cost in robot seconds, and which are done."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["excite", "deploy", "runner-up", "adapt", "part", "retrain"]
USES: dict[Kind, str] = {
    "excite": "a motion that teaches",
    "deploy": "an episode of the policy in place",
    "runner-up": "an episode of the second best policy",
    "adapt": "an adaptation on the robot",
    "part": "a learned part",
    "retrain": "a training",
}
"""What each kind is, in words."""
FREE: tuple[Kind, ...] = ("part", "retrain")
"""Kinds that ask nothing of the robot, in the order in which they are done."""


@dataclass(frozen=True)
class Option:
    """One thing that may be done next."""

    kind: Kind
    seconds: float
    """Robot seconds, resets included."""
    gain: float
    """What it is expected to add, as a share of the return above rest that is forecast."""
    why: str
    """What that was estimated from."""
    allowed: bool = True
    """Whether recipe, belief and robot allow it."""

    @property
    def per_second(self) -> float:
        return self.gain / self.seconds if self.seconds else float("inf")


def chosen(options: Iterable[Option], worth: float) -> tuple[Kind, ...]:
    """What is done, in order, of the options that gain enough: free ones, or else what gains most per robot second.

    A motion alone goes before free ones: a part or a policy made before it would be out of date, and both are weighed anew
    after it. What a part teaches pays only in a policy that is trained with it.
    """
    enough = {o.kind: o for o in options if o.allowed and o.gain >= worth}
    free: tuple[Kind, ...] = tuple(kind for kind in FREE if kind in enough)
    # A new policy goes to the robot in any case: the one in place need not go there as well.
    paid = [o for kind, o in enough.items() if kind not in FREE and not (free and kind == "deploy")]
    best = max(paid, key=lambda o: o.per_second, default=None)
    if best is not None and (best.kind == "excite" or not free):
        return (best.kind,)
    return FREE if "part" in free else free


def reason(options: Sequence[Option], taken: Sequence[Kind], worth: float) -> str:
    """One line: what is done and why, or why nothing is."""
    if not taken:
        best = max((o for o in options if o.allowed), key=lambda o: o.gain, default=None)
        closest = "" if best is None else f": the most, {USES[best.kind]}, would add {best.gain:.1%}"
        return f"nothing is worth a robot second{closest}, and {worth:.1%} is the least"
    by_kind = {o.kind: o for o in options}
    return "; ".join(_phrase(by_kind[kind], worth) for kind in taken)


def _phrase(option: Option, worth: float) -> str:
    cost = f"{option.seconds:.0f} robot s" if option.seconds else "no robot s"
    if option.gain < worth:
        return f"{USES[option.kind]} ({cost}) to make use of it"
    return f"{USES[option.kind]} ({cost}) for {option.gain:+.1%}: {option.why}"
