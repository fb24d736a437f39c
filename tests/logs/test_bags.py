"""MCAP files and ROS 2 bags become logs, every topic on its own clock, or one sentence says why not."""

import json
import shutil

import numpy as np
import pytest
from mcap.writer import CompressionType, Writer

from gapless.core import Channel, GaplessError, Interface
from gapless.logs import Mapping, Reading, check_log, import_logs, propose_mapping
from gapless.logs.files import column_widths, read_episodes

START = 1_700_000_000_000_000_000
ARM = Interface(
    "arm",
    0.02,
    (Channel("hip"), Channel("knee")),
    (Channel("hip.position", unit="rad"), Channel("knee.position", unit="rad"), Channel("hip.velocity")),
)


def _states(rows=10, late_ns=3_000_000, names=("knee", "hip")):
    """Joint states 20 ms apart, stamped when taken and recorded a little later."""
    for k in range(rows):
        taken = START + k * 20_000_000
        values = {"position": [0.1 * k, 0.2 * k], "velocity": [1.0 * k, 2.0 * k], "effort": []}
        yield "/joint_states", "sensor_msgs/msg/JointState", {"name": list(names), **values}, taken, taken + late_ns


def _commands(rows=10):
    for k in range(rows):
        point = {"positions": [0.3 * k, 0.4 * k], "velocities": [], "accelerations": [], "effort": []}
        sent = START + 5_000_000 + k * 20_000_000
        message = {"joint_names": ["hip", "knee"], "points": [point]}
        yield "/arm/joint_trajectory", "trajectory_msgs/msg/JointTrajectory", message, None, sent


def test_joints_are_found_by_name_and_every_topic_keeps_its_clock(write_bag, tmp_path):
    write_bag(tmp_path / "run.mcap", [*_states(), *_commands()])
    mapping = propose_mapping(tmp_path / "run.mcap", ARM)
    assert mapping.command_time == "/arm/joint_trajectory.time"
    assert mapping.channels["hip.position"] == Reading(("/joint_states.position[hip]",), time="/joint_states.time")
    (log,) = import_logs([tmp_path / "run.mcap"], mapping, ARM)
    k = np.arange(10)
    assert np.allclose(log.commands["knee"][:, 0], 0.4 * k)
    assert np.allclose(log.measurements["hip.position"][:, 0], 0.2 * k)
    assert np.allclose(log.measurements["hip.velocity"][:, 0], 2.0 * k)
    assert np.allclose(log.measurement_time["hip.position"], 0.02 * k, atol=1e-9)
    assert np.allclose(log.command_time, 0.005 + 0.02 * k, atol=1e-9)
    assert check_log(log) == []


def test_a_folder_of_numbered_files_is_one_bag(write_bag, tmp_path):
    (tmp_path / "bag").mkdir()
    messages = [*_states(24), *_commands(24)]
    for part in range(12):  # the tenth part must not come second
        within = [m for m in messages if part == (m[4] - START) // 40_000_000]
        write_bag(tmp_path / "bag" / f"bag_{part}.mcap", within)
    (tmp_path / "bag" / "metadata.yaml").write_text("rosbag2_bagfile_information: {}\n")
    (log,) = import_logs([tmp_path / "bag"], propose_mapping(tmp_path / "bag", ARM), ARM)
    assert np.allclose(log.measurements["hip.position"][:, 0], 0.2 * np.arange(24))
    assert log.source == {"file": "bag", "episode": "bag"}


def test_a_folder_of_bags_is_several_episodes(write_bag, tmp_path):
    for name in ("walk", "run"):
        (tmp_path / "bags" / name).mkdir(parents=True)
        write_bag(tmp_path / "bags" / name / "part_0.mcap", [*_states(), *_commands()])
    logs = import_logs([tmp_path / "bags"], propose_mapping(tmp_path / "bags", ARM), ARM)
    assert [log.source["episode"] for log in logs] == ["run", "walk"]


def test_common_messages_become_columns(write_bag, tmp_path):
    vector = {"x": 1.0, "y": 2.0, "z": 3.0}
    messages = {
        "/torque": ("std_msgs/msg/Float64", {"data": 7.0}, {"/torque.data": 1}),
        "/wheels": ("std_msgs/msg/Float64MultiArray", {"data": [1.0, 2.0]}, {"/wheels.data": 2}),
        "/cmd_vel": (
            "geometry_msgs/msg/Twist",
            {"linear": vector, "angular": vector},
            {"/cmd_vel.linear.x": 1, "/cmd_vel.angular.z": 1},
        ),
        "/wrist": (
            "geometry_msgs/msg/WrenchStamped",
            {"wrench": {"force": vector, "torque": vector}},
            {"/wrist.wrench.force.y": 1},
        ),
        "/imu": (
            "sensor_msgs/msg/Imu",
            {"orientation": {**vector, "w": 1.0}, "angular_velocity": vector, "linear_acceleration": vector},
            {"/imu.orientation.w": 1, "/imu.angular_velocity.z": 1, "/imu.orientation_covariance": 9},
        ),
        "/state": (
            "control_msgs/msg/DynamicJointState",
            {"joint_names": ["hip"], "interface_values": [{"interface_names": ["position"], "values": [4.0]}]},
            {"/state.position[hip]": 1},
        ),
    }
    rows = [(topic, kind, m, START, START) for topic, (kind, m, _) in messages.items()]
    write_bag(tmp_path / "run.mcap", [*rows, ("/camera", "sensor_msgs/msg/Image", {"data": [1] * 9}, START, START)])
    widths = column_widths(tmp_path / "run.mcap")
    for topic, (_, _, expected) in messages.items():
        assert expected.items() <= widths.items()
        assert widths[f"{topic}.time"] == 1
    assert not any(name.startswith("/camera") for name in widths)
    (columns,) = read_episodes(tmp_path / "run.mcap", ["/wheels.data", "/wrist.wrench.force.y", "/wrist.time"]).values()
    assert columns["/wheels.data"].values.tolist() == [[1.0, 2.0]]
    assert columns["/wrist.wrench.force.y"].values.tolist() == [[2.0]]


def test_two_nodes_may_take_turns_on_one_topic(write_bag, tmp_path):
    both = [
        m for pair in zip(_states(names=("a", "b")), _states(late_ns=9, names=("c", "d")), strict=True) for m in pair
    ]
    write_bag(tmp_path / "run.mcap", both)
    (columns,) = read_episodes(tmp_path / "run.mcap", ["/joint_states.position[d]"]).values()
    column = columns["/joint_states.position[d]"]
    assert int(column.present.sum()) == 10
    assert len(column.present) == 20


def test_stamps_of_another_clock_give_way_to_the_time_of_recording(write_bag, tmp_path):
    simulated = [(t, kind, m, k * 10**7 + 1, at) for k, (t, kind, m, _, at) in enumerate(_states())]
    write_bag(tmp_path / "run.mcap", simulated)
    wanted = [f"/joint_states.{clock}" for clock in ("time", "stamp", "log_time")]
    (columns,) = read_episodes(tmp_path / "run.mcap", wanted).values()
    assert np.allclose(np.diff(columns["/joint_states.time"].values[:, 0]), 0.02)
    assert np.allclose(np.diff(columns["/joint_states.stamp"].values[:, 0]), 0.01, atol=1e-6)
    assert columns["/joint_states.log_time"].values[0, 0] == 0.0


def test_json_messages_are_read_like_ros_messages(tmp_path):
    with (tmp_path / "run.mcap").open("wb") as file:
        writer = Writer(file, compression=CompressionType.LZ4)
        writer.start()
        schema = writer.register_schema("State", "jsonschema", b"{}")
        channel = writer.register_channel("/pole", "json", schema)
        for k in range(3):
            writer.add_message(channel, k * 10**7, json.dumps({"angle": k, "parts": {"force": [1, k]}}).encode(), 0)
        writer.finish()
    assert column_widths(tmp_path / "run.mcap")["/pole.parts.force"] == 2
    (columns,) = read_episodes(tmp_path / "run.mcap", ["/pole.angle", "/pole.time"]).values()
    assert columns["/pole.angle"].values[:, 0].tolist() == [0.0, 1.0, 2.0]
    assert np.allclose(columns["/pole.time"].values[:, 0], [0.0, 0.01, 0.02])


def test_a_plan_of_several_points_is_no_command(write_bag, tmp_path):
    messages = list(_commands())
    messages[3][2]["points"] *= 2
    write_bag(tmp_path / "run.mcap", [*messages, *_states()])
    wanted = ["/arm/joint_trajectory.positions[hip]"]
    with pytest.raises(GaplessError, match="has 2 points: that is a plan"):
        read_episodes(tmp_path / "run.mcap", wanted)
    assert "/joint_states.position[hip]" in column_widths(tmp_path / "run.mcap")


def test_a_column_whose_length_changes_is_named(write_bag, tmp_path):
    rows = [("/u", "std_msgs/msg/Float64MultiArray", {"data": [1.0] * (k + 1)}, None, START + k) for k in range(3)]
    write_bag(tmp_path / "run.mcap", rows)
    with pytest.raises(GaplessError, match=r"'/u\.data' has different lengths in different messages"):
        read_episodes(tmp_path / "run.mcap", ["/u.data"])


def test_a_recording_that_was_cut_short_says_how_to_repair_it(write_bag, tmp_path):
    write_bag(tmp_path / "run.mcap", list(_states(200)))
    content = (tmp_path / "run.mcap").read_bytes()
    (tmp_path / "run.mcap").write_bytes(content[: len(content) // 2])
    with pytest.raises(GaplessError, match=r"is cut short.*mcap recover"):
        column_widths(tmp_path / "run.mcap")


def test_any_damage_is_one_sentence(write_bag, tmp_path):
    write_bag(tmp_path / "run.mcap", list(_states()))
    content, rng = (tmp_path / "run.mcap").read_bytes(), np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(content)
        damaged[rng.integers(8, len(content))] ^= int(rng.integers(1, 256))
        (tmp_path / "run.mcap").write_bytes(damaged)
        for read in (column_widths, lambda p: read_episodes(p, ["/joint_states.position[hip]"])):
            try:
                read(tmp_path / "run.mcap")
            except GaplessError as error:
                assert str(error).endswith(".")
                assert "\n" not in str(error)


@pytest.mark.parametrize("content", [b"", b"not a bag", b"\x89MCAP0\r\n"])
def test_what_is_no_mcap_file_is_one_sentence(content, tmp_path):
    (tmp_path / "run.mcap").write_bytes(content)
    with pytest.raises(GaplessError, match=r"cannot be read as MCAP|is cut short"):
        column_widths(tmp_path / "run.mcap")


def test_a_bag_in_sqlite_says_how_to_convert_it(tmp_path):
    (tmp_path / "bag").mkdir()
    (tmp_path / "bag" / "bag_0.db3").write_bytes(b"SQLite format 3\x00")
    for path in (tmp_path / "bag", tmp_path / "bag" / "bag_0.db3"):
        with pytest.raises(GaplessError, match=r"SQLite \(\.db3\); MCAP is read.*ros2 bag convert"):
            column_widths(path)


def test_an_episode_column_makes_no_sense_in_a_bag(write_bag, tmp_path):
    write_bag(tmp_path / "run.mcap", list(_states()))
    mapping = Mapping({name: Reading((name,)) for name in (*ARM.command_names, *ARM.measurement_names)}, episode="run")
    with pytest.raises(GaplessError, match=r"is one episode\. Drop `episode`"):
        import_logs([tmp_path / "run.mcap"], mapping, ARM)


def test_links_out_of_a_bag_are_not_followed(write_bag, tmp_path):
    (tmp_path / "bag").mkdir()
    write_bag(tmp_path / "other.mcap", list(_states()))
    shutil.copy(tmp_path / "other.mcap", tmp_path / "bag" / "bag_0.mcap")
    (tmp_path / "bag" / "bag_1.mcap").symlink_to(tmp_path / "other.mcap")
    with pytest.raises(GaplessError, match="leads out of the folder"):
        column_widths(tmp_path / "bag")
