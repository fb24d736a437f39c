"""`gapless import` takes recordings of every kind into a workspace."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gapless.cli import main
from gapless.core import Log
from gapless.logs import read_logs

T = np.arange(0, 2.0, 0.02)
MOTOR, POSITION, ANGLE = 3 * np.sin(3 * T), 0.1 * np.sin(3 * T), 0.2 * np.sin(5 * T)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    main(["new", str(tmp_path / "bench"), "--model", "cartpole", "--task", "swingup"])
    return tmp_path / "bench"


def _bag(path: Path, write_bag) -> Path:
    rows = []
    for t, u, x, q in zip((T * 1e9).astype(int).tolist(), MOTOR, POSITION, ANGLE, strict=True):
        state = {"name": ["cart", "pole"], "position": [x, q], "velocity": [], "effort": []}
        rows.append(("/joint_states", "sensor_msgs/msg/JointState", state, 10**18 + t, 10**18 + t + 10**6))
        rows.append(("/command/motor", "std_msgs/msg/Float64", {"data": u}, None, 10**18 + t + 2 * 10**6))
    path.mkdir()
    write_bag(path / "run_0.mcap", rows)
    return path


def _sage(path: Path) -> Path:
    path.mkdir()
    (path / "joint_list.txt").write_text("cart\npole\n")
    files = {
        "control": [["type", "timestamp", "motor"], *(["C", t * 1e6, u] for t, u in zip(T, MOTOR, strict=True))],
        "state_motor": [
            ["type", "timestamp", "positions"],
            *(["S", t * 1e6, [x, q]] for t, x, q in zip(T, POSITION, ANGLE, strict=True)),
        ],
    }
    for name, rows in files.items():
        with (path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    return path


def _dataset(path: Path) -> Path:
    state = pa.FixedSizeListArray.from_arrays(np.stack([POSITION, ANGLE], 1).reshape(-1), 2)
    table = pa.table({"action": MOTOR, "observation.state": state, "timestamp": T, "episode_index": [0] * len(T)})
    features = {
        "action": {"dtype": "float64", "shape": [1], "names": ["motor"]},
        "observation.state": {"dtype": "float64", "shape": [2], "names": ["cart.pos", "pole.pos"]},
        "timestamp": {"dtype": "float64", "shape": [1]},
        "episode_index": {"dtype": "int64", "shape": [1]},
    }
    for folder in ("meta", "data/chunk-000"):
        (path / folder).mkdir(parents=True)
    (path / "meta/info.json").write_text(json.dumps({"codebase_version": "v3.0", "features": features}))
    pq.write_table(table, path / "data/chunk-000/file-000.parquet")
    return path


def _imported(workspace: Path) -> list[Log]:
    (made,) = (workspace / "artifacts").glob("logs-*")
    return read_logs(made / "logs")


@pytest.mark.parametrize("kind", ["bag", "sage", "dataset"])
def test_a_recording_is_imported_by_its_names_alone(kind, workspace, tmp_path, write_bag):
    path = tmp_path / kind
    {"bag": lambda: _bag(path, write_bag), "sage": lambda: _sage(path), "dataset": lambda: _dataset(path)}[kind]()
    main(["import", str(path), "--workspace", str(workspace)])
    (log,) = _imported(workspace)
    assert np.allclose(log.commands["motor"][:, 0], MOTOR)
    assert np.allclose(log.measurements["cart.position"][:, 0], POSITION)
    assert np.allclose(log.measurements["pole.angle"][:, 0], ANGLE)
    assert np.allclose(np.diff(log.measurement_time["pole.angle"]), 0.02, atol=1e-6)


def test_the_same_folder_is_not_imported_twice(workspace, tmp_path):
    folder = _sage(tmp_path / "sage")
    for _ in range(2):
        main(["import", str(folder), "--workspace", str(workspace)])
    assert len(_imported(workspace)) == 1
