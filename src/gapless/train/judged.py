"""What a batch was worth: what a critic sees of it, what was paid, and answers to many rows at once."""

from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.nets.normaliser import Normaliser, new_normaliser, recalled, update
from gapless.nets.seeing import SeeingPolicy


class Priced(Protocol):
    """What a recipe says about prices."""

    @property
    def smooth(self) -> float: ...
    @property
    def energy(self) -> float: ...


def criticized(batch: dict[str, Any], asymmetric: bool) -> tuple[Any, Any]:
    """What the critic sees before and after each period: all that a simulator knows, or only what the policy sees."""
    if asymmetric:
        return batch["known"], batch["known_next"]
    told = batch["seen"][..., batch["observation"].shape[-1] :]
    return batch["seen"], jnp.concatenate([batch["observation_next"], told], axis=-1)


def eyes_of(policy: SeeingPolicy, trained: bool) -> Normaliser:
    """What a policy has seen where its training begins: all that its normalisation stands for, or nothing."""
    return recalled(policy.shift, policy.scale) if trained else new_normaliser(len(policy.shift))


def noticed(learner: Any, seen: Float[Array, "step world seen"], known: Float[Array, "step world known"]) -> Any:
    """The learner with a batch counted in, of what its policy and of what its critic sees."""
    return learner._replace(
        observed=update(learner.observed, seen.reshape(-1, seen.shape[-1])),
        critic_observed=update(learner.critic_observed, known.reshape(-1, known.shape[-1])),
    )


def undoubted(batch: dict[str, Any]) -> Float[Array, "step world"]:
    """The reward, less what doubt costs: at most what a period is usually worth, which is nobody's to change."""
    return batch["reward"] - batch["doubt"] * jax.lax.stop_gradient(jnp.abs(batch["reward"]).mean())


def paid(batch: dict[str, Any], recipe: Priced, period_s: float) -> Float[Array, "step world"]:
    """The reward, less what doubt, jumps and effort cost."""
    effort = (jnp.clip(batch["unit"], -1, 1) ** 2).mean(-1)
    price = period_s * (recipe.smooth * batch["change"] + recipe.energy * effort)
    return undoubted(batch) - price


def answers(network: Any, rows: Float[Array, "*row seen"]) -> Float[Array, "*row answer"]:
    """A network's answers to rows, of any number of leading axes, kept within ten deviations."""
    flat = jax.vmap(network)(jnp.clip(rows, -10, 10).reshape(-1, rows.shape[-1]))
    return flat.reshape(*rows.shape[:-1], -1)


def normal(seen: Normaliser, rows: Float[Array, "*row seen"]) -> Float[Array, "*row seen"]:
    """Rows in deviations from what has been seen."""
    return (rows - seen.shift) * seen.scale
