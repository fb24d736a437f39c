"""The same belief, less sure of itself."""

from .belief import Belief, Gaussian, Point
from .chosen import Chosen
from .particles import Particles


def wider(belief: Belief, times: float) -> Belief:
    """The belief with deviations so many times as large, within what is plausible; choices are as open as before."""
    if times <= 1.0 or isinstance(belief, Point):
        return belief
    if isinstance(belief, Chosen):
        return Chosen(wider(belief.beside, times), belief.choice, belief.count)
    if isinstance(belief, Particles):
        belief = belief.gaussian()
    if isinstance(belief, Gaussian):
        return Gaussian(belief.names, belief.centre, belief.covariance * times**2, belief.low, belief.high)
    return belief
