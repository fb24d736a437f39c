"""Logs of a task in whose episodes something changes: what may be learned from them, and what is judged."""

import numpy as np

from gapless.core import Log, on_one_clock
from gapless.engine.episodes import Plan, good_part, marks_of, steady_part, teaches
from gapless.robots.arm import INTERFACE
from gapless.tasks import HoldLoad, SwingUp


def log_of(rows: int, **source: object) -> Log:
    values = np.arange(rows, dtype=float)[:, None]
    commands = dict.fromkeys(INTERFACE.command_names, values)
    measured = dict.fromkeys(INTERFACE.measurement_names, values)
    return on_one_clock(INTERFACE, commands, measured, np.arange(rows) * INTERFACE.period_s, dict(source))


def test_only_what_came_before_the_earliest_change_is_learned_from() -> None:
    log = log_of(251, **marks_of(_plan(True), HoldLoad()))
    kept = steady_part(log)
    assert len(kept) == 60
    assert kept.command_time[-1] < 1.2 - 1e-9
    assert len(good_part(log)) == 251


def test_motions_that_teach_and_tasks_without_changes_are_learned_from_as_a_whole() -> None:
    assert marks_of(_plan(False), HoldLoad()) == {}
    assert marks_of(_plan(True), SwingUp()) == {}
    assert len(steady_part(log_of(300))) == 300


def test_spoiled_rows_are_left_out_of_the_steady_part_and_a_short_one_teaches_nothing() -> None:
    assert len(steady_part(log_of(70, steady_s=1.2, spoiled=15))) == 55
    assert not teaches(log_of(251, steady_s=0.2))
    assert teaches(log_of(251, steady_s=1.2))


def test_a_strangers_mark_that_is_no_time_changes_nothing() -> None:
    assert len(steady_part(log_of(40, steady_s="soon"))) == len(steady_part(log_of(40, steady_s=float("nan")))) == 40


def _plan(for_task: bool) -> Plan:
    return Plan(1, 5.0, lambda k: None, for_task)  # type: ignore[arg-type,return-value]
