"""The policy that an adapter's preparation begins with."""

from gapless.core import GaplessError
from gapless.nets.policy import NetworkPolicy, Shape, new_policy, shape_of

from ..learning import Place
from ..squash import require_feed_forward
from ..train import train
from .adaptation import Means


def beginning(place: Place, means: Means, hidden: tuple[int, int] | None, word: str) -> tuple[NetworkPolicy, bool]:
    """The policy to begin with, and whether it is trained: the one in place, or one by the usual recipe; untrained where a
    size of its own is asked for."""
    if hidden is not None:
        return new_policy(place.simulator.interface, place.task.observe, Shape(hidden), means.key), False
    if isinstance(means.in_place, NetworkPolicy) and shape_of(means.in_place).kind == "mlp":
        return means.in_place, True
    found = train(place.simulator, place.belief, place.task, means.recipe, means.key, means.along("beginning")).policy
    if not isinstance(found, NetworkPolicy):
        raise GaplessError(
            f"{word} learns to adapt a feed-forward network, and the recipe {means.recipe.method.word!r} trains a "
            f"{type(found).__name__}. Train with ppo."
        )
    require_feed_forward(found, word)
    return found, True
