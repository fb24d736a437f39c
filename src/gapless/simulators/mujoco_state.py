"""What a batch of MuJoCo worlds and all that surrounds it remember from one period to the next."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from jaxtyping import Float
from mujoco.batch import Batch


@dataclass
class MujocoState:
    """A live batch and what surrounds it. Stepping changes it in place."""

    batch: Batch
    params: dict[str, np.ndarray]
    past: Float[np.ndarray, "world past command"]
    """Commands still under way, newest first."""
    weights: Float[np.ndarray, "world substep past"]
    trail: Float[np.ndarray, "world substep column"]
    """Sensor values of the last substeps, for measurements that arrive late."""
    memories: dict[str, Any] = field(default_factory=dict)
    """Memories of the blocks around the physics."""
    late: bool = False
    """Whether some reading of some world is old."""
    rows: np.ndarray | None = None
    """In a snapshot: the batch's state at that time."""

    def copy(self) -> Self:
        """All but the batch itself, of which the rows are kept."""
        return replace(
            self,
            params={k: v.copy() for k, v in self.params.items()},
            past=self.past.copy(),
            weights=self.weights.copy(),
            trail=self.trail.copy(),
            memories=dict(self.memories),
            rows=self.batch.state.copy(),
        )
