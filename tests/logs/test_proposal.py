"""A mapping is guessed from names, and what cannot be guessed is left to the user."""

import tomllib

import numpy as np
import pyarrow.parquet as pq
import pytest

from gapless.core import Channel, GaplessError, Interface
from gapless.logs import import_logs, mapping_from_dict, mapping_to_toml, propose_mapping, write_logs


def test_equal_names_are_proposed_whatever_their_case_and_separators(machine, tmp_path):
    header = ["Time_ms", "CART_FORCE", "Angle", "cart.sensor_0", "cart.sensor_1", "Episode"]
    (tmp_path / "run.csv").write_text(",".join(header) + "\n")
    proposed = propose_mapping(tmp_path / "run.csv", machine)
    assert (proposed.time, proposed.time_unit, proposed.episode) == ("Time_ms", "ms", "Episode")
    assert proposed.channels["cart.force"].columns == ("CART_FORCE",)
    assert proposed.channels["pole.angle"].columns == ("Angle",)
    assert proposed.channels["cart.sensor"].columns == ("cart.sensor_0", "cart.sensor_1")


def test_a_channels_own_clock_is_proposed(machine, tmp_path):
    header = ["t", "command_time", "cart.force", "pole.angle", "pole.angle.time", "cart.sensor1", "cart.sensor2"]
    (tmp_path / "run.csv").write_text(",".join(header) + "\n")
    proposed = propose_mapping(tmp_path / "run.csv", machine)
    assert (proposed.time, proposed.command_time) == ("t", "command_time")
    assert proposed.channels["pole.angle"].time == "pole.angle.time"
    assert proposed.channels["cart.sensor"].columns == ("cart.sensor1", "cart.sensor2")


def test_what_has_no_like_is_left_to_the_user(machine, tmp_path):
    (tmp_path / "run.csv").write_text("t,angle\n")
    proposed = propose_mapping(tmp_path / "run.csv", machine)
    assert list(proposed.channels) == ["pole.angle"]
    with pytest.raises(GaplessError, match=r"leaves out channels cart.force, cart.sensor"):
        import_logs([tmp_path / "run.csv"], proposed, machine)


def test_lerobots_own_vectors_are_proposed_place_by_place(machine, make_log, tmp_path):
    write_logs(tmp_path / "logs", [make_log(5), make_log(4)], "balance")
    path = tmp_path / "logs/data/chunk-000/file-000.parquet"
    table = pq.read_table(path).select(["action", "observation.state", "timestamp", "episode_index"])
    pq.write_table(table, tmp_path / "foreign.parquet")
    toml = mapping_to_toml(propose_mapping(tmp_path / "foreign.parquet", machine))
    proposed = mapping_from_dict(tomllib.loads(toml))
    logs = import_logs([tmp_path / "foreign.parquet"], proposed, machine)
    assert [len(log) for log in logs] == [5, 4]
    assert np.allclose(logs[1].measurements["cart.sensor"], make_log(4).measurements["cart.sensor"], atol=1e-6)


def test_the_arrays_of_one_group_stand_for_all(tmp_path):
    interface = Interface("robot", 0.02, (Channel("voltage"),), (Channel("x"), Channel("theta", width=2)))
    arrays = {"time": np.arange(5) * 0.02, "command": np.ones((5, 1)), "state": np.ones((5, 3)), "meta_kp": np.array(3)}
    np.savez(tmp_path / "runs.npz", **{f"{run}/{name}": values for run in "ab" for name, values in arrays.items()})
    proposed = propose_mapping(tmp_path / "runs.npz", interface)
    assert {name: reading.columns for name, reading in proposed.channels.items()} == {
        "voltage": ("command",),
        "x": ("state[0]",),
        "theta": ("state[1]", "state[2]"),
    }
    assert [log.source["episode"] for log in import_logs([tmp_path / "runs.npz"], proposed, interface)] == ["a", "b"]
