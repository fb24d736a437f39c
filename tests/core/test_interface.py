"""The contract between a robot and its simulator: compared whenever two things meet, and the same after JSON."""

import dataclasses
import json

import pytest

from gapless.core import Channel, GaplessError, Interface

ARM = Interface(
    "arm",
    0.02,
    (Channel("elbow", unit="V", low=-5.0, high=5.0), Channel("wrist", width=2)),
    (Channel("elbow.angle", unit="rad", rate=20.0), Channel("wrist.angle", width=2, unit="rad", scale=0.1)),
    ("elbow", "wrist"),
)


def test_an_interface_is_the_same_after_json() -> None:
    assert Interface.from_dict(json.loads(json.dumps(ARM.to_dict()))) == ARM


def test_widths_count_numbers_and_not_channels() -> None:
    assert (ARM.command_width, ARM.measurement_width) == (3, 3)


def test_the_same_machine_with_other_limits_fits() -> None:
    wider = tuple(dataclasses.replace(c, high=99.0) for c in ARM.commands)
    ARM.require_same(dataclasses.replace(ARM, commands=wider), "the simulator", "the log")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"period_s": 0.01}, "period 0.02 s against 0.01 s"),
        ({"joints": ("wrist", "elbow")}, "joints elbow, wrist against wrist, elbow"),
        ({"commands": ARM.commands[::-1]}, r"commands elbow\[1\] wrist\[2\] against wrist\[2\] elbow\[1\]"),
        ({"measurements": (Channel("elbow.angle", unit="deg"), ARM.measurements[1])}, "elbow.angle in rad against deg"),
    ],
)
def test_a_machine_that_differs_is_an_error_message_and_not_a_mystery(change: dict, says: str) -> None:
    with pytest.raises(GaplessError, match=f"the simulator and the log do not fit: {says}"):
        ARM.require_same(dataclasses.replace(ARM, **change), "the simulator", "the log")


def test_an_unknown_channel_is_told_which_there_are() -> None:
    with pytest.raises(
        GaplessError, match=r"'arm' has no channel 'hip' \(it has: elbow, wrist, elbow.angle, wrist.angle"
    ):
        ARM.channel("hip")


@pytest.mark.parametrize(
    "fields",
    [{"width": 0}, {"low": 1.0, "high": 0.0}, {"rate": 0.0}, {"scale": 0.0}, {"name": ""}, {"rate": float("nan")}],
)
def test_a_channel_that_cannot_be_used_is_refused(fields: dict) -> None:
    with pytest.raises(GaplessError, match="is not usable"):
        Channel(**{"name": "elbow", **fields})


def test_two_channels_of_one_name_are_refused() -> None:
    with pytest.raises(GaplessError, match="names x twice"):
        Interface("arm", 0.02, (Channel("x"),), (Channel("x"),))


@pytest.mark.parametrize("period_s", [0.0, -1.0, float("nan"), float("inf")])
def test_a_period_must_be_positive(period_s: float) -> None:
    with pytest.raises(GaplessError, match="it must be positive"):
        Interface("arm", period_s, (), ())


@pytest.mark.parametrize("plain", [{}, {"robot": "arm"}, {**ARM.to_dict(), "commands": [{"wide": 1}]}])
def test_what_is_no_interface_is_said_to_be_none(plain: dict) -> None:
    with pytest.raises(GaplessError, match="this is not the description of an interface"):
        Interface.from_dict(plain)
