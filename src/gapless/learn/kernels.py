"""Random waves over what a correction sees: hidden layers under which a ridge regression is a Gaussian process."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gapless.simulators.parts import Sight

AWAY = 4.0
"""Length over everything but the place, for what is uneven along it."""


@dataclass(frozen=True)
class Kernel:
    """Which shapes a correction may take: each scale is a length in deviations of the data; None leaves that kind out."""

    smooth: float | None = None
    """Over everything that is seen now and was just before."""
    moving: float | None = None
    """Over velocities, commands and their changes, wherever the joint is."""
    lagging: float | None = None
    """As `moving`, and over commands of longer ago: for what follows them slowly."""
    ripple: float | None = None
    """Over the place alone, for what repeats or is uneven along it."""
    uneven: float | None = None
    """Over everything, but this short along the place: what meets the joint's motion more here than there."""

    def layer(
        self, sight: Sight, width: int, rng: np.random.Generator
    ) -> tuple[Float[np.ndarray, "wave feature"], Float[np.ndarray, " wave"]]:
        """Weights and phases of `width` random waves, the kinds side by side in equal shares."""
        places = np.array(sight.places, int)
        every = np.arange(sight.width - len(sight.late))
        elsewhere = np.setdiff1d(every, places)
        with_late = np.append(elsewhere, np.array(sight.late, int))
        scaled = (self.smooth, every), (self.moving, elsewhere), (self.lagging, with_late), (self.ripple, places)
        kinds = [
            (np.full(len(columns), scale), columns) for scale, columns in scaled if scale is not None and len(columns)
        ]
        if self.uneven is not None:
            kinds.append((np.where(np.isin(every, places), self.uneven, AWAY), every))
        weights, shares = np.zeros((width, sight.width)), np.array_split(np.arange(width), len(kinds))
        for (scales, columns), rows in zip(kinds, shares, strict=True):
            weights[np.ix_(rows, columns)] = rng.standard_normal((len(rows), len(columns))) / scales
        return weights, rng.uniform(0, 2 * np.pi, width)


KERNELS = (
    Kernel(moving=4.0),
    Kernel(smooth=3.0),
    Kernel(smooth=6.0),
    Kernel(smooth=5.0, ripple=0.4),
    Kernel(moving=4.0, uneven=0.5),
    Kernel(lagging=5.0),
)
"""What is tried; which one is chosen, windows that a fit has not seen decide."""
