"""The privileged half of a two-phase training: PPO on a policy that is told the params of its world."""

from dataclasses import replace

from jaxtyping import PRNGKeyArray

from gapless.core import GaplessError
from gapless.nets.policy import NetworkPolicy

from .batches import Batches
from .experience import drawn_params
from .learning import Method, Place
from .ppo import Ppo, PpoRule


def told_first(recipe: Ppo, method: Method, place: Place, length: int, key: PRNGKeyArray) -> Batches:
    """PPO with the worlds and steps of `method` and a budget of `length` iterations, told what is drawn there."""
    told, budget = all_told(place, recipe.told), length * method.per_iteration
    recipe = replace(recipe, told=told, worlds=method.worlds, steps=method.steps, budget=budget)
    rule = PpoRule(recipe, place, None)
    return Batches(place, recipe, rule, rule.new(key))


def network_of(first: Batches) -> NetworkPolicy:
    """The policy that is told, as it is now."""
    assert isinstance(first.policy, NetworkPolicy)
    return first.policy


def all_told(place: Place, told: tuple[str, ...]) -> tuple[str, ...]:
    """The params that a teacher is told: the named ones, or else all that the belief draws for this simulator."""
    drawn = drawn_params(place)
    unknown = [name for name in told if name not in drawn]
    if unknown or not drawn:
        what = repr(unknown[0]) if unknown else "any param"
        raise GaplessError(
            f"nobody can be told {what}: the belief draws {', '.join(drawn) or 'none'} of the simulator's. Name another, or "
            "give it to the belief."
        )
    return told or drawn
