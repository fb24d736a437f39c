"""An exported actuator network gives the torques that its description gives, in onnxruntime and in torch."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import onnx
import onnxruntime
import pytest

from gapless.core import GaplessError
from gapless.exchange import export_actuator
from gapless.nets.actuator_network import ACTIVATIONS, ActuatorNetwork, Layer, Recurrence, Scales, described
from gapless.nets.stored_actuator import load_networks, save_networks

HIDDEN = 8


def network(activation: str = "softsign", recurrent: bool = False) -> ActuatorNetwork:
    """Random weights; three past steps, or a memory; inputs clipped, and a linear path beside."""
    noise = np.random.default_rng(7)
    history = (0,) if recurrent else (0, 2, 4)
    features = 2 * len(history)
    cell = None
    if recurrent:
        shapes = (3 * HIDDEN, features), (3 * HIDDEN, HIDDEN), (3 * HIDDEN,), (HIDDEN,)
        cell = Recurrence(*(0.5 * noise.normal(size=shape) for shape in shapes))
    widths = [HIDDEN if recurrent else features, 16, 16, 1]
    layers = tuple(
        Layer(noise.normal(size=(b, a)) / np.sqrt(a), 0.1 * noise.normal(size=b)) for a, b in pairwise(widths)
    )
    limits = np.full(features, -0.9), np.full(features, 1.1)
    scales = Scales(0.1 * noise.normal(size=features), noise.uniform(0.5, 3, features), 4.0, 0.2, *limits)
    return ActuatorNetwork(layers, activation, history, scales, 0.005, cell, 0.3 * noise.normal(size=widths[0]))


def motion(given: ActuatorNetwork, steps: int, joints: int) -> list[np.ndarray]:
    return list(np.random.default_rng(1).normal(size=(steps, joints, given.features)).astype(np.float32))


def expected(given: ActuatorNetwork, steps: list[np.ndarray]) -> np.ndarray:
    hidden, torques = None, []
    for features in steps:
        torque, hidden = given.torque(features, hidden)
        torques.append(torque)
    return np.array(torques)


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_onnxruntime_gives_the_same_torques(activation: str, recurrent: bool, tmp_path: Path) -> None:
    given = network(activation, recurrent)
    assert export_actuator(given, tmp_path / "net.onnx", "hip") < 1e-5
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    steps, found = motion(given, 20, 3), []
    memory = {"memory.hidden": np.zeros((3, HIDDEN), np.float32)} if recurrent else {}
    for features in steps:
        error, velocity = np.split(features, 2, axis=1)
        names = ["torque", *(f"next.{name}" for name in memory)]
        torque, *after = session.run(names, {"error": error, "velocity": velocity, **memory})
        memory = dict(zip(memory, after, strict=True))
        found.append(torque)
    wanted = expected(given, steps)
    assert np.ptp(wanted) > 0.5  # or the agreement would say little
    assert np.array(found) == pytest.approx(wanted, abs=1e-5 * np.abs(wanted).max())


def test_the_onnx_file_says_what_it_is_for(tmp_path: Path) -> None:
    export_actuator(network(), tmp_path / "net.onnx", "hip")
    held = {p.key: p.value for p in onnx.load(tmp_path / "net.onnx").metadata_props}
    assert json.loads(held["gapless.actuator"]) == {"joint": "hip", "history": [0, 2, 4], "step_s": 0.005}


def test_equinox_modules_describe_themselves() -> None:
    noise = np.random.default_rng(5)

    def filled(make: Callable[[jax.Array], Any]) -> Any:  # by hand, which compiles nothing
        shapes = eqx.filter_eval_shape(make, jax.random.key(0))
        return jax.tree.map(
            lambda x: jnp.asarray(noise.normal(size=x.shape), jnp.float32) if hasattr(x, "shape") else x,
            shapes,
        )

    cell = filled(lambda key: eqx.nn.GRUCell(2, HIDDEN, key=key))
    mlp = filled(lambda key: eqx.nn.MLP(HIDDEN, 1, 4, 1, jax.nn.softplus, key=key))
    made = described(mlp, "softplus", (0,), Scales(np.zeros(2), np.ones(2)), 0.01, cell)
    features, before = np.array([[0.3, -0.2]]), 0.1 * np.arange(HIDDEN)[None]
    torque, after = made.torque(features, before)
    wanted = eqx.filter_jit(lambda x, h: (cell(x, h), mlp(cell(x, h))))(features[0], before[0])
    assert after[0] == pytest.approx(np.asarray(wanted[0]), abs=1e-5)
    assert torque == pytest.approx(np.asarray(wanted[1]), abs=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_torchscript_takes_features_as_isaac_labs_mlp_passes_them(activation: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    given = network(activation)
    assert export_actuator(given, tmp_path / "net.pt") < 1e-5
    script = torch.jit.load(io.BytesIO((tmp_path / "net.pt").read_bytes()))
    steps = motion(given, 4, 7)
    found = np.array([script(torch.tensor(features)).view(7).detach().numpy() for features in steps])
    wanted = expected(given, steps)
    assert found == pytest.approx(wanted, abs=1e-5 * np.abs(wanted).max())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_remembers_as_isaac_labs_lstm_asks_it_to(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    given = network(recurrent=True)
    export_actuator(given, tmp_path / "net.pt")
    script = torch.jit.load(io.BytesIO((tmp_path / "net.pt").read_bytes()))
    sizes = script.lstm.state_dict()
    layers, width = len(sizes) // 4, sizes["weight_hh_l0"].shape[1]
    assert (layers, width) == (1, HIDDEN)
    memory = torch.zeros(layers, 6, width), torch.zeros(layers, 6, width)
    steps, found = motion(given, 20, 6), []
    for features in steps:
        torque, memory = script(torch.tensor(features)[:, None], memory)
        found.append(torque.reshape(2, 3).detach().numpy().ravel())
    wanted = expected(given, steps)
    assert np.array(found) == pytest.approx(wanted, abs=1e-5 * np.abs(wanted).max())


def test_inputs_are_clipped_and_the_linear_path_counts() -> None:
    """One input, doubled by the only layer and tripled by the path beside it."""
    layers = (Layer(np.array([[2.0, 0.0]]), np.zeros(1)),)
    scales = Scales(np.zeros(2), np.ones(2), 1.0, 0.5, np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    given = ActuatorNetwork(layers, "relu", (0,), scales, 0.01, None, np.array([3.0, 0.0]))
    assert given.torque(np.array([[0.5, 0.0], [7.0, 0.0]]))[0] == pytest.approx([3.0, 5.5])


@pytest.mark.parametrize("recurrent", [False, True])
def test_stored_networks_are_read_back_exactly(recurrent: bool, tmp_path: Path) -> None:
    given = network(recurrent=recurrent)
    bare = replace(given, linear=None, scales=replace(given.scales, low=None, high=None), adds=True)
    save_networks(tmp_path, (given, bare), {"robot": "arm"})
    (again, bare_again), said = load_networks(tmp_path)
    steps = motion(given, 3, 2)
    assert np.array_equal(expected(again, steps), expected(given, steps))
    assert np.array_equal(expected(bare_again, steps), expected(bare, steps))
    assert not np.allclose(expected(given, steps), expected(bare, steps))
    assert (again.history, again.step_s, again.activation) == (given.history, 0.005, "softsign")
    assert (again.adds, bare_again.adds, said["robot"]) == (False, True, "arm")


@pytest.mark.parametrize(
    "change",
    [
        {"format": 1},
        {"networks": [{}]},
        {"networks": [{"shapes": {"scales.shift": [2**40]}}]},
        {"networks": [{"shapes": {"scales.shift": [-3]}}]},
        {"networks": 3},
    ],
)
def test_a_damaged_description_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    save_networks(tmp_path, (network(),))
    path = tmp_path / "actuator.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(GaplessError, match=r"is not the description of an actuator .* Save the actuator again"):
        load_networks(tmp_path)


def test_arrays_without_a_place_are_refused(tmp_path: Path) -> None:
    save_networks(tmp_path, (network(),))
    path = tmp_path / "actuator.json"
    said = json.loads(path.read_text())
    said["networks"][0]["shapes"]["more"] = [3]
    path.write_text(json.dumps(said))
    with pytest.raises(GaplessError, match="not those of an actuator"):
        load_networks(tmp_path)


def test_descriptions_that_fit_together_badly_are_refused() -> None:
    given = network()
    with pytest.raises(GaplessError, match="none of tanh"):
        replace(given, activation="sinh")
    with pytest.raises(GaplessError, match=r"\(16, 6\) stands where \(16, 4\) belongs"):
        replace(given, history=(0, 1), scales=Scales(np.zeros(4), np.ones(4)), linear=None)
    with pytest.raises(GaplessError, match=r"\(5,\) stands where \(6,\) belongs"):
        replace(given, linear=np.ones(5))
    with pytest.raises(GaplessError, match="one torque is wanted"):
        replace(given, layers=given.layers[:-1])
    with pytest.raises(GaplessError, match="not finite"):
        replace(given, scales=replace(given.scales, shift=np.full(6, np.nan)))


def test_what_cannot_be_written_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(GaplessError, match=r"end in \.onnx"):
        export_actuator(network(), tmp_path / "net.h5")
    extreme = replace(network(), scales=Scales(np.full(6, 1e6 + 0.03), np.ones(6)))
    with pytest.raises(GaplessError, match="was not written"):
        export_actuator(extreme, tmp_path / "net.onnx")
    assert not list(tmp_path.iterdir())
