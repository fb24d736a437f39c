"""A training on disk, look by look, so that one that was interrupted goes on exactly as one that was not."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapless.core import GaplessError
from gapless.core.artifact import write_text
from gapless.core.reading import read_limited
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.weights import load_weights, save_weights

COUNT = "looks.json"
LARGEST = 2**20
"""Bytes that the count of looks can have."""


@dataclass(frozen=True)
class Seen:
    """A policy at a look."""

    policy: SeeingPolicy
    steps: int
    """Control periods that it was trained for."""
    value: float
    """Its mean return."""
    passed: float
    """Share of its episodes that pass."""


def best_of(seen: list[Seen]) -> int:
    """Which of the policies is worth most, the first of them where several are."""
    return max(range(len(seen)), key=lambda k: seen[k].value)


@dataclass(frozen=True)
class Checkpoint:
    """A folder of one training. Its name must say what the training is made of: nothing inside does."""

    folder: Path

    def write(self, learner: Any, seen: list[Seen]) -> None:
        """Keep all of it, of learners the last and the best. The count is written last: until then, what was kept before is
        what is found."""
        self.folder.mkdir(parents=True, exist_ok=True)
        last = len(seen) - 1
        save_weights(self._policy(last), seen[last].policy)
        save_weights(self._learner(last), learner)
        rows = [[s.steps, s.value, s.passed] for s in seen]
        write_text(self.folder / COUNT, json.dumps(rows))
        for k in set(range(last)) - {best_of(seen)}:
            self._learner(k).unlink(missing_ok=True)

    def at_best(self, learner: Any, seen: list[Seen], given: int) -> Any:
        """The learner at the best look, or None where that is one of those that were `given` from the beginning."""
        best = best_of(seen) if seen else -1
        return load_weights(self._learner(best), learner) if best >= given else None

    def read(self, learner: Any, policy: SeeingPolicy, seen: list[Seen]) -> tuple[Any, list[Seen]]:
        """What was kept, or, where nothing was or it is damaged, what is given; policies are shaped like `policy`."""
        if not (self.folder / COUNT).is_file():
            return learner, seen
        try:
            rows = json.loads(read_limited(self.folder / COUNT, LARGEST))
            kept = [
                Seen(load_weights(self._policy(k), policy), int(steps), float(value), float(passed))
                if k >= len(seen)
                else seen[k]
                for k, (steps, value, passed) in enumerate(rows)
            ]
            self.at_best(learner, kept, len(seen))
            return load_weights(self._learner(len(rows) - 1), learner), kept
        except (GaplessError, ValueError, TypeError):
            return learner, seen

    def _policy(self, k: int) -> Path:
        return self.folder / f"policy-{k}.safetensors"

    def _learner(self, k: int) -> Path:
        return self.folder / f"learner-{k}.safetensors"
