"""Which terms a residual is made of: found one by one, each by what windows left out gain from it."""

from dataclasses import dataclass
from functools import cached_property

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from gapless.simulators.parts import Correction, Residual, Units

from .knots import Linear
from .ridge import Windowed, windowed
from .terms import TERMS, Layer

UNRULY = 0.01
"""Share of the forces' variance that no function explains: along what these do, misfit counts for less."""
STRENGTHS = (0.01, 0.1, 1.0)
"""Variances of a term, over that of what the windows ask for, to try."""
LEAST = 0.03
"""Share of the misfit that a term must take off windows left out."""
TYPICAL = 0.4
"""The deviation of what the windows ask for, over the bound, were it normal: the bound is 1.5 times its 90th percentile."""
Key = tuple[str, str]
"""A correction and a term."""


@dataclass(frozen=True)
class Pick:
    """Terms of each correction with their strengths, and the share of the misfit that they leave in windows left out."""

    terms: dict[Key, float]
    left: float


class Evidence:
    """Linearised windows, whitened: what corrections would have to explain, and what their units would do to them."""

    def __init__(self, residual: Residual, linear: Linear) -> None:
        self._residual, self._linear = residual, linear
        answer = {c.name: linear.answer[c.name] * float(c.bound) for c in residual.corrections}
        said = {c.name: linear.said[c.name] / float(c.bound) for c in residual.corrections}
        misfit = linear.misfit - sum(np.einsum("wqp,wp->wq", answer[n], said[n]) for n in answer)
        every = np.concatenate(list(answer.values()), axis=-1)
        noise = np.eye(misfit.shape[1]) + UNRULY * TYPICAL**2 * (every @ np.swapaxes(every, 1, 2))
        whiten = np.linalg.inv(np.linalg.cholesky(noise))
        self.misfit = np.einsum("wqr,wr->wq", whiten, misfit)
        self._answer = {name: whiten @ values for name, values in answer.items()}

    def __len__(self) -> int:
        return len(self.misfit)

    def rows(
        self, correction: Correction, units: Units, loudness: np.ndarray
    ) -> Float[np.ndarray, "window query unit"]:
        """What units of this loudness would do to the windows."""
        shape = np.asarray(_shapes(correction, units, self._linear.saw[correction.name]), np.float64)
        return self._answer[correction.name] @ (shape * TYPICAL * loudness)


@dataclass(frozen=True)
class Sum:
    """Corrections as sums of terms that were chosen."""

    residual: Residual
    """With the terms' units, and nothing said yet."""
    loudness: dict[str, Float[np.ndarray, " unit"]]

    def regressed(self, linear: Linear, rng: np.random.Generator) -> Residual:
        """The residual that explains the windows; each member trusts them in its own way."""
        evidence = Evidence(self.residual, linear)
        corrections = self.residual.corrections
        design = windowed(
            evidence.misfit,
            np.concatenate([evidence.rows(c, c.units, self.loudness[c.name]) for c in corrections], axis=-1),
        )
        found = np.stack([design.solve(rng.exponential(size=len(evidence))) for _ in range(self.residual.members)])
        ends = np.cumsum([len(c.units.phases) for c in corrections])[:-1]
        made = [
            _with_last(c, last * TYPICAL * self.loudness[c.name])
            for c, last in zip(corrections, np.split(found, ends, axis=1), strict=True)
        ]
        return Residual(tuple(made), self.residual.heard)


class Chooser:
    """Tries terms on windows that were linearised around a residual that says nothing."""

    def __init__(self, residual: Residual, linear: Linear, rng: np.random.Generator) -> None:
        self._residual, self._evidence = residual, Evidence(residual, linear)
        self._corrections = {c.name: c for c in residual.corrections}
        pairs = [(c, term) for c in residual.corrections for term in TERMS if term.speaks_of(c.sight)]
        self._layers: dict[Key, Layer] = {(c.name, t.name): t.layer(c.sight, rng) for c, t in pairs}

    @cached_property
    def _rows(self) -> dict[Key, np.ndarray]:
        found = {}
        for c in self._residual.corrections:
            mine = {key: layer for key, layer in self._layers.items() if key[0] == c.name}
            loudness = np.concatenate([layer.loudness for layer in mine.values()])
            rows = self._evidence.rows(c, _units(list(mine.values()), c.members), loudness)
            ends = np.cumsum([len(layer.phases) for layer in mine.values()])[:-1]
            found |= dict(zip(mine, np.split(rows, ends, axis=-1), strict=True))
        return found

    def pick(self, among: Residual) -> Pick:
        """Terms of these corrections, as long as another one still pays."""
        keys = [key for key in self._layers if key[0] in {c.name for c in among.corrections}]
        best = Pick({}, 1.0)
        while True:
            tries = [best.terms | {key: s} for key in keys for s in STRENGTHS]
            found = min((Pick(t, self._design(t).left_out()) for t in tries), key=lambda c: c.left)
            if found.left > best.left - LEAST:
                return best
            best = found

    def _design(self, terms: dict[Key, float]) -> Windowed:
        rows = [self._rows[key] * np.sqrt(strength) for key, strength in terms.items()]
        return windowed(self._evidence.misfit, np.concatenate(rows, axis=-1))

    def sum_of(self, pick: Pick) -> Sum:
        """The corrections that have terms, with their units."""
        made, loudness = [], {}
        for c in self._residual.corrections:
            mine = [(self._layers[key], s) for key, s in pick.terms.items() if key[0] == c.name]
            if mine:
                made.append(eqx.tree_at(lambda c: c.units, c, _units([layer for layer, _ in mine], c.members)))
                loudness[c.name] = np.concatenate([layer.loudness * np.sqrt(s) for layer, s in mine])
        return Sum(Residual(tuple(made), self._residual.heard), loudness)


def named(terms: dict[Key, float]) -> dict[str, tuple[str, ...]]:
    """The names of each correction's terms."""
    return {name: tuple(t for n, t in terms if n == name) for name, _ in terms}


def spelled(terms: dict[Key, float]) -> str:
    """The terms in words, correction by correction."""
    return "; ".join(f"{name}: {', '.join(listed)}" for name, listed in named(terms).items())


def _units(layers: list[Layer], members: int) -> Units:
    weights, phases, waves = (np.concatenate([getattr(x, k) for x in layers]) for k in ("weights", "phases", "waves"))
    arrays = jnp.asarray(weights, jnp.float32), jnp.asarray(phases, jnp.float32), jnp.asarray(waves)
    return Units(*arrays, jnp.zeros((members, len(phases))))


def _with_last(correction: Correction, last: np.ndarray) -> Correction:
    return eqx.tree_at(lambda c: c.units.last, correction, jnp.asarray(last, jnp.float32))


@eqx.filter_jit
def _shapes(correction: Correction, units: Units, saw: np.ndarray) -> jax.Array:
    """What each unit makes of what was seen, faded off the data."""

    def shape(seen: jax.Array) -> jax.Array:
        normal = correction.normal(seen)
        return correction.nearness(normal) * units.hidden(normal)

    return jax.vmap(jax.vmap(shape))(jnp.asarray(saw, jnp.float32))
