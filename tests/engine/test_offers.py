"""What each option is expected to add, and why, at moments made by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gapless.core import Artifact
from gapless.engine import Recipe, Stages, Workspace, offers
from gapless.engine.incumbent import Shown
from gapless.engine.offers import Moment, instead, once_more, training_gain
from gapless.engine.options import Option
from gapless.engine.outlook import Outlook, Simulated
from gapless.engine.parts import BELIEF
from gapless.engine.runner_up import RUNNER_UP
from gapless.learn import Design, Lesson, NoSafeMotion

PASSING = Shown((3.0,), True)


def looks(spread: float, shown: Shown = Shown((), True), failing: int = 0) -> Outlook:  # noqa: B008
    """A policy that earns 3 on average, and `spread` more or less as one parameter, pole.com, is large or small."""
    draws = 20
    high = np.arange(draws) % 2 == 0
    returns = np.repeat(np.where(high, 3.0 + spread, 3.0 - spread)[:, None], 2, axis=1)
    passed = np.arange(2 * draws).reshape(draws, 2) >= failing
    returns = np.where(passed, returns, 0.0)
    return Outlook(Simulated({"pole.com": high + 0.0, "pole.mass": np.ones(draws)}, returns, passed, 0.0), shown, 1.0)


@pytest.fixture
def moment(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Moment]:
    """A moment in which a motion or an episode leaves a tenth of every deviation."""

    def make(outlook: Outlook | None, chi_square: float = 1.0, safe: bool = True, **more: Any) -> Moment:
        stages = Stages(workspace, Recipe(**more.pop("recipe", {})), 0, 2)
        prior = stages.prior()
        now = {n: float(v) for n, v in prior.deviation().items() if not n.endswith(".noise")}
        after = {n: 0.1 * v for n, v in now.items()}

        def motion(*_: Any) -> Design:
            if not safe:
                raise NoSafeMotion("no motion")
            return Design(None, np.zeros((1, 1)), now, after, 0.5, None)  # type: ignore[arg-type]

        def build(folder: Path) -> dict[str, Any]:
            (folder / BELIEF).write_text(json.dumps(prior.to_dict()))
            return {"chi_square": chi_square, "seconds_of_log": 6.0, "channel_noise": {}}

        belief = workspace.store.make("belief", {}, {"crank": 0, "chi": chi_square}, build)
        monkeypatch.setattr(Stages, "motion", motion)
        monkeypatch.setattr(offers, "lesson_of", lambda *_: Lesson(now, after))
        monkeypatch.setattr(Stages, "policy", lambda *_: None)
        policy = None if outlook is None else policy_with(workspace, 3.0, [3.0, 3.0])
        return Moment(stages, belief, workspace.interface, policy, outlook, **more)

    return make


def policy_with(workspace: Workspace, value: float, curve: list[float]) -> Artifact:
    figures = {"return": value, "curve": [[k, v] for k, v in enumerate(curve)]}
    return workspace.store.make("policy", {}, {"value": value, "curve": curve}, lambda folder: figures)


def found(moment: Moment) -> dict[str, Option]:
    return {o.kind: o for o in moment.offers()}


def test_without_a_policy_a_motion_gains_the_variance_that_it_takes_away(moment: Callable) -> None:
    first = moment(None)
    options = found(first)
    assert options["excite"].gain == pytest.approx(0.99)  # a tenth of each deviation is a hundredth of its variance
    assert options["excite"].seconds == 11.0 and first.ready is not None
    assert not options["deploy"].allowed and options["retrain"].gain == 1.0


def test_a_motion_gains_its_share_of_what_not_knowing_costs(moment: Callable) -> None:
    option = found(moment(looks(0.3, PASSING)))["excite"]
    spread = 0.3 * np.sqrt(20 / 19)
    assert option.gain == pytest.approx(0.9 * 1.2816 * spread / 3.3, rel=1e-3)
    assert "of which it takes away 90%" in option.why


def test_where_knowing_all_is_not_worth_it_no_motion_is_even_chosen(moment: Callable) -> None:
    known = moment(looks(0.003, PASSING))
    assert found(known)["excite"].gain < 0.01
    assert known.ready is None


def test_an_unsafe_motion_and_one_too_many_are_not_allowed(moment: Callable) -> None:
    assert not found(moment(looks(0.3, PASSING), safe=False))["excite"].allowed
    assert not found(moment(looks(0.3, PASSING), may_excite=False))["excite"].allowed


def test_what_no_parameter_explains_cannot_be_excited_away(moment: Callable) -> None:
    explained, not_explained = (found(moment(looks(0.3, PASSING), chi))["excite"].gain for chi in (1.0, 20.0))
    assert not_explained < explained


def test_a_shortfall_calls_for_a_part_a_training_and_more_episodes(moment: Callable) -> None:
    fell = moment(looks(0.0, Shown((1.5,), False)), 4.0, recipe={"parts": True})
    options = found(fell)
    assert options["part"].gain == pytest.approx(0.5 * 0.5)  # half of the error is left, half of the return was lost
    assert options["retrain"].gain == pytest.approx(0.5 * 0.5)
    assert options["deploy"].gain == pytest.approx(0.5 * (1 - np.sqrt(0.5)))
    assert "50.0% less" in options["deploy"].why


def test_an_adaptation_is_for_what_a_part_may_leave(moment: Callable) -> None:
    fell = looks(0.0, Shown((1.5,), False))
    alone = found(moment(fell, 4.0, recipe={"adapt": "simopt", "parts": False}))["adapt"]
    beside = found(moment(fell, 4.0, recipe={"adapt": "simopt", "parts": True}))["adapt"]
    assert (alone.gain, beside.gain) == (pytest.approx(0.5), pytest.approx(0.25))
    assert alone.seconds > 0 and alone.allowed
    assert not found(moment(fell, 4.0))["adapt"].allowed
    assert not found(moment(looks(0.0, PASSING), recipe={"adapt": "simopt"}))["adapt"].allowed


def test_a_robot_that_agrees_calls_for_nothing(moment: Callable) -> None:
    options = found(moment(looks(0.0, PASSING), 4.0, recipe={"parts": True}))
    assert all(o.gain < 0.01 for o in options.values() if o.allowed)


def test_a_part_that_the_recipe_does_not_allow_is_weighed_and_not_offered(moment: Callable) -> None:
    option = found(moment(None, 4.0, recipe={"parts": False}))["part"]
    assert option.gain == pytest.approx(0.5) and not option.allowed


def test_what_a_motion_taught_is_trained_for(moment: Callable) -> None:
    assert found(moment(looks(0.0, PASSING), taught=0.05))["retrain"].gain == 0.05


def test_a_second_episode_is_worth_it_only_after_a_surprise() -> None:
    assert once_more(looks(0.1, PASSING), 5.0).gain < 0.01
    assert once_more(looks(0.1, Shown((0.3,), False)), 5.0).gain > 0.2
    assert once_more(looks(0.1, Shown((2.9,), False)), 5.0).gain > 0.01  # as much as forecast, and still it failed


@pytest.mark.parametrize(
    ("value", "curve", "failing", "expected"),
    [
        (3.0, [3.0, 3.0], 0, 0.0),
        (3.6, [3.0, 3.0], 0, 0.2),  # it was worth more on the day it was trained
        (3.0, [3.0, 3.0], 20, 1.0),  # half of its episodes fail, which halves its return
        (3.0, [0.0, 0.0, 2.7, 3.3], 0, 0.564 * np.sqrt(0.18) / 3),  # its looks differ
    ],
)
def test_what_a_training_gains(
    workspace: Workspace, value: float, curve: list[float], failing: int, expected: float
) -> None:
    gain, why = training_gain(policy_with(workspace, value, curve), looks(0.0, failing=failing), 1)
    assert gain == pytest.approx(expected if failing == 0 else 0.5) and why


def best(workspace: Workspace, earns: float, runner_up: float) -> Artifact:
    figures = {"return": earns, RUNNER_UP: {"return": runner_up}}
    return workspace.store.make("policy", {}, {"crank": 1, "best": earns}, lambda folder: figures)


def test_a_runner_up_is_offered_where_the_robot_thought_less_of_the_best_by_hand(workspace: Workspace) -> None:
    policy, fell = best(workspace, 3.0, 2.8), looks(0.0, Shown((1.0,), False))
    # It showed 2 of 3 less, of which half is expected of the other as well, give or take 1: 1 - 0.2 ahead, of a scale of 3.
    assert instead(policy, fell, 5.0).gain == pytest.approx((0.8 * 0.7881 + 0.2897) / 3.0, abs=1e-3)
    assert instead(policy, fell, 5.0).seconds == 10.0
    assert not instead(policy, looks(0.0, PASSING), 5.0).allowed
