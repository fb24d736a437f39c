"""Recordings of real machines come in with a mapping of a few lines."""

import numpy as np

from gapless.core import Channel, Interface
from gapless.logs import Mapping, Reading, check_log, import_logs, propose_mapping, read_logs, write_logs


def _volts(robot: str, *measured: Channel) -> Interface:
    return Interface(robot, 0.004, (Channel("motor.voltage", unit="V"),), measured)


def test_the_cart_pole_comes_in_without_its_first_rows(recordings, same, tmp_path):
    interface = _volts("cartpole", Channel("cart.position", unit="m"), Channel("pole.angle", unit="rad"))
    columns = {"motor.voltage": "command", "cart.position": "state[0]", "pole.angle": "state[1]"}
    channels = {name: Reading((column,)) for name, column in columns.items()}
    path = recordings / "cartpole" / "train.npz"
    logs = import_logs([path], Mapping(channels, time="time", skip_rows=1), interface)
    assert len(logs) == 9
    # One state more than commands, and the clock has a time for each state.
    assert all(len(log.measurements["pole.angle"]) == len(log) + 1 for log in logs)
    stored = np.load(path)[f"{logs[0].source['episode']}/state"][1:, 1]
    assert np.array_equal(logs[0].measurements["pole.angle"][:, 0], stored)
    write_logs(tmp_path / "logs", logs, "swing up")
    assert all(same(a, b) for a, b in zip(logs, read_logs(tmp_path / "logs"), strict=True))


def test_the_furuta_pendulum_comes_in_by_the_proposed_mapping(recordings):
    names = ("theta", "alpha", "theta.rate", "alpha.rate")
    interface = _volts("furuta", *(Channel(n, unit="rad/s" if "rate" in n else "rad") for n in names))
    path = recordings / "furuta" / "train.npz"
    logs = import_logs([path], propose_mapping(path, interface), interface)
    assert len(logs) == 21
    assert all(np.isclose(np.median(np.diff(log.command_time)), 0.004) for log in logs)
    assert not any("degrees" in warning for log in logs for warning in check_log(log))


def test_the_arm_comes_in_with_two_clocks(recordings):
    axes = ("command", "position", "velocity")
    interface = Interface("so101", 0.02, (Channel(axes[0], 6),), (Channel(axes[1], 6), Channel(axes[2], 6)))
    path = recordings / "so101_arm" / "train.npz"
    mapping = propose_mapping(path, interface)
    assert (mapping.time, mapping.command_time) == ("time", "command_time")
    assert len(import_logs([path], mapping, interface)) == 36


def test_one_design_of_the_double_pendulum_is_picked_by_name(recordings):
    torque, angle = Channel("torque", width=2, unit="N m"), Channel("angle", width=2, unit="rad")
    channels = {"torque": Reading(("tau_con1", "tau_con2")), "angle": Reading(("pos_meas1", "pos_meas2"))}
    mapping = Mapping(channels, time="time", only="sysid_C1*")
    path = recordings / "double_pendulum" / "train.npz"
    logs = import_logs([path], mapping, Interface("double pendulum", 0.002, (torque,), (angle,)))
    assert logs
    assert all(str(log.source["episode"]).startswith("sysid_C1") for log in logs)
