"""`gapless export`: what it writes for other tools, and how it refuses."""

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

from gapless.cli import main
from gapless.core import Gaussian, prior_belief
from gapless.engine import Workspace
from gapless.nets.actuator_network import ActuatorNetwork, Layer, Scales
from gapless.nets.stored_actuator import save_networks


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    main(["new", str(tmp_path / "bench"), "--model", "cartpole", "--task", "swingup"])
    return tmp_path / "bench"


@pytest.fixture
def learned(workspace: Path) -> Path:
    """A workspace with a belief that nobody had to wait for."""
    opened = Workspace(workspace)
    prior = prior_belief(opened.parameters)
    mean = dict(zip(prior.names, prior.centre, strict=True)) | {"pole.mass": 0.2, "command.latency": 0.021}
    belief = Gaussian(prior.names, np.array([*mean.values()]), prior.covariance / 100, prior.low, prior.high)

    def build(folder: Path) -> dict:
        (folder / "belief.json").write_text(json.dumps(belief.to_dict()))
        return {}

    opened.store.make("belief", {}, {"crank": 0}, build)
    return workspace


def refused(arguments: list[str], capsys: pytest.CaptureFixture) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("kind", ["policy", "model", "ranges", "actuator"])
def test_every_kind_explains_itself(kind: str, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["export", kind, "--help"])
    assert ended.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_a_policy_needs_no_kind_before_its_file(workspace: Path, capsys: pytest.CaptureFixture) -> None:
    for before in ([], ["policy"]):
        said = refused(["export", *before, str(workspace / "p.onnx"), "--workspace", str(workspace)], capsys)
        assert "has no policy yet" in said
        assert not (workspace / "p.onnx").exists()


def test_the_calibrated_model_is_written_and_what_is_missing_is_told(
    learned: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    main(["export", "model", str(learned), "--out", str(tmp_path / "robot.xml"), "--json", str(tmp_path / "said.json")])
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    assert model.body("pole").mass == pytest.approx(0.2)
    assert model.actuator_delay[0] == pytest.approx(0.023)
    said = json.loads((tmp_path / "said.json").read_text())
    assert said["not_carried"] == [] and said["params"]["command.latency"] == 0.021
    assert "pole.mass" in capsys.readouterr().out


def test_ranges_are_written_in_the_words_of_either_project(learned: Path, tmp_path: Path) -> None:
    for target, word in (("mjlab", "dr.joint_damping"), ("isaaclab", "mdp.randomize_actuator_gains")):
        out = tmp_path / f"{target}.py"
        main(["export", "ranges", str(learned), "--for", target, "--out", str(out)])
        compile(out.read_text(), str(out), "exec")
        assert word in out.read_text() and out.with_suffix(".json").is_file()


def test_models_and_ranges_need_a_belief(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    out = ["--out", str(tmp_path / "r.xml")]
    assert "gapless learn" in refused(["export", "model", str(workspace), *out], capsys)
    assert "gapless learn" in refused(["export", "ranges", str(workspace), "--for", "mjlab", *out], capsys)


def test_a_stored_actuator_is_written_as_onnx(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    layers = (Layer(np.array([[3.0, -1.0]]), np.zeros(1)),)
    network = ActuatorNetwork(layers, "tanh", (0,), Scales(np.zeros(2), np.ones(2)), 0.005)
    save_networks(tmp_path / "hip", [network])
    main(["export", "actuator", str(tmp_path / "hip"), "--out", str(tmp_path / "hip.onnx")])
    assert (tmp_path / "hip.onnx").is_file() and "agrees" in capsys.readouterr().out
    said = refused(["export", "actuator", str(tmp_path / "none"), "--out", str(tmp_path / "x.onnx")], capsys)
    assert "there is no file" in said


def test_one_of_several_stored_joints_is_chosen_by_its_number(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    layers = (Layer(np.array([[3.0, -1.0]]), np.zeros(1)),)
    network = ActuatorNetwork(layers, "tanh", (0,), Scales(np.zeros(2), np.ones(2)), 0.005, adds=True)
    save_networks(tmp_path / "legs", [network, network])
    save_networks(tmp_path / "bare", [])
    out = ["--out", str(tmp_path / "hip.onnx")]
    legs = ["export", "actuator", str(tmp_path / "legs"), *out]
    assert "of 2 joints. Say which with --number 0 … 1" in refused(legs, capsys)
    assert "without a network" in refused(["export", "actuator", str(tmp_path / "bare"), *out], capsys)
    main([*legs, "--number", "1"])
    assert "is a correction" in capsys.readouterr().out
