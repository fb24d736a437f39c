"""Ridge regression of forces that nobody measured, from what they would do to the windows; judged by windows left out."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

FOLDS, IN_A_ROW = 4, 2
"""Left-out parts, and windows that are left out together because they follow each other."""
ROUNDS = 4
"""Of weighing: windows that stay badly explained lose weight."""


@dataclass(frozen=True)
class Windowed:
    """One design: per window, the Gram matrix and the correlation of its rows, and what its misfit is worth."""

    gram: Float[np.ndarray, "window wave wave"]
    pull: Float[np.ndarray, "window wave"]
    square: Float[np.ndarray, " window"]

    def left(self, weights: Float[np.ndarray, " wave"]) -> Float[np.ndarray, " window"]:
        """The square misfit of each window with these weights."""
        bent = np.einsum("wij,j->wi", self.gram, weights)
        return np.maximum(self.square - 2 * self.pull @ weights + bent @ weights, 0.0)

    def solve(self, strength: float, trust: Float[np.ndarray, " window"]) -> Float[np.ndarray, " wave"]:
        """Weights of deviation √strength beforehand; windows count by their trust, and less where they stay unexplained."""
        weights, ridge = np.zeros(self.pull.shape[1]), np.eye(self.pull.shape[1]) / strength
        used = trust > 0
        for _ in range(ROUNDS):
            left = self.left(weights)
            w = trust * 5 / (4 + left / max(float(np.median(left[used])), 1e-12))
            weights = np.linalg.solve(np.einsum("w,wij->ij", w, self.gram) + ridge, w @ self.pull)
        return weights


def windowed(
    misfit: Float[np.ndarray, "window query"], answer: Float[np.ndarray, "window query force"],
    waves: Float[np.ndarray, "window force wave"], unruly: float,
) -> Windowed:  # fmt: skip
    """The design in which `answer · waves · weights` shall explain −misfit.

    `unruly` is the variance of forces that no function explains: along their answers, misfit counts for less.
    """
    noise = np.eye(misfit.shape[1]) + unruly * (answer @ np.swapaxes(answer, 1, 2))
    whiten = np.linalg.inv(np.linalg.cholesky(noise))
    rows = whiten @ (answer @ waves)
    target = -(whiten @ misfit[..., None])[..., 0]
    gram = np.swapaxes(rows, 1, 2) @ rows
    return Windowed(gram, np.einsum("wqk,wq->wk", rows, target), (target**2).sum(axis=1))


def left_out(design: Windowed, plain: Windowed, strength: float) -> float:
    """How much of the misfit of windows left out remains, as a typical share: below one, the design predicts.

    Weights are found by `design` and judged by `plain`, in which all misfit counts.
    """
    count = len(design.square)
    fold = np.arange(count) // IN_A_ROW % FOLDS
    shares = np.empty(count)
    for k in range(FOLDS):
        weights = design.solve(strength, (fold != k).astype(float))
        shares[fold == k] = (plain.left(weights) / np.maximum(plain.square, 1e-12))[fold == k]
    typical = float(np.median(plain.square))
    # Windows that move much count more, and none for everything.
    worth = np.sqrt(plain.square * typical) / (np.sqrt(plain.square * typical) + typical)
    return float((worth * np.sqrt(shares)).sum() / worth.sum())
