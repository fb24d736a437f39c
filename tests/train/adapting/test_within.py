"""Policies that adapt by themselves: each way trains its kind, and the robot only confirms it."""

from pathlib import Path

import pytest

from gapless.core import GaplessError
from gapless.nets.policy import NetworkPolicy, shape_of
from gapless.nets.stored_policy import load_policy, save_policy
from gapless.train import Place, Rma
from gapless.train.adapting import ADAPTERS, Means, adapter_of
from gapless.train.adapting.within import WithinMemory, WithinRma

KINDS = {"up-osi": "adapting", "rma": "adapting", "distil": "gru", "memory": "gru"}


@pytest.mark.parametrize("word", KINDS)
@pytest.mark.slow
def test_each_way_trains_its_kind_and_needs_one_episode(
    word: str, run_right: Place, means: Means, on_robot, tmp_path: Path
) -> None:
    way = adapter_of(word)
    prepared = way.prepared(run_right, means)
    assert isinstance(prepared, NetworkPolicy) and not prepared.told
    assert shape_of(prepared).kind == KINDS[word]
    save_policy(tmp_path, prepared)
    made = on_robot(1.0)(way.tries(load_policy(tmp_path), run_right, means))
    assert len(made.logs) == 1 and made.kept is made.tried[0]


def test_budgets_are_those_that_were_asked_for() -> None:
    asked = Rma(worlds=32, steps=8, budget=4096)
    assert WithinRma().method(asked) is asked
    memory = WithinMemory().method(asked)
    assert (memory.worlds, memory.steps, memory.budget, memory.word) == (32, 8, 4096, "ppo")


def test_an_unknown_way_is_refused_by_name() -> None:
    with pytest.raises(GaplessError, match=r"no way of adapting 'magic' \(there are: simopt, "):
        adapter_of("magic")
    assert set(KINDS) < set(ADAPTERS)
