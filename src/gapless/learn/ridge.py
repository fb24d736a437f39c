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

    gram: Float[np.ndarray, "window unit unit"]
    pull: Float[np.ndarray, "window unit"]
    square: Float[np.ndarray, " window"]

    def left(self, weights: Float[np.ndarray, " unit"]) -> Float[np.ndarray, " window"]:
        """The square misfit of each window with these weights."""
        bent = np.einsum("wij,j->wi", self.gram, weights)
        return np.maximum(self.square - 2 * self.pull @ weights + bent @ weights, 0.0)

    def solve(self, trust: Float[np.ndarray, " window"]) -> Float[np.ndarray, " unit"]:
        """Weights of deviation one beforehand; windows count by their trust, and less where they stay unexplained."""
        weights, ridge = np.zeros(self.pull.shape[1]), np.eye(self.pull.shape[1])
        used = trust > 0
        for _ in range(ROUNDS):
            left = self.left(weights)
            w = trust * 5 / (4 + left / max(float(np.median(left[used])), 1e-12))
            weights = np.linalg.solve(np.einsum("w,wij->ij", w, self.gram) + ridge, w @ self.pull)
        return weights

    def left_out(self) -> float:
        """How much of the misfit of windows left out remains, as a typical share: below one, the design predicts."""
        count = len(self.square)
        fold = np.arange(count) // IN_A_ROW % FOLDS
        shares = np.empty(count)
        for k in range(FOLDS):
            if (fold == k).any() and (fold != k).any():
                left = self.left(self.solve((fold != k).astype(float)))
                shares[fold == k] = (left / np.maximum(self.square, 1e-12))[fold == k]
        typical = float(np.median(self.square))
        # Windows that move much count more, and none for everything.
        worth = np.sqrt(self.square * typical) / (np.sqrt(self.square * typical) + typical)
        return float((worth * np.sqrt(shares)).sum() / worth.sum())


def windowed(misfit: Float[np.ndarray, "window query"], rows: Float[np.ndarray, "window query unit"]) -> Windowed:
    """The design in which `rows · weights` shall explain −misfit."""
    gram = np.swapaxes(rows, 1, 2) @ rows
    return Windowed(gram, -np.einsum("wqk,wq->wk", rows, misfit), (misfit**2).sum(axis=1))
