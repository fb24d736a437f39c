"""Every way across the gap, from the same beginning on the same hidden robots: which of them pays?

.venv/bin/python benchmarks/transfer.py --methods all --robots cartpole furuta puck arm hopper --tier C

A cell is one robot, one seed and one method, and holds what the judge found after each episode or crank on the robot. Nothing,
glue and the crank share a cell, since glue fits the logs that the cranks recorded, and J* is in part the crank's last policy
trained further in the reality. Everything but nothing may train as many steps as three cranks together; es-maml, which learns
by evolution, takes up to four times as many. What is believed before a method begins is the one that its authors begin with,
or, where that is an identified simulator or any, what a first crank identifies from its motions, whose robot seconds count.
A planner's decisions are given the time that they take: on a robot it would have to keep up.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from beginnings import CRANKS, Beginning, at_once, beginning, in_rounds, trained_steps
from frame import Benchmark, Cells, finish, write
from gapless.core import Artifact, Block, GaplessError, key_for, nominal_belief
from gapless.engine import Begin, Recipe, Stages, adapt, cranks, robot_seconds_spent, usable, way_of
from gapless.engine.adapting import ADAPTATION, CANDIDATE
from gapless.nets.seeing import SeeingPolicy
from gapless.robots import Gate
from gapless.train import train
from gapless.train.adapting import Adapter, EsMaml, Evolution
from gapless.train.planning import Cem, Planning, planner
from gapless.train.randomization import classic
from glue import glue_belief
from judge import Judge
from methods_chart import curves
from methods_table import BARS, figures, joined, matrix

CRANK = "crank"
PLANNING = Planning(Cem(iterations=1), horizon=35, knots=8, samples=20)
"""As the planner is measured elsewhere: MuJoCo's worlds are stepped one after the other on a core."""
EVOLUTION, QUICK_EVOLUTION = Evolution(iterations=32), Evolution(pairs=8, iterations=2)


class Point(NamedTuple):
    """A policy, and the robot seconds after which one would have had it."""

    robot_seconds: float
    policy: Block


Found = dict[str, list[Point]]
"""Points by method, in the order of their robot seconds."""


@dataclass(frozen=True)
class Way:
    """How a method crosses the gap."""

    belief: str
    """What is believed before it begins: the data sheet, the classic ranges, the prior, or what a first crank identified; or
    that it identifies by itself."""
    cross: Callable[[Beginning], Found]
    cell: str
    """The cell that holds it."""


def compare(options: Benchmark, robots: list[dict[str, Any]], words: list[str], chart: Path | None) -> None:
    """Fill the cells of these robots and seeds as far as the budget goes, and print, draw and write what is known."""
    cells = list(dict.fromkeys([CRANK, *(METHODS[word].cell for word in words)]))
    found = Cells("methods", options).run(cell, [{**robot, "cell": name} for robot in robots for name in cells])
    rows = [r for r in joined(found) if r["method"] in (CRANK, *words)]
    if chart is not None and rows:
        chart.write_text(curves(rows))
    shown = replace(options, json=None)
    finish("transfer", shown, figures(rows), matrix(rows), BARS)
    write("transfer", options, figures(rows), rows)


def cell(setting: dict[str, Any]) -> dict[str, Any]:
    """The methods of one cell: robot seconds, returns and success rates point by point; the crank's has J0 and J* as well."""
    with beginning(setting) as begun:
        judge = Judge(begun.spec, begun.workspace.task)
        try:
            found = METHODS[setting["cell"]].cross(begun)
        except GaplessError as error:
            if setting["cell"] == CRANK:
                raise
            return {**setting, "methods": {}, "failed": str(error)}
        made = {word: _judged(word, points, judge) for word, points in found.items()}
        ends = _ends(judge, begun, found[CRANK], setting["quick"]) if CRANK in found else {}
        return {**setting, "methods": made, **ends}


def _judged(word: str, points: list[Point], judge: Judge) -> dict[str, Any]:
    known = {id(p.policy): judge.worth(p.policy) for p in {id(p.policy): p for p in points}.values()}
    worths = [known[id(p.policy)] for p in points]
    return {
        "belief": METHODS[word].belief,
        "robot_seconds": [p.robot_seconds for p in points],
        "returns": [w.value for w in worths],
        "passed": [w.passed for w in worths],
    }


def _ends(judge: Judge, begun: Beginning, points: list[Point], quick: bool) -> dict[str, Any]:
    """J0, and J*: the best of the oracles, and of the crank's last policy trained further in the reality."""
    used = begun.recipe.train.method.budget + trained_steps(begun.workspace)
    steps = used // 2 if quick else 2 * used
    last = points[-1].policy
    assert isinstance(last, SeeingPolicy)
    best = max((judge.worth(p) for p in (judge.oracle(steps), judge.tuned(last, steps // 4))), key=lambda w: w.value)
    return {"j0": judge.without_policy(), "jstar": best.value, "oracle_passed": best.passed}


def cranked(begun: Beginning) -> Found:
    """The nominal policy, three cranks that may learn parts, and glue on the logs that these recorded."""
    workspace, seed, recipe = begun.workspace, begun.seed, begun.recipe
    nominal = train(
        workspace.simulator,
        nominal_belief(workspace.parameters),
        workspace.task,
        recipe.train,
        key_for(seed, "nominal"),
    ).policy
    points = [Point(0.0, nominal), *_turned(begun, replace(recipe, parts=True))]
    belief = glue_belief(workspace, usable(workspace.store.all("logs")), seed)
    once = at_once(recipe).train
    glued = train(workspace.simulator, belief, workspace.task, once, key_for(seed, "glue")).policy
    return {"nothing": points[:1], "glue": [Point(points[-1].robot_seconds, glued)], CRANK: points}


def identified_only(begun: Beginning) -> Found:
    """The same cranks without learned parts."""
    return {"identify": _turned(begun, replace(begun.recipe, parts=False, clone=False))}


def _turned(begun: Beginning, recipe: Recipe) -> list[Point]:
    """After each crank, the policy to stand by."""
    turns = list(cranks(begun.workspace, begun.robot(), recipe, begun.seed, CRANKS))
    stages = begun.stages(recipe)
    return [Point(t.robot_seconds, stages.policy(t.standing)) for t in turns]


def randomized(begun: Beginning) -> Found:
    """One policy for the classic ranges around the data sheet."""
    workspace, once = begun.workspace, at_once(begun.recipe).train
    belief = classic(workspace.parameters)
    trained = train(workspace.simulator, belief, workspace.task, once, key_for(begun.seed, "uniform"))
    return {"uniform": [Point(0.0, trained.policy)]}


def planned(begun: Beginning) -> Found:
    """Nothing is trained: plans in the identified simulator, anew in every period."""
    robot, workspace = begun.robot(), begun.workspace
    try:
        belief = begun.identified(robot)
    finally:
        Gate(robot).disconnect()
    known = begun.stages().belief(belief)
    policy = planner(workspace.simulator, known, workspace.task, PLANNING, key_for(begun.seed, "draws"))
    return {"mpc": [Point(robot_seconds_spent(workspace.store), policy)]}


def adapting(word: str, identified: bool) -> Callable[[Beginning], Found]:
    """A way of adapting, from the prior or from what a first crank identifies."""

    def cross(begun: Beginning) -> Found:
        adapter, recipe = _adapter(word, begun.recipe)
        stages, robot = begun.stages(recipe), begun.robot()
        belief = begun.identified(robot) if identified else begun.prior()
        before = robot_seconds_spent(begun.workspace.store)
        made = adapt(stages, robot, adapter, Begin(belief))
        return {word: tried(stages, made, before)}

    return cross


def _adapter(word: str, recipe: Recipe) -> tuple[Adapter, Recipe]:
    """The method, and the recipe by which it trains about as much as the cranks do."""
    adapter, small = way_of(word), recipe.train.looks < Recipe().train.looks
    if isinstance(adapter, EsMaml):
        outer = QUICK_EVOLUTION if small else EVOLUTION
        return replace(adapter, outer=outer, looks=1 if small else 4), recipe
    rounds = {"simopt": adapter.episodes - 1, "delta": 1}.get(word)
    return adapter, at_once(recipe) if rounds is None else in_rounds(recipe, rounds)


def tried(stages: Stages, made: Artifact, before_s: float) -> list[Point]:
    """Before any episode the first policy; then the one that did best so far on the robot, and in the end what was kept."""
    asked = stages.workspace.store.all(CANDIDATE)
    mine = sorted((a for a in asked if a.recipe[ADAPTATION] == made.recipe[ADAPTATION]), key=lambda a: a.recipe["try"])
    policies, tries = [stages.policy(a) for a in mine], made.figures["tries"]
    if not policies:
        return [Point(before_s, stages.policy(made))]
    points, spent_s, best = [Point(before_s, policies[0])], before_s, 0
    for k, shown in enumerate(tries):
        spent_s += shown["robot_seconds"]
        best = k if shown["return"] > tries[best]["return"] else best
        points.append(Point(spent_s, stages.policy(made) if k == len(tries) - 1 else policies[best]))
    return points


METHODS: dict[str, Way] = {
    "nothing": Way("data sheet", cranked, CRANK),
    "uniform": Way("classic ranges", randomized, "uniform"),
    "identify": Way("its own", identified_only, "identify"),
    "glue": Way("its own", cranked, CRANK),
    **{w: Way("prior", adapting(w, identified=False), w) for w in ("simopt", "up-osi", "rma")},
    **{
        w: Way("identified", adapting(w, identified=True), w)
        for w in ("strategy-cma", "strategy-bo", "es-maml", "delta")
    },
    "mpc": Way("identified", planned, "mpc"),
    CRANK: Way("its own", cranked, CRANK),
}
"""By the word that asks for them."""
