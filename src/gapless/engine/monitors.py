"""The monitor at run time: learned before a policy is sent to the robot, and put around it there."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gapless.core import Artifact, Block, Log, key_for
from gapless.learn.watch import Healthy, learn_watch
from gapless.logs import read_logs
from gapless.nets.stored_watch import load_watch, save_watch
from gapless.nets.watched import Watched

from .episodes import LOGS
from .stages import Stages

KIND = "monitor"


def monitor(stages: Stages, belief: Artifact | None, policy: Artifact, logs: list[Artifact]) -> Artifact:
    """A watch for a policy, from the belief and from what policies did on the robot before."""
    own = [
        a for a in logs if a.recipe.get("purpose") != "excite"
    ]  # motions that teach are no healthy episodes of a policy
    made_of = {"policy": policy.id} | ({} if belief is None else {"belief": belief.id})
    made_of |= {f"logs{k}": a.id for k, a in enumerate(own)}
    recipe = {"crank": stages.crank, "seed": stages.seed, "watch": asdict(stages.recipe.watch)}

    def build(folder: Path) -> dict[str, Any]:
        stages.tell("learning what to expect of the robot")
        healthy = Healthy(
            stages.simulator(belief), stages.believed(belief), stages.workspace.task, stages.policy(policy)
        )
        key = key_for(stages.seed, "watch", stages.crank)
        found = learn_watch(healthy, _healthy(own), stages.recipe.watch, key)
        save_watch(folder, found.watch)
        return {
            "threshold": np.asarray(found.watch.threshold),
            "widened": found.widened,
            "simulated": np.sort(found.simulated)[::-1][:20],
            "real": np.sort(found.real)[::-1],
            "false_alarms_simulated": float(np.mean(found.simulated > 1)),
        }

    return stages.workspace.store.make(KIND, made_of, recipe, build)


def watched(stages: Stages, policy: Artifact, watch: Artifact, in_place: Artifact | None) -> Block:
    """The policy under watch; its fallback is rest, or the policy in place where the recipe says so and there is one."""
    standing = stages.recipe.fallback == "standing" and in_place is not None and in_place.id != policy.id
    fallback = stages.policy(in_place) if standing and in_place is not None else None
    return Watched(stages.policy(policy), load_watch(watch.folder), fallback)


def _healthy(logs: list[Artifact]) -> list[Log]:
    """Episodes that came to their own end."""
    every = [log for a in logs for log in read_logs(a.folder / LOGS)]
    return [log for log in every if not log.source.get("stopped")]
