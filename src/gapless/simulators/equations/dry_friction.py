"""Dry friction as MuJoCo has it: a soft constraint on each joint that stops it, within what friction can hold."""

import jax
import jax.numpy as jnp
import mujoco

from .fields import Fields
from .scalars import Scalar, minus, plus, times, total
from .symmetric import Factors

SWEEPS = 32
"""Of the joints' forces after each other, where more than two joints rub at once."""
Entries = dict[tuple[int, int], Scalar]


class DryFriction:
    """How softly each joint is held, and how fast it is stopped."""

    def __init__(self, model: mujoco.MjModel, fields: Fields, at_rest: Entries) -> None:
        self._dry = fields.dry
        self._limit = [fields.friction[i] for i in self._dry]
        self._soft, self._rate = [], []
        for i in self._dry:
            least, most = float(model.dof_solimp[i, 0]), float(model.dof_solimp[i, 1])
            impedance = least if model.dof_solimp[i, 2] > 1e-15 and least != most else (least + most) / 2
            time_s, other = (float(v) for v in model.dof_solref[i])
            slowest = max(time_s, 2 * float(model.opt.timestep))  # MuJoCo keeps it from being stiffer than it can step
            self._soft.append(times((1 - impedance) / impedance, at_rest[i, i]))
            self._rate.append(2 / (most * slowest) if time_s > 0 else -other / most)

    def forces(self, factors: Factors, free: list[Scalar], velocity: list[Scalar]) -> dict[int, Scalar]:
        """What friction exerts on each joint; `free` are the accelerations without it."""
        if not self._dry:
            return {}
        inverse = factors.inverse(self._dry)
        count = range(len(self._dry))
        answer = [[inverse[i, j] for j in self._dry] for i in self._dry]
        for k in count:
            answer[k][k] = plus(answer[k][k], self._soft[k])
        wanted = [minus(times(-self._rate[k], velocity[i]), free[i]) for k, i in enumerate(self._dry)]
        if len(self._dry) == 1:
            found = [self._within(0, wanted[0] / answer[0][0])]
        elif len(self._dry) == 2:
            found = self._of_two(answer, wanted)
        else:
            found = self._of_many(answer, wanted)
        return dict(zip(self._dry, found, strict=True))

    def _within(self, k: int, force: Scalar) -> Scalar:
        return jnp.clip(force, -self._limit[k], self._limit[k])

    def _given(self, k: int, answer: list[list[Scalar]], wanted: list[Scalar], forces: list[Scalar]) -> Scalar:
        """The best force on one joint while those on the others stay."""
        others = total(times(answer[k][j], f) for j, f in enumerate(forces) if j != k)
        return self._within(k, minus(wanted[k], others) / answer[k][k])

    def _of_two(self, answer: list[list[Scalar]], wanted: list[Scalar]) -> list[Scalar]:
        """Exactly: inside both limits, or on the best of the four edges."""
        (a, b), (_, c) = answer
        determinant = minus(times(a, c), times(b, b))
        free = (
            minus(times(c, wanted[0]), times(b, wanted[1])) / determinant,
            minus(times(a, wanted[1]), times(b, wanted[0])) / determinant,
        )
        inside = (jnp.abs(free[0]) <= self._limit[0]) & (jnp.abs(free[1]) <= self._limit[1])
        edges = []
        for sign in (-1.0, 1.0):
            held = times(sign, self._limit[0])
            edges.append((held, self._given(1, answer, wanted, [held, 0.0])))
            held = times(sign, self._limit[1])
            edges.append((self._given(0, answer, wanted, [0.0, held]), held))
        best, cost = edges[0], _cost(answer, wanted, edges[0])
        for edge in edges[1:]:
            other = _cost(answer, wanted, edge)
            better = other < cost
            best = tuple(jnp.where(better, e, f) for e, f in zip(edge, best, strict=True))
            cost = jnp.where(better, other, cost)
        return [jnp.where(inside, f, e) for f, e in zip(free, best, strict=True)]

    def _of_many(self, answer: list[list[Scalar]], wanted: list[Scalar]) -> list[Scalar]:
        """By Gauss-Seidel, from where no limit would leave them."""

        def sweep(_: int, forces: list[Scalar]) -> list[Scalar]:
            for k in range(len(forces)):
                forces = [*forces[:k], self._given(k, answer, wanted, forces), *forces[k + 1 :]]
            return forces

        begun = [self._within(k, f) for k, f in enumerate(Factors(answer).solve(wanted))]
        return jax.lax.fori_loop(0, SWEEPS, sweep, begun)


def _cost(answer: list[list[Scalar]], wanted: list[Scalar], forces: tuple[Scalar, ...]) -> Scalar:
    """What the forces minimise."""
    half = total(
        times(times(0.5, answer[i][j]), times(forces[i], forces[j]))
        for i in range(len(forces))
        for j in range(len(forces))
    )
    return minus(half, total(times(w, f) for w, f in zip(wanted, forces, strict=True)))
