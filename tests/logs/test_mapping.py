"""The mapping file: what it may say, what it may not, and that writing it and reading it is the same."""

import math
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapless.core import Channel, GaplessError, Interface
from gapless.logs import Mapping, Reading, mapping_from_dict, mapping_to_toml, read_mapping
from gapless.logs.mapping import conversion, require_fits

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
READINGS = st.builds(
    Reading,
    st.lists(WORDS, min_size=1, max_size=3).map(tuple),
    unit=st.sampled_from(["", "deg", "driver"]),
    scale=st.floats(0.001, 1e9),
    offset=st.floats(-1e9, 1e9),
    time=WORDS,
)
MAPPINGS = st.builds(
    Mapping,
    st.dictionaries(WORDS, READINGS, max_size=3),
    time=WORDS,
    time_unit=st.sampled_from(["s", "ms"]),
    episode=WORDS,
    only=WORDS,
    skip_rows=st.integers(0, 10),
)


@given(mapping=MAPPINGS)
@settings(max_examples=50, deadline=None, derandomize=True)
def test_a_mapping_written_as_toml_reads_back_the_same(mapping):
    assert mapping_from_dict(tomllib.loads(mapping_to_toml(mapping))) == mapping


def test_a_mapping_file_reads_like_this(tmp_path):
    path = tmp_path / "mapping.toml"
    path.write_text(
        """
        time = "stamp"
        time_unit = "ms"
        [channels."pole.angle"]
        columns = "theta"
        unit = "deg"
        [channels."cart.sensor"]
        columns = ["fx", "fy"]
        scale = 2
        """
    )
    expected = {"pole.angle": Reading(("theta",), unit="deg"), "cart.sensor": Reading(("fx", "fy"), scale=2.0)}
    assert read_mapping(path) == Mapping(expected, time="stamp", time_unit="ms")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tme = 't'", "has the key 'tme'; known are: time"),
        ("time = 5", "time = 5, which is of the wrong kind"),
        ("skip_rows = true", "of the wrong kind"),
        ("skip_rows = -1", "cannot be negative"),
        ("time_unit = 'min'", "must be one of s, ms, us, ns"),
        ("channels = 3", "must hold its channels as tables"),
        ("[channels.a]\nunit = 'deg'", "channel 'a', has no columns"),
        ("[channels.a]\ncolumns = [1]", "of the wrong kind"),
        ("[channels.a]\ncolumns = []", "needs a column"),
        ("[channels.a]\ncolumns = 'x'\nscale = 0", "scale that is not 0"),
        ("[channels.a]\ncolumns = 'x'\noffset = nan", "a finite offset"),
        ("[channels.a]\ncolumns = 'x'\nscale = 'big'", "of the wrong kind"),
        ("= 3", "cannot be read as TOML"),
        ("a = " + "[" * 50_000, "cannot be read as TOML"),
    ],
)
def test_a_faulty_mapping_file_is_one_sentence(text, sentence, tmp_path):
    path = tmp_path / "mapping.toml"
    path.write_text(text)
    with pytest.raises(GaplessError, match=sentence):
        read_mapping(path)


def test_a_missing_mapping_file_is_named(tmp_path):
    with pytest.raises(GaplessError, match="there is no file"):
        read_mapping(tmp_path / "mapping.toml")


def test_missing_channels_are_named(machine):
    with pytest.raises(GaplessError, match=r"leaves out channels pole.angle, cart.sensor"):
        require_fits(Mapping({"cart.force": Reading(("u",))}), machine)


def test_unknown_channels_are_named(machine):
    known = {"cart.force": Reading(("u",)), "pole.angle": Reading(("a",)), "cart.sensor": Reading(("s",))}
    with pytest.raises(GaplessError, match="names unknown channel tail"):
        require_fits(Mapping({**known, "tail": Reading(("t",))}), machine)


def test_a_column_read_twice_is_named(machine):
    twice = {"cart.force": Reading(("u",)), "pole.angle": Reading(("u",)), "cart.sensor": Reading(("s",))}
    with pytest.raises(GaplessError, match="reads u more than once"):
        require_fits(Mapping(twice), machine)


def test_a_command_cannot_have_a_clock_of_its_own(machine):
    clocked = {"cart.force": Reading(("u",), time="t"), "pole.angle": Reading(("a",)), "cart.sensor": Reading(("s",))}
    with pytest.raises(GaplessError, match="Commands share one: set command_time"):
        require_fits(Mapping(clocked), machine)


def test_degrees_become_radians_and_drivers_units_follow_the_interface():
    channel = Channel("angle", unit="rad", scale=0.5, offset=1.0)
    assert conversion(Reading(("x",), unit="deg"), channel) == (math.pi / 180, 0.0)
    assert conversion(Reading(("x",), unit="driver", scale=-1.0, offset=3.0), channel) == (-0.5, 2.0)
    assert conversion(Reading(("x",), unit="rad", scale=4.0), channel) == (4.0, 0.0)


@pytest.mark.parametrize("unit", ["mm", "parsec"])
def test_a_unit_of_another_kind_is_refused(unit):
    interface = Interface("robot", 0.1, (), (Channel("angle", unit="rad"),))
    with pytest.raises(GaplessError, match=r"Use one of: rad, deg, turn, driver"):
        require_fits(Mapping({"angle": Reading(("x",), unit=unit)}), interface)
