"""Which of the options are done: free ones, or the most per robot second, and nothing that gains too little."""

import pytest

from gapless.engine.options import Kind, Option, chosen, reason

SECONDS: dict[Kind, float] = {"excite": 11.0, "deploy": 10.0, "adapt": 50.0, "part": 0.0, "retrain": 0.0}


def options(**gains: float) -> list[Option]:
    return [Option(kind, seconds, gains.get(kind, 0.0), f"{kind} pays") for kind, seconds in SECONDS.items()]


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        ({}, ()),
        ({"excite": 0.009, "retrain": 0.009}, ()),
        ({"retrain": 0.02}, ("retrain",)),
        ({"excite": 0.02, "deploy": 0.02}, ("deploy",)),  # the same gain for fewer seconds
        ({"excite": 0.03, "deploy": 0.02}, ("excite",)),
        ({"excite": 0.02, "retrain": 0.5}, ("excite",)),  # the policy is trained after it
        ({"deploy": 0.5, "retrain": 0.02}, ("retrain",)),  # the new one goes to the robot anyway
        ({"deploy": 0.5, "excite": 0.02, "retrain": 0.02}, ("excite",)),
        ({"adapt": 0.5, "retrain": 0.02}, ("retrain",)),
        ({"part": 0.1}, ("part", "retrain")),
        ({"adapt": 0.2, "deploy": 0.03}, ("adapt",)),
    ],
)
def test_what_is_done(gains: dict[str, float], expected: tuple[str, ...]) -> None:
    assert chosen(options(**gains), 0.01) == expected


def test_what_is_not_allowed_is_not_done() -> None:
    assert chosen([Option("part", 0.0, 0.9, "much is left", allowed=False)], 0.01) == ()


def test_the_reason_is_one_line() -> None:
    found = options(part=0.2)
    assert reason(found, ("part", "retrain"), 0.01) == (
        "a learned part (no robot s) for +20.0%: part pays; a training (no robot s) to make use of it"
    )
    assert reason(options(excite=0.004), (), 0.01) == (
        "nothing is worth a robot second: the most, a motion that teaches, would add 0.4%, and 1.0% is the least"
    )
