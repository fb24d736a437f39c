"""`gapless world clone`: members are kept as they come, and an interrupted course goes on where it was."""

from pathlib import Path

import jax
import pytest

from gapless.cli import main, world_clone
from gapless.learn.clone import Course, Taught
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.stored import members, members_and_said


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Nobody is taught for real; the members that were asked for, of which the second one of the first run is interrupted."""
    asked: list[int] = []

    def teach(course: Course, seed: int, member: int, tell: world_clone.Tell) -> Taught:
        asked.append(member)
        tell("learning", 0.5)
        if asked == [0, 1]:
            raise KeyboardInterrupt
        return Taught(Clone(jax.random.key(member), course.rounds), 0.1 * member, 0.2)

    monkeypatch.setattr(world_clone, "teach", teach)
    return asked


def cloned(folder: Path, *more: str) -> None:
    main(["world", "clone", "--out", str(folder), *more])


def refused(folder: Path, capsys: pytest.CaptureFixture, *more: str) -> str:
    with pytest.raises(SystemExit) as ended:
        cloned(folder, *more)
    assert ended.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def test_interrupted_course_goes_on_with_the_member_it_was_at(taught: list[int], tmp_path: Path):
    with pytest.raises(SystemExit) as ended:
        cloned(tmp_path)
    assert ended.value.code == 130
    assert len(members(tmp_path)) == 1
    cloned(tmp_path)
    assert taught == [0, 1, 1, 2]
    clones, said = members_and_said(tmp_path)
    assert len(clones) == 3
    assert said["held_out"] == [{"law": pytest.approx(0.1 * k), "whole": 0.2} for k in range(3)]
    cloned(tmp_path)
    assert taught == [0, 1, 1, 2]


def test_more_members_join_those_that_are_there(taught: list[int], tmp_path: Path):
    cloned(tmp_path, "--course.members", "1")
    taught.append(-1)
    cloned(tmp_path, "--course.members", "3")
    assert taught == [0, -1, 1, 2]


@pytest.mark.parametrize("more", [("--seed", "1"), ("--course.rounds", "32")])
def test_another_course_does_not_write_over_a_clone(
    taught: list[int], tmp_path: Path, capsys: pytest.CaptureFixture, more: tuple[str, str]
):
    cloned(tmp_path, "--course.members", "1")
    assert "another course or with another seed. Choose another --out" in refused(tmp_path, capsys, *more)


def test_course_without_members_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture):
    assert "a course needs a member" in refused(tmp_path, capsys, "--course.members", "0")
