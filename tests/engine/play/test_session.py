"""A game: both worlds get the same bodies and the same hand, and a new body costs no compilation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.engine.play import DT_S, Session
from gapless.engine.play.arena import HALF_M, SLOTS
from gapless.engine.play.clock import MOST, Clock
from gapless.engine.play.hand import Hand
from gapless.engine.play.outline import Matter, circle, polygon

BALL = circle(np.array([0.0, 1.0]), 0.3)


def hand(body: int, x: float, y: float) -> Hand:
    return Hand(jnp.asarray(body, jnp.int32), jnp.zeros(2), jnp.array([x, y], jnp.float32))


def heights(session: Session) -> list[float]:
    """Of the first body, in Box2D and in each member."""
    state = session.state()
    return [state["truth"][0][1], *(member[0][1] for member in state["members"])]


def test_dropped_body_falls_alike_in_all_worlds_and_comes_to_rest_on_the_floor(playing: Session):
    playing.clear("fall")
    playing.add(BALL, Matter(restitution=0.0))
    playing.step(8)
    fallen = 9.81 * (1 / 60) ** 2 * 36  # 1 + 2 + … + 8 steps of gravity
    assert heights(playing) == pytest.approx([1.0 - fallen] * 3, abs=1e-3)
    for _ in range(12):
        playing.step(8)
    assert heights(playing) == pytest.approx([0.3 - HALF_M[1]] * 3, abs=0.02)


def test_body_on_a_table_stays_where_it_is(playing: Session):
    playing.clear("table")
    playing.add(BALL, Matter())
    playing.step(8)
    assert heights(playing) == pytest.approx([1.0] * 3, abs=1e-4)


def test_hand_brings_a_body_to_the_pointer_in_all_worlds(playing: Session):
    playing.clear("table")
    slot = playing.add(BALL, Matter())
    for _ in range(10):
        playing.step(8, hand(slot, 1.5, -0.5))
    state = playing.state()
    for x, y, _ in (state["truth"][0], *(member[0] for member in state["members"])):
        assert (x, y) == pytest.approx((1.5, -0.5), abs=0.05)


def test_hand_off_the_centre_turns_a_body(playing: Session):
    playing.clear("table")
    slot = playing.add(polygon(np.array([[-0.5, 0], [0.5, 0], [0.5, 0.2], [-0.5, 0.2]])), Matter())
    playing.step(8, Hand(jnp.asarray(slot, jnp.int32), jnp.array([0.4, 0.0]), jnp.array([0.4, 1.0])))
    state = playing.state()
    assert state["truth"][0][2] > 0.02
    assert state["members"][0][0][2] == pytest.approx(state["truth"][0][2], rel=0.05)


def test_hand_on_nothing_is_refused(playing: Session):
    with pytest.raises(GaplessError, match="no body 17 to push"):
        playing.step(1, hand(17, 0.0, 0.0))


def test_nothing_is_compiled_again_for_new_bodies_hands_frames_or_tables(playing: Session):
    playing.step(1)
    before = playing.ensemble.traces
    playing.step(3)
    playing.clear("table")
    slot = playing.add(BALL, Matter())
    playing.step(2, hand(slot, 0.0, 0.0))
    playing.add(circle(np.array([1.5, 0.0]), 0.2), Matter())
    playing.step(1)
    playing.align()
    playing.step(1)
    assert playing.ensemble.traces == before


def test_same_seed_begins_with_the_same_bodies_and_tables_with_others(playing: Session):
    first = playing.state()["bodies"]
    playing.step(2)
    playing.reset("table")
    other = playing.state()["bodies"]
    playing.reset("fall")
    assert playing.state()["bodies"] == first != other
    assert len(first) == 3


def test_new_body_leaves_others_where_they_are(playing: Session):
    playing.clear("fall")
    playing.add(BALL, Matter())
    playing.step(4)
    before = heights(playing)
    playing.add(circle(np.array([-1.5, -1.0]), 0.2), Matter())
    assert heights(playing) == pytest.approx(before, abs=1e-4)


def test_body_on_top_of_another_is_refused_and_leaves_no_trace(playing: Session):
    playing.clear("table")
    playing.add(BALL, Matter())
    with pytest.raises(GaplessError, match="something is there already"):
        playing.add(circle(np.array([0.1, 1.1]), 0.3), Matter())
    assert len(playing.state()["bodies"]) == 1
    playing.step(1)
    assert heights(playing) == pytest.approx([1.0] * 3, abs=1e-4)


def test_body_drawn_into_a_wall_is_moved_inside(playing: Session):
    playing.clear("table")
    playing.add(circle(HALF_M.copy(), 0.3), Matter())
    x, y, _ = playing.state()["truth"][0]
    assert HALF_M[0] - 0.35 < x < HALF_M[0] - 0.3 and HALF_M[1] - 0.35 < y < HALF_M[1] - 0.3


def test_full_scene_takes_no_more(playing: Session, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gapless.engine.play.session.taken", lambda scene: list(range(SLOTS)))
    with pytest.raises(GaplessError, match="full: it holds 20"):
        playing.add(BALL, Matter())


def test_too_many_bodies_at_the_start_are_refused(make_members):
    with pytest.raises(GaplessError, match="0 to 20 bodies"):
        Session(make_members(1), bodies=21)


def test_aligned_members_have_neither_spread_nor_error(playing: Session):
    moved = playing.moving.motion.position.at[0, 0, 0].add(0.3)
    playing.moving = playing.moving._replace(motion=playing.moving.motion._replace(position=moved))
    state = playing.state()
    assert state["spread"] == pytest.approx(0.15 / 3, abs=1e-4)  # half of 0.3 m to either side, in one of three bodies
    assert state["error"] == pytest.approx(0.15 / 3, abs=1e-4)
    playing.align()
    assert playing.state()["spread"] == playing.state()["error"] == 0.0


def test_world_goes_on_as_fast_as_time_does_however_many_ask(playing: Session, monkeypatch: pytest.MonkeyPatch):
    now = [10.0]
    monkeypatch.setattr(playing, "clock", Clock(DT_S, lambda: now[0]))
    for _ in range(30):  # two pages, half a second
        now[0] += 1 / 60
        playing.run()
        playing.run()
    assert playing.state()["time"] == pytest.approx(0.5, abs=0.02)
    now[0] += 100.0  # nobody looked
    playing.run()
    assert playing.state()["time"] == pytest.approx(0.5 + MOST * DT_S, abs=0.02)


def test_paused_world_owes_nothing_and_tells_its_turn(playing: Session, monkeypatch: pytest.MonkeyPatch):
    now = [10.0]
    monkeypatch.setattr(playing, "clock", Clock(DT_S, lambda: now[0]))
    playing.pause(True)
    paused = playing.state()
    now[0] += 1.0
    playing.run()
    assert playing.state() == paused
    playing.pause(False)
    playing.run()
    assert playing.state()["time"] == paused["time"]
    assert playing.state()["turn"] > paused["turn"]


def test_lost_member_begins_again_where_box2d_is(playing: Session):
    spoiled = playing.moving.motion.angle.at[1].set(jnp.nan)
    playing.moving = playing.moving._replace(motion=playing.moving.motion._replace(angle=spoiled))
    playing.step(1)
    assert playing.state()["lost"] == 1
    assert all(bool(jnp.isfinite(x).all()) for x in jax.tree.leaves(playing.moving))


def test_foreseen_second_is_the_one_that_comes_and_has_not_begun(playing: Session):
    playing.clear("fall")
    slot = playing.add(BALL, Matter())
    before = playing.state()
    foreseen = playing.foresee(hand(slot, 1.0, 1.0))
    assert playing.state() == before
    for _ in range(10):
        playing.step(6, hand(slot, 1.0, 1.0))
    state = playing.state()
    assert foreseen["truth"][0][-1] == pytest.approx(state["truth"][0][:2], abs=1e-3)
    assert [m[0][-1] for m in foreseen["members"]] == [pytest.approx(m[0][:2], abs=1e-3) for m in state["members"]]
    assert len(foreseen["truth"][0]) == 10
