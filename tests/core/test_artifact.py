"""Products of the loop: built once, found again, whole or not at all."""

import json
from pathlib import Path

import numpy as np
import pytest

from gapless.core import Artifact, GaplessError, Store


def make(store: Store, recipe: dict | None = None, built: list | None = None) -> Artifact:
    def build(folder: Path) -> dict:
        if built is not None:
            built.append(folder)
        (folder / "weights.txt").write_text("1 2 3")
        return {"score": np.float32(0.5), "worst": np.array([np.inf, 1.0])}

    return store.make("policy", {"belief": "abc"}, recipe or {"seed": 1, "rate": 1e-3}, build)


def test_what_was_built_is_found_and_not_built_again(tmp_path: Path) -> None:
    store, built = Store(tmp_path), []
    first, again = make(store, built=built), make(Store(tmp_path), built=built)
    assert first == again
    assert len(built) == 1
    assert first.file("weights.txt").read_text() == "1 2 3"


def test_figures_are_plain_and_what_json_cannot_carry_is_null(tmp_path: Path) -> None:
    assert make(Store(tmp_path)).figures == {"score": 0.5, "worst": [None, 1.0]}


def test_another_recipe_is_another_product_with_the_same_content(tmp_path: Path) -> None:
    store = Store(tmp_path)
    one, other = make(store), make(store, {"seed": 2})
    assert one.id != other.id
    assert one.content == other.content
    assert [a.id for a in store.all("policy")] == [one.id, other.id]
    assert store.all("belief") == []


def test_a_build_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def build(folder: Path) -> dict:
        (folder / "half.txt").write_text("…")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).make("policy", {}, {}, build)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_its_record_is_built_anew(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = make(store)
    made.file("artifact.json").unlink()
    assert store.all() == []
    assert make(store).content == made.content


def test_a_draft_that_a_kill_left_is_never_read_and_can_be_swept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = make(store)
    (tmp_path / ".policy-0123-xyz").mkdir()
    assert store.all() == [made]
    store.sweep()
    assert [p.name for p in tmp_path.iterdir()] == [made.folder.name]


def test_a_broken_record_says_which_folder_to_remove(tmp_path: Path) -> None:
    store = Store(tmp_path)
    record = make(store).file("artifact.json")
    record.write_text(json.dumps({"kind": "policy"}))
    with pytest.raises(GaplessError, match=r"is not the record of an artifact .* Remove that folder to build it anew"):
        store.all()


def test_an_artifact_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = make(store)
    assert store.get(made.id[:4]) == made
    with pytest.raises(GaplessError, match="no artifact has the id 'zzz'"):
        store.get("zzz")
    make(store, {"seed": 2})
    with pytest.raises(GaplessError, match="more than one artifact has the id ''"):
        store.get("")
