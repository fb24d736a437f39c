"""Terms of a residual: the one that is there is found, nothing is found in noise, and what was regressed says the force."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Signals
from gapless.learn.additive import Chooser, spelled
from gapless.learn.knots import Linear
from gapless.simulators.parts import Residual, Sight, silent_correction

WINDOWS, PERIODS, DT = 40, 25, 0.02
Law = Callable[[dict[str, np.ndarray]], np.ndarray]
SIGHT = Sight("hinge", ("motor",), False, 3, 4, jnp.asarray(2.0), jnp.asarray(1.0))
NAME = "hinge.force"


@eqx.filter_jit
def _numbers(inputs: Signals) -> jax.Array:
    def step(memory: dict, now: Signals) -> tuple[dict, jax.Array]:
        memory = SIGHT.look(memory, now, DT)
        return memory, SIGHT.numbers(memory)

    return jax.lax.scan(step, SIGHT.fresh(), inputs)[1]


def lesson(law: Law, noise: float = 0.3) -> tuple[Residual, Linear]:
    """Windows of a joint that wanders, on which a law acts that is to be found."""
    rng = np.random.default_rng(0)
    motions = []
    for _ in range(WINDOWS):
        t = DT * np.arange(3 * PERIODS)
        turns, phases = rng.uniform(0.5, 3.0, 3), rng.uniform(0, 2 * np.pi, 3)
        position = np.sin(2 * np.pi * turns * t[:, None] + phases).sum(axis=1) / 2
        command = np.repeat(rng.normal(size=len(t) // 5 + 1), 5)[: len(t)]
        motions.append((position, np.gradient(position, DT), command))
    names = ("hinge.position", "hinge.velocity", "motor")
    inputs = [{n: jnp.asarray(v)[:, None] for n, v in zip(names, m, strict=True)} for m in motions]
    saw = np.stack([np.asarray(_numbers(i)) for i in inputs])[:, -PERIODS:]
    flat = saw.reshape(-1, saw.shape[-1])
    kinds = {kind: saw[..., list(SIGHT.columns(kind))] for kind in SIGHT.widths}
    force = law(kinds)
    answer = np.tril(np.ones((PERIODS, PERIODS))).cumsum(axis=0)[None] / PERIODS + np.zeros((WINDOWS, 1, 1))
    misfit = noise * rng.standard_normal((WINDOWS, PERIODS)) - np.einsum("wqp,wp->wq", answer, force)
    c = silent_correction(NAME, SIGHT, 2)
    shift, scale = jnp.asarray(flat.mean(axis=0)), jnp.asarray(1 / np.maximum(flat.std(axis=0), 1e-6))
    centres = ((jnp.asarray(flat) - shift) * scale)[::10, : SIGHT.present]
    bound = jnp.asarray(max(1.5 * float(np.quantile(np.abs(force), 0.9)), 0.1))
    c = eqx.tree_at(
        lambda c: (c.shift, c.scale, c.bound, c.centres, c.reach), c, (shift, scale, bound, centres, jnp.asarray(2.0))
    )
    return Residual((c,)), Linear(misfit, {NAME: answer}, {NAME: saw}, {NAME: np.zeros((WINDOWS, PERIODS))})


def chooser(residual: Residual, linear: Linear) -> Chooser:
    return Chooser(residual, linear, np.random.default_rng(1))


def test_hysteresis_is_told_from_friction_and_from_hills() -> None:
    residual, linear = lesson(lambda saw: 30 * saw["wound"][..., 2])
    pick = chooser(residual, linear).pick(residual)
    assert spelled(pick.terms) == "hinge.force: what is dragged along"
    assert pick.left < 0.3


def test_what_two_terms_say_together_is_found() -> None:
    residual, linear = lesson(lambda saw: 10 * saw["wound"][..., 2] + 3 * np.cos(2 * saw["command"][..., 0]))
    terms = {term for _, term in chooser(residual, linear).pick(residual).terms}
    assert terms == {"size of the command", "what is dragged along"}


def test_noise_has_no_terms() -> None:
    residual, linear = lesson(lambda saw: 0 * saw["place"][..., 0], noise=1.0)
    pick = chooser(residual, linear).pick(residual)
    assert pick.terms == {} and pick.left == 1.0 and spelled(pick.terms) == ""


def test_what_was_regressed_says_the_force() -> None:
    residual, linear = lesson(lambda saw: np.sin(4 * saw["place"][..., 0]))
    tried = chooser(residual, linear)
    made = tried.sum_of(tried.pick(residual)).regressed(linear, np.random.default_rng(2)).corrections[0]
    saw = jnp.asarray(linear.saw[NAME].reshape(-1, SIGHT.width))
    said = np.asarray(jax.vmap(lambda s: made.values(made.normal(s)))(saw))
    true = np.sin(4 * np.asarray(saw)[:, 0])
    assert np.sqrt(((said - true[:, None]) ** 2).mean(axis=0)).max() < 0.25 * true.std()
    assert np.abs(said[:, 0] - said[:, 1]).max() > 0  # members trust windows in their own ways
