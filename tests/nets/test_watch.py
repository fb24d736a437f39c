"""The watch: sums worked out by hand, readings that repeat themselves, who commands after an alarm, and the way to disk."""

import json
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Block, Channel, GaplessError, Interface, Params, Signals
from gapless.nets.stored_watch import load_watch, new_watch, save_watch
from gapless.nets.watch import Watch, Watching, leaning, turning
from gapless.nets.watch_apart import ONE_SIDED, Apart, one_reading
from gapless.nets.watch_together import Together
from gapless.nets.watched import Watched

MACHINE = Interface(
    "machine", 0.1, (Channel("push", low=-1.0, high=1.0), Channel("place", unit="m")),
    (Channel("x", unit="m"), Channel("turn", unit="rad")),
)  # fmt: skip


def expects_nothing(threshold: float, slack: float = 2.0, patience: float = 99.0) -> Watch:
    """A watch with one look, a period ahead, that expects no change, give or take one unit."""
    watch = new_watch(MACHINE, 2, (1,), (4, 1), jax.random.key(0))
    parts, rest = eqx.partition(watch.looks, lambda a: eqx.is_array(a))
    blank = jax.tree.map(jnp.zeros_like, parts)
    look = eqx.combine(blank, rest)[0]
    ones = jnp.ones(2)
    look = eqx.tree_at(lambda v: (v.size, v.widen, v.scale), look, (ones, ones, jnp.ones_like(look.scale)))
    numbers = jnp.asarray(slack), jnp.asarray(threshold), jnp.full(2, patience)
    return eqx.tree_at(lambda w: (w.looks, w.slack, w.threshold, w.patience), watch, ((look,), *numbers))


def expects_nothing_apart(threshold: float) -> Apart:
    """The same with sums for each number."""
    watch = expects_nothing(99.0)
    made = Apart.blank(watch.interface, watch.past, watch.looks)
    return eqx.tree_at(lambda w: w.threshold, made, jnp.full_like(made.threshold, threshold))


def seen(watch: Watch, xs: list[float]) -> list[Watching]:
    """What it remembers after each measurement; the other channel turns by a whole turn each time, which is no change."""
    turns = 2 * np.pi * np.arange(len(xs))

    def turn(memory: Watching, row: Any) -> Any:
        memory = watch.see(memory, {"x": row[:1], "turn": row[1:]})
        return watch.send(memory, {"push": jnp.zeros(1), "place": jnp.zeros(1)}), memory

    _, every = jax.lax.scan(turn, watch.begin(), jnp.stack([jnp.asarray(xs, float), turns], axis=1))
    return [Watching(*(np.asarray(v)[k] for v in every)) for k in range(len(xs))]


class Always(Block):
    """The same command whatever it sees."""

    push: float

    def init(self, key: Any) -> Any:
        return None

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> tuple[Any, Signals]:
        return memory, {"push": jnp.full(1, self.push), "place": jnp.full(1, self.push)}


def test_what_is_off_adds_up_beyond_the_slack_and_falls_back_to_nothing() -> None:
    # Mean squares over two channels: changes of 1, 4, 4, 0 give 0.5, 8, 8, 0, less a slack of 2 each.
    totals = [float(m.total) for m in seen(expects_nothing(99.0), [0, 1, 5, 9, 9, 9, 9, 9, 9, 9, 9])]
    assert totals == pytest.approx([0, 0, 6, 12, 10, 8, 6, 4, 2, 0, 0], abs=1e-4)


def test_the_alarm_stays_and_remembers_since_when_it_was_not_well() -> None:
    found = seen(expects_nothing(10.0), [0, 0, 0, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8])
    assert [int(m.alarm) for m in found] == [-1] * 4 + [4] * 9
    assert int(found[4].rising) == 3


def test_sums_apart_are_over_short_whiles_and_know_the_side() -> None:
    # A step of 3 once: over 6 periods 3 / √6 too high; squares over 3 periods (9 − 3) / √6; seven periods later it is forgotten.
    found = [m.total for m in seen(expects_nothing_apart(99.0), [0, 3, 3, 3, 3, 3, 3, 3])]
    high, low, squares = 0, len(ONE_SIDED), 2 * len(ONE_SIDED)
    assert found[1][high, 0] == pytest.approx(3 / np.sqrt(6), abs=1e-4)
    assert found[1][low, 0] == pytest.approx(-3 / np.sqrt(6), abs=1e-4)
    assert found[1][squares, 0] == pytest.approx((9 - 3) / np.sqrt(6), abs=1e-4)
    assert found[7][high, 0] == pytest.approx(0, abs=1e-4)
    assert np.allclose([f[high, 1] for f in found], 0, atol=1e-4)  # the other channel is well


def test_little_that_lasts_adds_up_apart_and_as_much_to_and_fro_only_in_squares() -> None:
    lasts, to_and_fro = (
        seen(expects_nothing_apart(99.0), xs)[-1].total[:, 0]
        for xs in ([1.5 * k for k in range(13)], [1.5 * (k % 2) for k in range(13)])
    )
    one_sided = slice(0, 2 * len(ONE_SIDED))
    assert lasts[one_sided].max() == pytest.approx(12 * 1.5 / np.sqrt(12), abs=1e-4)
    assert np.abs(to_and_fro[one_sided]).max() < 1e-4
    assert to_and_fro[-1] == pytest.approx(lasts[-1], abs=1e-4) == pytest.approx(12 * 1.25 / np.sqrt(24), abs=1e-4)


def test_an_alarm_apart_stays_and_names_the_number_that_was_off() -> None:
    watch = expects_nothing_apart(3.0)
    found = seen(watch, [0, 0, 0, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8])
    assert [int(m.alarm) for m in found] == [-1] * 3 + [3] * 10  # squares over three periods are (16 − 3) / √6
    assert watch.blame(found[3]) == watch.blame(found[-1]) == (0, 0, 3)


def test_one_mad_reading_is_no_fault_apart_either() -> None:
    watch = expects_nothing_apart(99.0)
    watch = eqx.tree_at(lambda w: w.threshold, watch, jnp.broadcast_to(jnp.asarray(one_reading()) + 1e-3, (9, 2)))
    assert int(seen(watch, [0, 0, 1e6, 1e6, 1e6, 1e6])[-1].alarm) == -1


def test_one_mad_reading_is_no_fault() -> None:
    alarms = [int(m.alarm) for m in seen(expects_nothing(37.0), [0, 0, 1e6, 1e6, 1e6, 1e6])]
    assert alarms == [-1] * 6  # 20 at most in a period


def test_a_reading_that_is_no_number_is_off() -> None:
    assert int(seen(expects_nothing(10.0), [0, 0, float("nan"), 0])[-1].alarm) == 2


def test_a_reading_that_repeats_itself_is_not_alive() -> None:
    found = seen(expects_nothing(99.0, patience=3.0), [0.0, 0.1, 0.2, 0.2, 0.2, 0.2, 0.2])
    assert [int(m.alarm) for m in found] == [-1] * 6 + [6]


def test_angles_without_limits_are_told_from_others() -> None:
    limited = Interface("m", 0.1, (), (Channel("a", unit="rad", low=-1.0, high=1.0), Channel("b", width=2, unit="rad")))
    assert turning(limited) == (False, True, True)


@pytest.mark.parametrize("fallback", [None, Always(-0.5)])
def test_after_the_alarm_the_fallback_commands(fallback: Block | None) -> None:
    policy = Watched(Always(0.7), expects_nothing(10.0), fallback)
    memory, sent, step = policy.init(jax.random.key(0)), [], eqx.filter_jit(policy.step)
    for x in [0.0, 0.0, 4.0, 8.0, 8.1, 8.0]:
        inputs = {"x": jnp.array([x]), "turn": jnp.zeros(1)}
        memory, command = step({}, memory, inputs, 0.1, jax.random.key(1))
        sent.append([float(command["push"][0]), float(command["place"][0])])
    # At rest nothing pushes, and what is a place stays where it was.
    instead = [0.0, 0.7] if fallback is None else [-0.5, -0.5]
    assert np.allclose(sent, [[0.7, 0.7]] * 3 + [instead] * 3)
    notes = policy.notes(memory)
    assert notes["alarm_s"] == pytest.approx(0.3)
    assert notes["trusted"] == 1  # it rose from row 2 on, and the look began a period before
    assert "x is 4.0 deviations from what was expected 0.10 s before" in notes["stopped"]


def test_a_reading_that_stood_still_is_named() -> None:
    policy = Watched(Always(0.7), expects_nothing(99.0, patience=3.0))
    memory, step = policy.init(jax.random.key(0)), eqx.filter_jit(policy.step)
    for k, x in enumerate([0.0, 0.1, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2]):
        memory, _ = step({}, memory, {"x": jnp.array([x]), "turn": jnp.array([0.1 * k])}, 0.1, jax.random.key(1))
    notes = policy.notes(memory)
    assert notes["stopped"] == "the monitor handed over at 0.60 s: x repeats itself bit for bit"
    assert notes["trusted"] == 2


def test_a_policy_that_raised_no_alarm_notes_nothing() -> None:
    policy = Watched(Always(0.7), expects_nothing(10.0))
    assert policy.notes(policy.init(jax.random.key(0))) == {}


@pytest.mark.parametrize(("kind", "leans"), [(Together, False), (Apart, False), (Apart, True)])
def test_a_watch_is_read_back_to_the_last_bit(tmp_path: Path, kind: type[Watch], leans: bool) -> None:
    made = new_watch(MACHINE, 3, (1, 4), (8, 2), jax.random.key(3))
    made = kind.blank(made.interface, made.past, tuple(leaning(v) for v in made.looks) if leans else made.looks)
    save_watch(tmp_path, made)
    found = load_watch(tmp_path)
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(made), jax.tree.leaves(found), strict=True))
    assert found.past == made.past and found.interface == made.interface and type(found) is kind


def test_a_description_without_a_kind_is_of_a_watch_with_one_sum(tmp_path: Path) -> None:
    save_watch(tmp_path, new_watch(MACHINE, 3, (1, 4), (8, 2), jax.random.key(3)))
    said = json.loads((tmp_path / "watch.json").read_text())
    assert said.pop("kind") == "together" and said.pop("leans") is False
    (tmp_path / "watch.json").write_text(json.dumps(said))
    assert type(load_watch(tmp_path)) is Together


def test_a_description_of_another_size_is_one_sentence(tmp_path: Path) -> None:
    save_watch(tmp_path, new_watch(MACHINE, 3, (1, 4), (8, 2), jax.random.key(3)))
    said = json.loads((tmp_path / "watch.json").read_text())
    (tmp_path / "watch.json").write_text(json.dumps(said | {"frames": 10**9}))
    with pytest.raises(GaplessError, match="is not the description of a watch"):
        load_watch(tmp_path)
