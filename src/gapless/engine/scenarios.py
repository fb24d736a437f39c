"""The behaviour tests of a workspace: how often a policy holds in each, and whether it lost what the one in place could do."""

from pathlib import Path
from typing import Any

import jax
import numpy as np

from gapless.core import Artifact, Block, GaplessError, Simulator, Verdict, key_for
from gapless.simulators import Disturbed, Rollout, logs_of
from gapless.tasks.scenario import Scenario
from gapless.tasks.scenario_file import read_scenarios, scenario_to_dict

from .pass_rates import paired, pass_rate
from .stages import Stages
from .workspace import SCENARIOS, Workspace

KIND = "scenarios"
"""The kind of artifact that holds how scenarios went."""
BY_CHANCE = 0.05
"""Probability with which a policy that is as good as the one in place is held back, over all scenarios together."""


def scenarios_of(workspace: Workspace) -> list[Scenario]:
    """The scenarios in the workspace's folder, all of them about its task."""
    found = read_scenarios(workspace.folder / SCENARIOS)
    for scenario in found:
        if scenario.task not in (workspace.task.name, workspace.settings.task):
            raise GaplessError(
                f"the scenario {scenario.name!r} is about the task {scenario.task!r}, and this workspace is about "
                f"{workspace.task.name!r}. Move it to a workspace of that task."
            )
    return found


def prove(stages: Stages, belief: Artifact | None, policy: Artifact, against: Artifact | None) -> Artifact | None:
    """How a policy does in every scenario, beside the one in place in the same worlds; None where there is no scenario."""
    found = scenarios_of(stages.workspace)
    if not found:
        return None
    made_of = {"policy": policy.id} | ({} if belief is None else {"belief": belief.id})
    made_of |= {} if against is None else {"against": against.id}
    draws = stages.recipe.scenario_draws
    recipe: dict[str, Any] = {"crank": stages.crank, "seed": stages.seed, "draws": draws}
    recipe["scenarios"] = [scenario_to_dict(s) for s in found]

    def build(folder: Path) -> dict[str, Any]:
        rows = []
        for k, scenario in enumerate(found):
            stages.tell(f"playing {scenario.name}", k / len(found))
            now = play(stages, belief, stages.policy(policy), scenario)
            before = None if against is None else play(stages, belief, stages.policy(against), scenario)
            rows.append(_row(scenario, now, before, BY_CHANCE / len(found)))
        return {"scenarios": rows, "regressed": [row["name"] for row in rows if row["regressed"]]}

    return stages.workspace.store.make(KIND, made_of, recipe, build)


def require_no_regression(proved: Artifact | None) -> None:
    """Refuse a policy that fails where the one in place held, beyond what chance would do."""
    lost = [] if proved is None else [row for row in proved.figures["scenarios"] if row["regressed"]]
    if lost:
        worst = min(lost, key=lambda row: row["chance"])
        raise GaplessError(
            f"the policy is not sent to the robot: in the scenario {worst['name']!r} it holds in {worst['passed']} of "
            f"{worst['of']} worlds, and the policy in place held in {worst['before']} of the same ones (it loses "
            f"{worst['lost']} and wins {worst['won']}). Train longer, look at the scenario, or add --force."
        )


def play(stages: Stages, belief: Artifact | None, policy: Block, scenario: Scenario) -> list[Verdict]:
    """One verdict per world; the same scenario, seed and belief give every policy the same worlds, starts and noise."""
    task, draws = stages.workspace.task, stages.recipe.scenario_draws
    simulator = stages.simulator(belief)
    _require_fitting(scenario, simulator)
    keys = jax.random.split(key_for(stages.seed, "scenario", scenario.name), 3)
    params, start = scenario.worlds(stages.believed(belief), keys[0], draws), scenario.starts(task, keys[1], draws)
    rollout = Rollout(Disturbed(simulator.with_worlds(draws), scenario.disturbances), task)
    episodes = rollout.run(policy, params, keys[2], start)
    return [scenario.must.judge(task, log) for log in logs_of(episodes, rollout.simulator)]


def _row(scenario: Scenario, now: list[Verdict], before: list[Verdict] | None, least: float) -> dict[str, Any]:
    rate = pass_rate(sum(v.passed for v in now), len(now))
    worst = min(now, key=lambda v: v.margin)
    row = {"name": scenario.name, **rate._asdict(), "margin": float(np.median([v.margin for v in now]))}
    row |= {"worst": worst.reason, "before": None, "lost": None, "won": None, "chance": None, "regressed": False}
    if before is None:
        return row
    both = paired([v.passed for v in before], [v.passed for v in now])
    return row | {"before": sum(v.passed for v in before), **both._asdict(), "regressed": both.chance < least}


def _require_fitting(scenario: Scenario, simulator: Simulator) -> None:
    """Every name that a scenario uses is one that the simulator has."""
    interface, belief = simulator.interface, scenario.belief or {}
    named = {
        "joint state": (scenario.start, [f"{j}.{side}" for j in simulator.joints for side in ("position", "velocity")]),
        "parameter": ([*scenario.params, *belief.get("names", ())], [p.name for p in simulator.parameters]),
        "channel": ([*scenario.must.within, *scenario.must.settles], interface.measurement_names),
    }
    for what, (used, there) in named.items():
        strange = sorted(set(used) - set(there))
        if strange:
            raise GaplessError(
                f"the scenario {scenario.name!r} names the {what} {strange[0]!r}; there are: {', '.join(there)}."
            )
