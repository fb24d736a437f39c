"""Real recordings are read and scored as their README says: its own table of nominal errors comes out again."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from real_scores import errors, pieces, still, sure, whole_log
from real_sets import SETS, authors_spec, make_simulator, make_spec
from recordings import MACHINES, data_folder, motion

FOLDER = data_folder()
pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="no recordings in ../shared/data; GAPLESS_DATA names their folder"
)
CLOSE = {"rel": 0.08, "abs": 0.0006}
TABLE = [
    ("furuta", "train", "chirp", (30, 60), (0.170, 0.437), (0.119, 0.155)),
    ("furuta", "train", "swingup", (60, 96), (0.465, 1.47), (0.241, 0.317)),
    ("cartpole", "train", "chirp", (25, 30), (0.009, 0.713), (0.025, 0.081)),
    ("cartpole", "train", "swingup", (18, 18), (0.066, 0.611), (0.016, 0.286)),
    ("double_pendulum", "train", "sysid_C1", (69, 82), (0.385, 0.708), (0.101, 0.153)),
    ("double_pendulum", "dev", "acrobot", (44, 117), (0.673, 1.14), (0.151, 0.247)),
    ("double_pendulum", "dev", "pendubot", (78, 148), (0.247, 0.319), (0.309, 0.479)),
    ("free_double_pendulum", "train", "piece", (52, 52), (0.377, 0.665), (0.0016, 0.0030)),
    ("free_triple_pendulum", "train", "piece", (44, 44), (0.32, 0.43, 0.76), (0.0020, 0.0022, 0.0034)),
]
"""Machine, file, motion; windows that move, and all; persistence and the nominal model at 0.5 s."""


@pytest.mark.parametrize(("name", "file", "part", "count", "held", "nominal"), TABLE)
def test_nominal_errors_are_those_of_the_readme(
    name: str, file: str, part: str, count: tuple[int, int], held: tuple[float, ...], nominal: tuple[float, ...]
) -> None:
    assert FOLDER is not None
    chosen, machine = SETS[name], MACHINES[name]
    logs = [log for log in machine.logs(FOLDER / name / f"{file}.npz") if motion(log).startswith(part)]
    over = pieces(logs, chosen.every_s, chosen.absolute)
    assert (int(over.moves.sum()), len(over.moves)) == count
    simulator = make_simulator(machine, make_spec(machine, FOLDER / name / "nominal.xml"))
    assert np.median(still(over, chosen.absolute)[over.moves, 2], axis=0) == pytest.approx(held, **CLOSE)
    found = np.median(errors(sure(simulator), over, chosen.absolute)[over.moves, 2], axis=0)
    assert found == pytest.approx(nominal, **CLOSE)


def test_whole_pieces_of_the_free_pendulum_end_as_the_authors_say() -> None:
    assert FOLDER is not None
    machine = MACHINES["free_double_pendulum"]
    simulator = make_simulator(machine, make_spec(machine, FOLDER / machine.name / "nominal.xml"))
    off = np.array([whole_log(sure(simulator), log, True) for log in machine.logs(FOLDER / machine.name / "train.npz")])
    assert np.sqrt((off**2).mean(axis=0)) == pytest.approx((0.0096, 0.0126), rel=0.01)


def test_authors_double_pendulum_predicts_as_the_readme_says() -> None:
    assert FOLDER is not None
    machine, folder = MACHINES["double_pendulum"], FOLDER / "double_pendulum"
    numbers = folder / "authors_models/design_C.1/model_1.0/model_parameters.yml"
    simulator = make_simulator(machine, authors_spec(machine, folder / "nominal.xml", numbers))
    over = pieces([log for log in machine.logs(folder / "dev.npz") if motion(log) == "acrobot"])
    found = np.median(errors(sure(simulator), over, False)[over.moves, 2], axis=0)
    assert found == pytest.approx((0.051, 0.147), rel=0.05)
