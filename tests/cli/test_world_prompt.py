import jax.numpy as jnp
import numpy as np
import pytest

from gapless.cli import main
from gapless.cli.world_prompt import WorldPrompt
from gapless.core import GaplessError, read_belief
from gapless.learn.clone.frames_file import save_frames
from gapless.learn.clone.lessons_of_matter import Watching, watched


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    pytest.importorskip("Box2D")
    path = tmp_path_factory.mktemp("frames") / "frames.npz"
    one = watched(Watching(bodies=(1, 1), steps=12), "fall", 3, "cli")
    save_frames(path, one.scene, one.observed, one.given)
    return path


def test_what_is_given_must_be_a_property_of_the_scene(frames):
    with pytest.raises(GaplessError, match=r"body9\.mass=2 is not a property of this scene"):
        WorldPrompt(frames=frames, given=("body9.mass=2",)).run()
    with pytest.raises(GaplessError, match=r"body0\.mass=-1 is not a property"):
        WorldPrompt(frames=frames, given=("body0.mass=-1",)).run()


def test_a_missing_file_costs_one_sentence(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["world", "prompt", str(tmp_path / "nothing.npz")])
    assert "there is no file" in capsys.readouterr().err


def test_a_prompter_and_a_clone_of_ones_own_are_looked_for(frames, tmp_path):
    for named in ("prompter", "clone"):
        with pytest.raises(GaplessError, match=rf"there is no file .*{named}\.json"):
            WorldPrompt(frames=frames, **{named: tmp_path}).run()


@pytest.mark.slow
def test_belief_of_a_watched_scene_is_written(frames, tmp_path):
    out = tmp_path / "belief.json"
    printed = WorldPrompt(frames=frames, given=("body0.inertia=1",), out=out).run()
    believed = read_belief(out)
    assert set(believed.names) == {"body0.mass", "body0.friction", "body0.restitution"}
    for row in printed["properties"]:
        assert 0 < row["low"] < row["found"] < row["high"]
    assert jnp.isfinite(np.asarray([float(v) for v in believed.mean().values()])).all()
