"""Random waves over what a correction sees: hidden layers under which a ridge regression is a Gaussian process."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gapless.simulators.parts import Sight


@dataclass(frozen=True)
class Kernel:
    """Which shapes a correction may take: each scale is a length in deviations of the data; None leaves that kind out."""

    smooth: float | None = None
    """Over everything that is seen."""
    moving: float | None = None
    """Over velocities, commands and their changes, wherever the joint is."""
    ripple: float | None = None
    """Over the place alone, for what repeats or is uneven along it."""

    def layer(
        self, sight: Sight, width: int, rng: np.random.Generator
    ) -> tuple[Float[np.ndarray, "wave feature"], Float[np.ndarray, " wave"]]:
        """Weights and phases of `width` random waves, the kinds side by side in equal shares."""
        places = np.array(sight.places, int)
        elsewhere = np.setdiff1d(np.arange(sight.width), places)
        every = np.arange(sight.width)
        kinds = [
            (scale, columns)
            for scale, columns in ((self.smooth, every), (self.moving, elsewhere), (self.ripple, places))
            if scale is not None and len(columns)
        ]
        weights, shares = np.zeros((width, sight.width)), np.array_split(np.arange(width), len(kinds))
        for (scale, columns), rows in zip(kinds, shares, strict=True):
            weights[np.ix_(rows, columns)] = rng.standard_normal((len(rows), len(columns))) / scale
        return weights, rng.uniform(0, 2 * np.pi, width)


KERNELS = (
    Kernel(moving=4.0),
    Kernel(smooth=3.0),
    Kernel(smooth=6.0),
    Kernel(smooth=5.0, ripple=0.4),
)
"""What is tried; which one is chosen, windows that a fit has not seen decide."""
