"""A policy that has shown itself gives way to one that promises clearly more, and to nothing less."""

from pathlib import Path
from typing import Any

import pytest

from gapless.core import Store
from gapless.engine.incumbent import KEPT, Shown, deployments, gives_way, shown_by, standing


@pytest.mark.parametrize(
    ("shown", "simulated", "promised", "expected"),
    [
        (Shown((), True), 1.0, 1.1, True),  # never deployed: the better one
        (Shown((1.0,), True), 1.0, 1.1, True),  # the simulator is right about it
        (Shown((1.5,), True), 1.0, 1.2, False),  # it is worth more than the simulator knows
        (Shown((1.5,), True), 1.0, 1.3, True),  # half of what the simulator missed counts for the other
        (Shown((1.5,), False), 1.0, 1.2, False),
        (Shown((0.2,), False), 1.0, 0.7, True),  # it disappointed: the other need not promise as much
        (Shown((0.2,), False), 1.0, 0.5, False),
        (Shown((0.8,), True), 1.0, 0.95, False),  # less than simulated, and still it never failed
        (Shown((1.0,), True), 1.0, 1.0, False),  # nothing gained
    ],
)
def test_who_gives_way(shown: Shown, simulated: float, promised: float, expected: bool) -> None:
    assert gives_way(shown, simulated, promised) is expected


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ([(1.0, True), (2.0, True)], 1),
        ([(2.0, True), (1.0, True)], 1),  # it never failed
        ([(2.0, False), (1.0, False)], 0),  # it failed, and the other did better
        ([(1.0, True), (2.0, False)], 1),  # it failed, and still did better
        ([(2.0, True), None], 1),  # it never ran
        ([(2.0, False), None, (1.0, False)], 0),
        ([(1.0, False), (1.0, False)], 1),  # the newest of equals
    ],
)
def test_who_is_stood_by(tmp_path: Path, shown: list[tuple[float, bool] | None], expected: int) -> None:
    store, policies = Store(tmp_path), []
    for crank, run in enumerate(shown, 1):
        policies.append(store.make("policy", {}, {"crank": crank}, lambda folder: {KEPT: None}))
        if run is not None:
            figures = {"episodes": [{"return": run[0], "passed": run[1]}]}
            store.make("logs", {"policy": policies[-1].id}, {"crank": crank}, lambda folder, f=figures: f)
    assert standing(store, policies) == policies[expected]
    assert standing(store, policies[:1], until_crank=1) == policies[0]


def test_a_policy_that_was_kept_remembers_what_it_has_shown(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def policy(kept: str | None, crank: int) -> Any:
        return store.make("policy", {}, {"crank": crank}, lambda folder: {KEPT: kept})

    def deployed(by: Any, value: float) -> None:
        episodes = [{"return": value, "passed": value < 2}]
        store.make("logs", {"policy": by.id}, {"crank": by.recipe["crank"]}, lambda folder: {"episodes": episodes})

    first = policy(None, 1)
    again, other = policy(first.id, 2), policy(None, 3)
    for by, value in ((first, 1.0), (again, 2.0), (other, 9.0)):
        deployed(by, value)
    both = shown_by(deployments(store, again))
    assert sorted(both.returns) == [1.0, 2.0] and not both.always_passed
    assert shown_by(deployments(store, first)) == Shown((1.0,), True)
    assert shown_by(deployments(store, again, before_crank=2)) == Shown((1.0,), True)
