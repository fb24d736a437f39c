"""A policy that has shown itself gives way to one that promises clearly more, and to nothing less."""

from pathlib import Path
from typing import Any

import pytest

from gapless.core import Store
from gapless.engine.incumbent import KEPT, deployments, gives_way, returns_of


@pytest.mark.parametrize(
    ("shown", "simulated", "promised", "expected"),
    [
        ([], 1.0, 1.1, True),  # never deployed: the better one
        ([1.0], 1.0, 1.1, True),  # the simulator is right about it
        ([1.5], 1.0, 1.2, False),  # it is worth more than the simulator knows
        ([1.5], 1.0, 1.3, True),
        ([0.2], 1.0, 1.01, True),  # it disappointed
        ([1.0], 1.0, 1.0, False),  # nothing gained
    ],
)
def test_who_gives_way(shown: list[float], simulated: float, promised: float, expected: bool) -> None:
    assert gives_way(shown, simulated, promised) is expected


def test_a_policy_that_was_kept_remembers_what_it_has_shown(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def policy(kept: str | None, crank: int) -> Any:
        return store.make("policy", {}, {"crank": crank}, lambda folder: {KEPT: kept})

    def deployed(by: Any, value: float) -> None:
        episodes = [{"return": value}]
        store.make("logs", {"policy": by.id}, {"crank": by.recipe["crank"]}, lambda folder: {"episodes": episodes})

    first = policy(None, 1)
    again, other = policy(first.id, 2), policy(None, 3)
    for by, value in ((first, 1.0), (again, 2.0), (other, 9.0)):
        deployed(by, value)
    assert sorted(returns_of(deployments(store, again))) == [1.0, 2.0]
    assert returns_of(deployments(store, first)) == [1.0]
    assert returns_of(deployments(store, again, before_crank=2)) == [1.0]
