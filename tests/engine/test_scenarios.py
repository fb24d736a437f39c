"""The behaviour tests of a workspace: played in the same worlds by both policies, and who loses one stays at home."""

from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Artifact, GaplessError, Log, Signals
from gapless.engine import Recipe, Stages, Workspace
from gapless.engine.failures import fails_again, find_failure, scenario_of
from gapless.engine.scenarios import prove, require_no_regression, scenarios_of
from gapless.learn import Identify
from gapless.logs import write_logs
from gapless.nets.policy import NetworkPolicy
from gapless.nets.stored_policy import save_policy

STAYS = """
name = "stays in the middle"
task = "swingup"
[start]
"slider.position" = [-0.02, 0.02]
[[disturbance]]
what = "force"
of = "slider"
add = 0.5
from_s = 1.0
to_s = 1.1
[must]
within = {"cart.position" = [-0.2, 0.2]}
"""
RECIPE = Recipe(scenario_draws=8, identify=Identify(windows=12, iterations=4, starts=1))


def stages_of(workspace: Workspace) -> Stages:
    return Stages(workspace, RECIPE, 0)


def stored(workspace: Workspace, make_policy: Callable[..., NetworkPolicy], volts: float, crank: int) -> Artifact:
    """A policy that always commands so many volts."""
    policy = make_policy()
    last = policy.network.layers[-1]
    bias = jnp.arctanh(jnp.full_like(last.bias, volts / 10))
    still = eqx.tree_at(lambda p: p.network.layers[-1], policy, eqx.tree_at(lambda q: q.bias, last, bias))
    still = eqx.tree_at(lambda p: p.network.layers[-1].weight, still, replace_fn=jnp.zeros_like)

    def build(folder: Path) -> dict:
        save_policy(folder, still)
        return {"passed": 1.0}

    return workspace.store.make("policy", {}, {"crank": crank}, build)


@pytest.fixture
def tested(workspace: Workspace) -> Workspace:
    (workspace.folder / "scenarios").mkdir()
    (workspace.folder / "scenarios" / "stays.toml").write_text(STAYS)
    return workspace


def test_a_workspace_without_scenarios_proves_nothing(workspace: Workspace, make_policy: Callable) -> None:
    assert prove(stages_of(workspace), None, stored(workspace, make_policy, 0.0, 1), None) is None
    require_no_regression(None)


def test_a_policy_that_lost_a_scenario_is_held_back(tested: Workspace, make_policy: Callable) -> None:
    still, runs = stored(tested, make_policy, 0.0, 1), stored(tested, make_policy, 9.0, 2)
    proved = prove(stages_of(tested), None, runs, still)
    assert proved is not None
    (row,) = proved.figures["scenarios"]
    assert (row["passed"], row["before"], row["lost"], row["won"]) == (0, 8, 8, 0)
    assert row["low"] == 0.0 and row["chance"] == pytest.approx(1 / 256)
    with pytest.raises(GaplessError, match="'stays in the middle' it holds in 0 of 8 worlds"):
        require_no_regression(proved)


def test_a_policy_that_won_one_is_not(tested: Workspace, make_policy: Callable) -> None:
    runs, still = stored(tested, make_policy, 9.0, 1), stored(tested, make_policy, 0.0, 2)
    proved = prove(stages_of(tested), None, still, runs)
    assert proved is not None and proved.figures["regressed"] == []
    assert proved.figures["scenarios"][0]["won"] == 8
    require_no_regression(proved)


def test_the_first_policy_has_nothing_to_lose(tested: Workspace, make_policy: Callable) -> None:
    proved = prove(stages_of(tested), None, stored(tested, make_policy, 9.0, 1), None)
    assert proved is not None and proved.figures["scenarios"][0]["before"] is None
    require_no_regression(proved)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('task = "swingup"', 'task = "hop"', "about the task 'hop'"),
        ('"slider.position" =', '"wheel.position" =', "names the joint state 'wheel.position'"),
        ("cart.position", "cart.colour", "names the channel 'cart.colour'"),
        ('of = "slider"', 'of = "wheel"', "names the force 'wheel'"),
    ],
)
def test_names_that_the_robot_does_not_have_are_one_sentence(
    tested: Workspace, make_policy: Callable, old: str, new: str, says: str
) -> None:
    (tested.folder / "scenarios" / "stays.toml").write_text(STAYS.replace(old, new))
    with pytest.raises(GaplessError, match=says):
        prove(stages_of(tested), None, stored(tested, make_policy, 0.0, 1), None)


@pytest.fixture
def failed(
    workspace: Workspace, make_policy: Callable, simulate: Callable[..., Log], lively_commands: Callable[..., Signals]
) -> Artifact:
    """Two episodes of a robot: one that ends early, and one that stays up from the start to the end."""
    policy, robot = stored(workspace, make_policy, 0.0, 1), workspace.simulator
    params = {"pole.mass": np.full(1, 0.19), "pole.angle.noise": np.full(1, 1e-3)}
    params |= {"cart.position.noise": np.full(1, 2e-4)}
    commands = {"motor": 0.4 * lively_commands(robot.interface, 140)["motor"]}
    start = {"hinge.position": np.array([[0.6]])}
    ended = simulate(robot, params, commands, start).with_source(episode=150)
    upright = simulate(robot, params, {"motor": np.zeros((251, 1))}).with_source(episode=151)
    upright = upright.__class__(**{**upright.__dict__, "measurements": {
        "cart.position": np.zeros((251, 1)), "pole.angle": np.full((251, 1), np.pi),
    }})  # fmt: skip

    def build(folder: Path) -> dict:
        write_logs(folder / "logs", [ended, upright], workspace.task.name)
        return {"episodes": [], "robot_seconds": 0.0}

    recipe = {"crank": 1, "purpose": "deploy"}
    return workspace.store.make("logs", {"policy": policy.id}, recipe, build)


def test_a_failed_episode_becomes_a_scenario_with_its_start_and_its_robot(
    workspace: Workspace, failed: Artifact
) -> None:
    stages = stages_of(workspace)
    failure = find_failure(workspace, "150", None, None)
    assert failure.artifact == failed and "left the rail after 2.8 s" in failure.verdict.reason
    scenario, found = scenario_of(stages, failure, None)
    assert scenario.name == "cart episode 150" and scenario.must.passes
    low, high = scenario.start["hinge.position"]
    assert low < 0.6 < high or abs(low + high - 1.2) < 0.02
    assert float(found.belief.mean()["pole.mass"]) == pytest.approx(0.19, abs=0.03)
    assert fails_again(stages, failure, scenario) == (8, 8)  # a robot that rests never gets up


@pytest.mark.parametrize(
    ("spec", "episode", "says"),
    [
        ("151", None, "nothing failed in '151': episode 151 passed"),
        ("ffff", None, "no artifact has the id 'ffff'"),
        ("150", 3, "there is no episode 3 in '150'"),
    ],
)
def test_what_did_not_fail_or_is_not_there_becomes_none(
    workspace: Workspace, failed: Artifact, spec: str, episode: int | None, says: str
) -> None:
    with pytest.raises(GaplessError, match=says):
        find_failure(workspace, spec, None, episode)


def test_a_log_is_found_by_its_artifact_its_dataset_and_its_workspace(workspace: Workspace, failed: Artifact) -> None:
    for spec in (failed.id[:8], str(failed.folder / "logs"), str(workspace.folder)):
        assert find_failure(workspace, spec, None, None).episode == 150


def test_an_artifact_that_holds_no_logs_says_so(workspace: Workspace, failed: Artifact) -> None:
    with pytest.raises(GaplessError, match="is a policy and holds no logs"):
        find_failure(workspace, failed.parents["policy"], None, None)


def test_scenarios_of_the_workspace_are_those_of_its_folder(tested: Workspace) -> None:
    assert [s.name for s in scenarios_of(tested)] == ["stays in the middle"]
