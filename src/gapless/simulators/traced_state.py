"""What simulators that are stepped inside jit share, whatever moves them: joints by name, commands under way, noisy sensors."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError, Interface, Params, Signals


def refuse_strangers(start: Signals, joints: tuple[str, ...]) -> None:
    """A start names joints of the simulator alone."""
    strange = [name for name in start if name.rpartition(".")[0] not in joints]
    if strange:
        raise GaplessError(f"a start names {strange[0]!r}; the joints are {', '.join(joints)}.")


def put(state: Any, order: tuple[str, ...], joints: Signals) -> Any:
    """A state whose named joints are there; positions and velocities are (world, joint) in this order."""
    sides = {"position": state.position, "velocity": state.velocity}
    for name, values in joints.items():
        joint, _, side = name.rpartition(".")
        sides[side] = sides[side].at[:, order.index(joint)].set(jnp.asarray(values)[:, 0])
    return state._replace(**sides)


def told(state: Any, order: tuple[str, ...]) -> Signals:
    """Where all joints are and how fast they move, by name."""
    sides = {"position": state.position, "velocity": state.velocity}
    return {f"{joint}.{side}": rows[:, i : i + 1] for side, rows in sides.items() for i, joint in enumerate(order)}


def sent(
    interface: Interface, past: Float[Array, "world past command"], command: Signals
) -> Float[Array, "world past command"]:
    """The commands under way after one more, inside its limits; the newest comes first."""
    newest = [jnp.clip(jnp.asarray(command[c.name], jnp.float32), c.low, c.high) for c in interface.commands]
    return jnp.concatenate([jnp.concatenate(newest, axis=-1)[:, None], past[:, :-1]], axis=1)


def sensed(params: Params, names: tuple[str, ...], values: Float[Array, "world channel"], key: PRNGKeyArray) -> Signals:
    """What the named sensors make of the truth: scaled, biased and noisy, each world by its own parameters."""
    draws, worlds, found = jax.random.normal(key, values.shape), len(values), {}
    for k, name in enumerate(names):
        noise, bias = (params.get(f"{name}.{q}", jnp.zeros(worlds)) for q in ("noise", "bias"))
        scaled = params.get(f"{name}.scale", jnp.ones(worlds)) * values[:, k]
        found[name] = (scaled + bias + noise * draws[:, k])[:, None]
    return found
