"""From throws to a thrower: hidden truths are found, corners are alike, and learning stays only where it makes it better."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Channel, GaplessError, Interface, Log, on_one_clock
from gapless.learn.contact.bent_law import BENDS, BentLaw
from gapless.learn.contact.course import LearnToss, from_scratch
from gapless.learn.contact.fit import FitThrower
from gapless.learn.contact.forecast import score
from gapless.learn.contact.identify import IdentifyToss, identify_toss, surface_error, tile
from gapless.learn.contact.stored import practised, save_law
from gapless.learn.contact.thrower import thrower
from gapless.learn.contact.tosses import Tosses, from_logs
from gapless.nets.fitting import FitNetwork
from gapless.simulators.rigid import Start, box, parameters, play
from gapless.simulators.rigid.touch import Motion, touches

BODY, PERIOD_S, SAMPLES, COUNT = box(0.05, 0.045, 0.2, 0.125), 1 / 150, 32, 24
HIDDEN = {"contact.friction": 0.3, "body.gyration": 0.053}


@pytest.fixture(scope="module")
def recorded() -> Tosses:
    """Throws of a body that slips less and turns harder than its data sheet says."""
    rng = np.random.default_rng(0)
    turns = rng.normal(size=(4, COUNT))
    columns = (
        np.stack([*np.zeros((2, COUNT)), rng.uniform(0.1, 0.12, COUNT)]),
        turns / np.linalg.norm(turns, axis=0),
        np.stack([rng.normal(0, 0.8, COUNT), rng.normal(0, 0.8, COUNT), rng.normal(-0.8, 0.2, COUNT)]),
        rng.normal(0, 2.0, (3, COUNT)),
    )
    start = Start(*(jnp.asarray(c, jnp.float32) for c in columns))
    truth = {p.name: p.nominal for p in parameters(BODY)} | HIDDEN
    seen = play(BODY, tile(truth, COUNT), start, SAMPLES, PERIOD_S)
    position, quaternion, velocity, spin = (jnp.moveaxis(x, -1, 0) for x in (*seen, start.velocity, start.spin))
    return Tosses(position, quaternion, velocity, spin, jnp.full(COUNT, SAMPLES))


def _nominal() -> dict[str, jax.Array]:
    return {p.name: jnp.float32(p.nominal) for p in parameters(BODY)}


def test_identification_finds_hidden_friction_and_inertia(recorded: Tosses) -> None:
    free = [p for p in parameters(BODY) if p.name in HIDDEN]
    recipe = IdentifyToss(population=8, generations=25, samples=SAMPLES, tosses=COUNT, prior=0.0)
    found = identify_toss(BODY, free, _nominal(), recorded, PERIOD_S, recipe, 0)
    assert {k: float(found[k]) for k in HIDDEN} == pytest.approx(HIDDEN, rel=0.05)


@pytest.fixture
def learns() -> LearnToss:
    """A short course."""
    fit = FitThrower(2, SAMPLES, 0.95, 0.0, FitNetwork(rate=0.02, batch=12, steps=12, looks=3))
    return LearnToss(fit=fit, folds=4)


@pytest.mark.slow
def test_learning_bends_the_law_towards_the_throws(recorded: Tosses, learns: LearnToss) -> None:
    found = from_scratch(BODY, recorded, PERIOD_S, learns, 0)
    assert found.verdict.accepted and found.verdict.look > 0
    begun = thrower(BODY, (), _nominal(), PERIOD_S, BentLaw(jax.random.key(0)))
    errors = [score(m, recorded, (SAMPLES, 10), 4, jax.random.key(1)) for m in (begun, found.thrower)]
    assert all(np.isfinite(x).all() and x.shape == (COUNT,) for x in jax.tree.leaves(errors))
    before, after = (float(surface_error(e[0].path, BODY).mean()) for e in errors)
    assert after < 0.95 * before


@pytest.mark.slow
def test_learning_from_eight_throws_is_refused_where_the_simulator_already_says_all(
    recorded: Tosses, learns: LearnToss
) -> None:
    body = box(0.05, HIDDEN["body.gyration"], HIDDEN["contact.friction"], 0.125)
    found = from_scratch(body, recorded.some(np.arange(8)), PERIOD_S, learns, 0)
    assert not found.verdict.accepted
    truth = {p.name: jnp.float32(p.nominal) for p in parameters(body)}
    begun = thrower(body, (), truth, PERIOD_S, BentLaw(jax.random.key(0)))
    path = eqx.filter_jit(lambda model: model.path(recorded.start, SAMPLES).position)
    assert np.array_equal(path(begun), path(found.thrower))


def test_corners_are_alike_to_the_network_and_an_untrained_one_bends_nothing(recorded: Tosses) -> None:
    law = BentLaw(jax.random.key(0))
    start = recorded.start
    motion = Motion(start.position, start.quaternion, start.velocity, start.spin)
    touch = touches(BODY, tile(_nominal(), COUNT), motion)
    assert float(jnp.abs(law(touch, BODY.reach_m, None)).max()) == 0.0
    shaken = eqx.tree_at(lambda x: x.layers[-1].weight, law, jax.random.normal(jax.random.key(1), (2 * BENDS, 16)))
    order = np.array([3, 1, 0, 2, 7, 6, 5, 4])
    swapped = touch._replace(**{k: getattr(touch, k)[..., order, :] for k in touch._fields if k != "normal"})
    bends = shaken(touch, BODY.reach_m, None), shaken(swapped, BODY.reach_m, None)
    assert np.allclose(bends[0][:, order], bends[1], atol=1e-5)


def test_a_law_comes_back_from_disk_as_it_was(tmp_path: Path) -> None:
    law = BentLaw(jax.random.key(3))
    save_law(tmp_path, law, {"seed": 3})
    back = practised(tmp_path)
    assert all(np.array_equal(a, b) for a, b in zip(*map(jax.tree.leaves, (law, back)), strict=True))


def test_logs_without_a_channel_are_refused() -> None:
    interface = Interface("cube", PERIOD_S, (), (Channel("position", width=3),))
    log: Log = on_one_clock(interface, {}, {"position": np.zeros((4, 3))}, np.arange(4) * PERIOD_S)
    with pytest.raises(GaplessError, match="channel 'quaternion' of width 4"):
        from_logs([log])
    with pytest.raises(GaplessError, match="no throws"):
        from_logs([])
