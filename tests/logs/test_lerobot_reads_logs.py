"""LeRobot's own loader and tools open what `write_logs` wrote. They live in a virtual environment of their own."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gapless.logs import write_logs

pytestmark = pytest.mark.interop

READ = """
import json, sys
from pathlib import Path
from lerobot.datasets.dataset_tools import delete_episodes
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.datasets.utils import dataset_to_policy_features
root, copy = Path(sys.argv[1]), Path(sys.argv[2])
dataset = LeRobotDataset("gapless/logs", root=root, delta_timestamps={"action": [-0.02, 0.0]})
plain = LeRobotDataset("gapless/logs", root=root)
items = [plain[i] for i in range(len(plain))]
shorter = delete_episodes(plain, [0], output_dir=copy, repo_id="gapless/fewer")
print("RESULT" + json.dumps({
    "episodes": plain.num_episodes,
    "fps": plain.fps,
    "tasks": sorted({item["task"] for item in items}),
    "action": [item["action"].reshape(-1).tolist() for item in items],
    "state": [item["observation.state"].tolist() for item in items],
    "sensor": [item["cart.sensor"].tolist() for item in items] if "cart.sensor" in items[0] else [],
    "timestamp": [item["timestamp"].item() for item in items],
    "episode": [item["episode_index"].item() for item in items],
    "window": list(dataset[1]["action"].shape),
    "policy": sorted(dataset_to_policy_features(plain.features)),
    "normalised": plain.meta.stats["action"]["mean"].tolist(),
    "fewer": [shorter.num_episodes, len(shorter)],
}))
"""


@pytest.fixture(scope="module")
def lerobot_python() -> str:
    python = os.environ.get("GAPLESS_LEROBOT_PYTHON", "")
    if not Path(python).is_file():
        pytest.skip("LeRobot is not here; docs/logs.md says how to give it an environment of its own.")
    return python


def _read(python: str, folder: Path) -> dict:
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder.parent / "cache"), "CUDA_VISIBLE_DEVICES": ""}
    command = [python, "-c", READ, str(folder), str(folder.parent / "fewer")]
    done = subprocess.run(command, env=offline, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.split("RESULT")[1])


@pytest.mark.parametrize("samples", [None, 33])
def test_lerobot_reads_the_same_numbers(samples, make_log, lerobot_python, tmp_path):
    logs = [make_log(12, seed=1), make_log(0), make_log(7, samples=samples, seed=2), make_log(1, seed=3)]
    write_logs(tmp_path / "logs", logs, "keep the pole up")
    found = _read(lerobot_python, tmp_path / "logs")
    assert (found["episodes"], found["fps"], found["tasks"]) == (3, 50, ["keep the pole up"])
    assert found["episode"] == [0] * 12 + [1] * 7 + [2]
    assert np.allclose(found["timestamp"], np.concatenate([np.arange(n) * 0.02 for n in (12, 7, 1)]))
    forces = np.concatenate([log.commands["cart.force"] for log in logs])
    angles = np.concatenate([log.measurements["pole.angle"] for log in logs])
    assert np.allclose(found["action"], forces, atol=1e-6)
    assert np.allclose(np.array(found["state"])[:, :1], angles, atol=1e-6)
    assert np.allclose(found["normalised"], forces.mean())
    assert found["window"] in ([2], [2, 1])
    assert found["policy"] == ["action", "observation.state"]
    assert found["fewer"] == [2, 8]
    if samples is None:
        assert np.allclose(
            found["sensor"], np.concatenate([log.measurements["cart.sensor"] for log in logs]), atol=1e-6
        )
