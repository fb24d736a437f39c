"""The subcommand that adapts a policy on the robot."""

from dataclasses import dataclass, field, replace
from typing import Any

from gapless.core import Artifact
from gapless.engine import Begin, Workspace, adapt, contenders, robot_seconds_spent, standing, way_of
from gapless.robots import find_robot
from gapless.train.adapting import Adapter

from .console import say, table, working
from .options import OnRobot
from .stored import latest


@dataclass(frozen=True)
class AdaptCommand(OnRobot):
    """Adapt a policy to this robot by a few episodes on it, through the safety gate.

    Methods that search between episodes: strategy-bo and strategy-cma try what a universal policy is told; simopt moves the
    randomization towards what the robot did and trains on; delta corrects the simulator's commands by what it did, likewise.
    Methods that adapt within an episode, and need one only to show it: rma, up-osi, distil, memory. Methods that have learnt
    how a few episodes should change them: maml, es-maml, and norml, which needs no reward. What they need is trained first,
    over the newest belief. Every try is kept as a log; a command that was interrupted goes on where it stopped, and one that
    is repeated finds what it made (--seed makes another).
    """

    method: str = field(kw_only=True)
    """How: simopt, up-osi, rma, distil, memory, strategy-cma, strategy-bo, maml, norml, es-maml or delta."""
    episodes: int | None = None
    """Episodes on the robot, at most; the method's own number if not given."""
    robot_seconds: float | None = None
    """Robot seconds that it may take in all, resets and interrupted episodes included; nothing is begun that could take more."""

    def run(self) -> dict[str, Any]:
        adapter, workspace = self._adapter(), self.open()
        belief = latest(workspace, "belief", "Run `gapless learn` first: adaptation begins with what is believed.")
        robot = find_robot(self.robot)
        with workspace.locked(), working("adapt") as tell:
            stages = self.stages(workspace, tell)
            stages = replace(stages, recipe=replace(self.recipe, force=self.force or self.recipe.force))
            made = adapt(stages, robot, adapter, Begin(belief, _in_place(workspace), self.robot_seconds))
        show(made)
        spent = robot_seconds_spent(workspace.store)
        say(
            f"{made.figures['robot_seconds']:.0f} robot seconds, {spent:.0f} in this workspace so far, resets included."
        )
        return made.figures

    def _adapter(self) -> Adapter:
        adapter = way_of(self.method)
        return adapter if self.episodes is None else replace(adapter, episodes=self.episodes)


def show(made: Artifact) -> None:
    """The tries as a table, and what was kept."""
    tries = made.figures["tries"]
    rows = [[k + 1, t["return"], t["passed"], t["stopped"] or "", t["kept"]] for k, t in enumerate(tries)]
    table(f"Tried by {made.figures['method']}", ["try", "return", "passed", "stopped", "kept"], rows)
    first = "the adapted policy" if made.figures["adapted"] else "the policy that was tried first"
    say(f"Policy {made.id} is {first if tries else 'as it was trained'}; {made.figures['return']:.2f} over the belief.")


def _in_place(workspace: Workspace) -> Artifact | None:
    """The policy to stand by among those that were trained and not adapted."""
    trained = [a for a in contenders(workspace.store) if "adaptation" not in a.recipe]
    return standing(workspace.store, trained) if trained else None
