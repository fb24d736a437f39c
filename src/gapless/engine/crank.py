"""Turns of the loop: collect what is needed, learn, train, check, forecast, deploy. Killed anywhere, it goes on."""

from collections.abc import Callable, Iterator

from gapless.core import Artifact, Robot
from gapless.learn import NoSafeMotion
from gapless.robots import Gate

from .incumbent import standing
from .next_best import next_best
from .recipe import Recipe
from .sending import readied
from .stages import Stages
from .training import train_policy
from .turn import Turn, robot_seconds_spent
from .workshop import Tell, to_nobody
from .workspace import Workspace


def cranks(
    workspace: Workspace,
    robot: Robot,
    recipe: Recipe,
    seed: int,
    count: int,
    tell: Callable[[int], Tell] = lambda crank: to_nobody,
) -> Iterator[Turn]:
    """Turn the crank until there have been `count` turns; those finished before are found, not made again."""
    workspace.interface.require_same(robot.interface, "the workspace", "the robot")
    if not recipe.clone:  # before the robot moves; a clone is there only later
        recipe.train.method.require_place(workspace.simulator)
    # Episodes of adaptations are another matter: with them among its logs, a crank would turn everything anew.
    by_hand = [a for a in workspace.store.all("logs") if a.recipe["crank"] == 0]
    logs = [a for a in by_hand if a.recipe.get("purpose") != "adapt"]
    turns = (Stages(workspace, recipe, seed, crank, tell(crank)) for crank in range(1, count + 1))
    try:
        yield from (next_best if recipe.schedule == "next-best" else _fixed)(turns, robot, logs)
    finally:
        Gate(robot).disconnect()  # whatever the driver raises becomes one sentence


def _fixed(turns: Iterator[Stages], robot: Robot, logs: list[Artifact]) -> Iterator[Turn]:
    """As counted beforehand: motions first, one more where the belief is wide, and the same episodes after each training."""
    belief, policies = None, []
    for stages in turns:
        if belief is None:
            logs.append(stages.excite(robot, None, stages.recipe.excite_first))
        elif stages.is_wide(belief):
            logs += _more(stages, robot, belief)
        turn = _turn(stages, robot, logs, policies)
        belief = turn.belief
        policies.append(turn.policy)
        logs += turn.deployed
        yield turn


def _more(stages: Stages, robot: Robot, belief: Artifact) -> list[Artifact]:
    """One more motion that teaches, where there is a safe one: else the deployment has to teach alone."""
    try:
        return [stages.excite(robot, belief, 1)]
    except NoSafeMotion:
        stages.tell("no motion is safe under this belief, going on without one")
        return []


def _turn(stages: Stages, robot: Robot, logs: list[Artifact], before: list[Artifact]) -> Turn:
    store, crank = stages.workspace.store, stages.crank
    belief = stages.learn(logs)
    gap = stages.gap(belief, logs)
    in_place = standing(store, before, crank - 1) if before else None
    policy = train_policy(stages, belief, in_place)
    attribution = stages.attribute(belief, logs, policy) if stages.recipe.explain else None
    ready = readied(stages, belief, policy, in_place, logs)
    deployed = ready.deploy(stages, robot)
    outcome = stages.outcome(ready.forecast, deployed)
    spent, best = robot_seconds_spent(store, crank), standing(store, [*before, policy], crank)
    return Turn(
        crank, spent, belief, gap, attribution, policy, ready.check, ready.forecast, outcome, best, ready.proved,
        (deployed,),
    )  # fmt: skip
