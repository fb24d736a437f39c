"""What a page asks: good questions move the world, bad ones cost a sentence and move nothing."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapless.core import GaplessError
from gapless.engine.play import Session, answers

LONG = 10**400
TRIANGLE = [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]

REFUSED = [
    ("/step", {"frames": 0}, "frames is a whole number from 1 to 8"),
    ("/step", {"frames": True}, "True is not"),
    ("/step", {"frames": 2.0}, "2.0 is not"),
    ("/step", {"fames": 2}, "nobody knows what 'fames' is"),
    ("/step", {"hand": 3}, "a hand has a body, a grip and a target"),
    ("/step", {"hand": {"body": "a", "grip": [0, 0], "target": [0, 0]}}, "number of a body; 'a' is none"),
    ("/step", {"hand": {"body": 19, "grip": [0, 0], "target": [0, 0]}}, "no body 19 to push"),
    ("/step", {"hand": {"body": 0, "grip": [0], "target": [0, 0]}}, r"the grip is \[x, y\]"),
    ("/run", {"frames": 2}, "known here: hand"),
    ("/pause", {}, "paused is true or false; None is neither"),
    ("/pause", {"paused": 1}, "1 is neither"),
    ("/add", {}, "a circle or as a polygon"),
    ("/add", {"polygon": TRIANGLE, "circle": {}}, "one of the two"),
    ("/add", {"circle": {"centre": [0, 0], "radius": LONG}}, "the radius is made of numbers"),
    ("/add", {"circle": {"centre": [0, "1"], "radius": 0.2}}, "the centre is made of numbers; '1'"),
    ("/add", {"circle": {"centre": [0, 0], "radius": 2}}, "8 to 80 cm from their centre; this one reaches 200"),
    ("/add", {"circle": {"centre": [0, 0], "radius": 0.01}}, "this one reaches 1"),
    ("/add", {"circle": []}, "a centre and a radius; a list has not"),
    ("/add", {"polygon": [[0, 0], [1, 1]]}, "3 to 2000 points"),
    ("/add", {"polygon": [[0, 0], [0.3, 0.3], [0.6, 0.6]]}, "the stroke has no inside"),
    ("/add", {"polygon": [[0, 0], [0, 0], [0, 0]]}, "the stroke has no inside"),
    ("/add", {"polygon": [[0, 0], [0.9, 0], [0.9, 0.01]]}, "thinner than 8 cm"),
    ("/add", {"polygon": TRIANGLE, "mass": -1}, "mass is between 0.1 and 20"),
    ("/add", {"polygon": TRIANGLE, "restitution": None}, "None is none"),
    ("/reset", {"kind": "moon"}, "fall or table; 'moon' is neither"),
    ("/clear", {"kind": ["fall"]}, "a list is neither"),
    ("/foresee", {"frames": 1}, "known here: hand"),
    ("/align", {"please": 1}, "known here: nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "asked", "says"), REFUSED)
def test_bad_question_costs_one_sentence_and_moves_nothing(playing: Session, path: str, asked: dict, says: str):
    before = playing.state()
    with pytest.raises(GaplessError, match=says):
        answers(playing)[path](asked)
    assert playing.state() == before


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(["frames", "hand", "circle", "polygon", "mass", "friction", "drag", "kind", "paused"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(["/step", "/run", "/pause", "/add", "/reset", "/clear", "/foresee"]),
    asked=st.dictionaries(fields, anything, max_size=3),
)
def test_no_question_is_worse_than_refused(game: Session, monkeypatch: pytest.MonkeyPatch, path: str, asked: dict):
    for verb in ("step", "run", "pause", "reset", "clear", "foresee"):
        monkeypatch.setattr(game, verb, lambda *_: None)
    try:
        answers(game)[path](asked)
    except GaplessError as error:
        assert "\n" not in str(error)


def test_drawn_body_is_in_both_worlds_with_its_matter(playing: Session):
    ask = answers(playing)
    ask["/clear"]({})
    said = ask["/add"]({"polygon": TRIANGLE, "mass": 3.5, "friction": 0.7, "restitution": 0.5})
    (body,) = said["bodies"]
    assert (body["mass"], body["friction"], body["restitution"]) == pytest.approx((3.5, 0.7, 0.5), abs=1e-3)
    third = 1 / 6  # the centre of mass of this triangle
    assert said["truth"][0] == pytest.approx([third, third, 0.0], abs=1e-3)
    assert [member[0] for member in said["members"]] == [pytest.approx([third, third, 0.0], abs=1e-3)] * 2


def test_answer_is_plain_json_and_says_what_the_clock_says(playing: Session):
    said = answers(playing)["/step"]({"frames": 6})
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert said["time"] == 0.1


def test_points_beyond_the_walls_are_brought_to_them(playing: Session):
    ask = answers(playing)
    ask["/clear"]({"kind": "table"})
    said = ask["/add"]({"circle": {"centre": [99.0, -99.0], "radius": 0.3}})
    assert said["truth"][0][:2] == pytest.approx([2.08, -1.48], abs=0.01)
