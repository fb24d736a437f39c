"""A dataset that LeRobot itself recorded is imported. LeRobot lives in a virtual environment of its own."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gapless.core import Channel, Interface
from gapless.logs import import_logs, propose_mapping

pytestmark = pytest.mark.interop

WRITE = """
import sys
import numpy as np
from lerobot.datasets.lerobot_dataset import LeRobotDataset
names = ["shoulder_pan.pos", "gripper.pos"]
vector = {"dtype": "float32", "shape": (2,), "names": names}
made = LeRobotDataset.create("some/arm", 30, {"action": vector, "observation.state": vector}, root=sys.argv[1])
for episode, rows in enumerate((8, 5)):
    for k in range(rows):
        state = np.array([episode + k, 10 * k], np.float32)
        made.add_frame({"action": state + 1, "observation.state": state, "task": "wave"})
    made.save_episode()
made.finalize()
"""


def test_a_dataset_that_lerobot_wrote_is_imported_by_the_names_of_its_joints(tmp_path):
    python = os.environ.get("GAPLESS_LEROBOT_PYTHON", "")
    if not Path(python).is_file():
        pytest.skip("LeRobot is not here; docs/lerobot.md says how to give it an environment of its own.")
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache"), "CUDA_VISIBLE_DEVICES": ""}
    command = [python, "-c", WRITE, str(tmp_path / "arm")]
    done = subprocess.run(command, env=offline, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    joints = ("gripper", "shoulder_pan")
    arm = Interface("arm", 1 / 30, tuple(map(Channel, joints)), tuple(Channel(f"{j}.position") for j in joints))
    logs = import_logs([tmp_path / "arm"], propose_mapping(tmp_path / "arm", arm), arm)
    assert [len(log) for log in logs] == [8, 5]
    assert np.allclose(logs[1].measurements["shoulder_pan.position"][:, 0], 1 + np.arange(5))
    assert np.allclose(logs[0].commands["gripper"][:, 0], 10 * np.arange(8) + 1)
    assert np.allclose(logs[0].command_time, np.arange(8) / 30, atol=1e-6)
