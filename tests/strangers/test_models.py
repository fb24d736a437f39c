"""Somebody else's model reads no file beyond its own surroundings, and asks for no more than can be meant."""

import os
import struct
import sys
from pathlib import Path

import pytest

from gapless.simulators import load_model, model_probe, write_parameters
from gapless.simulators.model import propose_interface
from gapless.simulators.params_file import read_parameters
from gapless.simulators.proposal import propose_parameters

BODY = '<body><joint name="j"/><geom size=".1"/></body>'
MESH = '<mujoco>{head}<asset><mesh name="m" file="{file}"/></asset><worldbody><body><joint/>'
MESH += '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
URDF = '<robot name="r"><mujoco><compiler {head}/></mujoco><link name="l"><inertial><mass value="1"/>'
URDF += '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>'
URDF += '<mesh filename="{file}"/></geometry></collision></link></robot>'


def stl(path: Path) -> None:
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [
        struct.pack("<12fH", 0, 0, 0, *(x for k in f for x in corners[k]), 0)
        for f in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + b"".join(faces))


def model(tmp_path: Path, text: str, name: str = "robot.xml") -> Path:
    """A model file in tmp_path/store/package/models, as it would lie in a package."""
    path = tmp_path / "store" / "package" / "models" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A mesh and an XML file that are none of the model's business."""
    folder = tmp_path / "outside"
    stl(folder / "m.stl")
    (folder / "part.xml").write_text("<mujocoinclude><option/></mujocoinclude>")
    (folder / "child.xml").write_text(f'<mujoco model="child"><worldbody>{BODY}</worldbody></mujoco>')
    return folder


@pytest.mark.parametrize(
    ("head", "file"),
    [
        ("", "{outside}/m.stl"),
        ("", "../../../outside/m.stl"),
        ("", "..\\..\\..\\outside\\m.stl"),
        ("", "../models/../../../outside/m.stl"),
        ('<compiler meshdir="../../../outside"/>', "m.stl"),
        ('<compiler assetdir="{outside}"/>', "m.stl"),
        ('<compiler meshdir="{outside}" strippath="true"/>', "some/where/m.stl"),
        ("", "link.stl"),
        ('<compiler meshdir="linked"/>', "m.stl"),
    ],
)
def test_a_mesh_outside_its_surroundings_is_not_read(
    tmp_path: Path, outside: Path, head: str, file: str, refusal
) -> None:
    text = MESH.format(head=head.format(outside=outside), file=file.format(outside=outside))
    path = model(tmp_path, text)
    (path.parent / "link.stl").symlink_to(outside / "m.stl")
    (path.parent / "linked").symlink_to(outside)
    assert f"names {outside / 'm.stl'}, which is no file inside {tmp_path / 'store' / 'package'}" in refusal(
        load_model, path
    )


@pytest.mark.parametrize("file", ["{outside}/m.stl", "../../../outside/m.stl"])
def test_a_urdf_reads_no_mesh_outside_its_package(tmp_path: Path, outside: Path, file: str, refusal) -> None:
    path = model(tmp_path, URDF.format(head='strippath="false"', file=file.format(outside=outside)), "robot.urdf")
    assert "Copy it beside the model" in refusal(load_model, path)


@pytest.mark.parametrize(
    "element",
    [
        '<include file="../../../outside/part.xml"/>',
        '<include file="inner.xml"/>',
        '<asset><model name="c" file="../../../outside/child.xml"/></asset>',
        '<asset><texture name="t" type="2d" file="{outside}/m.stl"/></asset>',
        '<asset><texture name="t" type="cube" fileright="{outside}/m.stl" fileleft="x.png"/></asset>',
        '<asset><hfield name="h" size="1 1 1 1" file="{outside}/m.stl"/></asset>',
        '<deformable><skin name="s" file="{outside}/m.stl"/></deformable>',
    ],
)
def test_nothing_else_outside_is_read_either(tmp_path: Path, outside: Path, element: str, refusal) -> None:
    path = model(tmp_path, f"<mujoco>{element.format(outside=outside)}<worldbody>{BODY}</worldbody></mujoco>")
    inner = '<mujocoinclude><include file="../../../outside/part.xml"/></mujocoinclude>'
    (path.parent / "inner.xml").write_text(inner)
    assert str(outside) in refusal(load_model, path)


@pytest.mark.parametrize("within", ["models/assets", "models", "meshes"])
def test_meshes_in_and_beside_the_models_folder_are_read(tmp_path: Path, within: str) -> None:
    package = tmp_path / "store" / "package"
    stl(package / within / "m.stl")
    folder = os.path.relpath(package / within, package / "models")
    assert load_model(model(tmp_path, MESH.format(head=f'<compiler meshdir="{folder}"/>', file="m.stl"))).nmesh == 1
    assert load_model(model(tmp_path, URDF.format(head="", file=f"{folder}/m.stl"), "robot.urdf")).ngeom == 1


def test_a_package_that_is_installed_by_links_is_read(tmp_path: Path) -> None:
    real = model(tmp_path, MESH.format(head='<compiler meshdir="../meshes"/>', file="m.stl"))
    stl(tmp_path / "store" / "package" / "meshes" / "m.stl")
    for folder in ("models", "meshes"):
        (tmp_path / "installed" / folder).mkdir(parents=True)
    linked = tmp_path / "installed" / "models" / "robot.xml"
    linked.symlink_to(real)
    (tmp_path / "installed" / "meshes" / "m.stl").symlink_to(tmp_path / "store" / "package" / "meshes" / "m.stl")
    assert load_model(linked).nmesh == 1


def test_the_folder_above_is_not_everything(tmp_path: Path, outside: Path, refusal, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "downloads").mkdir()
    path = tmp_path / "downloads" / "robot.xml"
    path.write_text(MESH.format(head="", file="../outside/m.stl"))
    assert f"no file inside {path.parent}" in refusal(load_model, path)


def test_a_file_outside_is_not_even_opened(tmp_path: Path, outside: Path, refusal) -> None:
    (outside / "part.xml").write_text("this is no XML")
    path = model(tmp_path, '<mujoco><include file="../../../outside/part.xml"/></mujoco>')
    assert "part.xml, which is no file inside" in refusal(load_model, path)


def test_a_pipe_or_a_device_in_the_place_of_a_mesh_does_not_hang(tmp_path: Path, refusal) -> None:
    path = model(tmp_path, MESH.format(head="", file="pipe.stl"))
    os.mkfifo(path.parent / "pipe.stl")
    assert "pipe.stl, which is no file" in refusal(load_model, path)
    assert "/dev/zero, which is no file" in refusal(load_model, model(tmp_path, MESH.format(head="", file="/dev/zero")))


@pytest.mark.parametrize(
    ("element", "says"),
    [
        (
            '<worldbody><replicate count="1000000000">' + BODY + "</replicate></worldbody>",
            "1000000000 copies in <replicate>",
        ),
        (
            "<worldbody>" + '<replicate count="99">' * 4 + BODY + "</replicate>" * 4 + "</worldbody>",
            "copies in <replicate>",
        ),
        ('<size nkey="2000000000"/>', "copies in <size>"),
        (
            '<worldbody><body name="b"><flexcomp name="f" type="grid" count="999 999 999"/></body></worldbody>',
            "<flexcomp>",
        ),
        ('<size memory="1T"/>', "allocate"),
        ('<size nuserdata="2000000000"/>', "allocate"),
        ('<size nuser_body="2000000000"/>', "MuJoCo cannot read"),
        ('<asset><texture name="t" type="2d" builtin="flat" width="99999" height="99999"/></asset>', "allocate"),
        ('<asset><hfield name="h" nrow="99999" ncol="99999" size="1 1 1 1"/></asset>', "MuJoCo cannot read"),
        ('<asset><mesh name="m" builtin="supersphere" params="30000 1 1"/></asset>', "MuJoCo cannot read"),
        ('<custom><numeric name="n" size="2000000000"/></custom>', "MuJoCo cannot read"),
        ("<worldbody>" + "<body>" * 9999 + "</body>" * 9999 + "</worldbody>", "MuJoCo cannot read"),
        ('<extension><plugin plugin="mujoco.stranger"/></extension>', "plugin mujoco.stranger not found"),
        ("<include file='robot.xml'/>", "already included"),
    ],
)
def test_absurd_models_are_refused(tmp_path: Path, element: str, says: str, refusal) -> None:
    path = model(tmp_path, f"<mujoco>{element}<worldbody>{BODY}</worldbody></mujoco>")
    assert says in refusal(load_model, path)


def test_a_model_that_takes_forever_is_given_up(tmp_path: Path, refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("while True: ...")
    monkeypatch.setattr(model_probe, "__file__", str(slow))
    monkeypatch.setattr(model_probe, "SECONDS", 0.2)
    path = model(tmp_path, f"<mujoco><worldbody>{BODY}</worldbody></mujoco>")
    assert "or brings MuJoCo down" in refusal(load_model, path)


def test_an_interpreter_without_mujoco_is_not_blamed_on_the_model(
    tmp_path: Path, refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # without the packages of its environment
    bare.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(bare))
    said = refusal(load_model, model(tmp_path, f"<mujoco><worldbody>{BODY}</worldbody></mujoco>"))
    assert f"{bare} finds no mujoco, as it does not read PYTHONPATH. Install mujoco" in said


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 an archive",
        b"\x7fELF",
        b"<mujoco><worldbody>",
        b'<!DOCTYPE m [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><mujoco model="&b;"/>',
        b'<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]><mujoco>&x;</mujoco>',
        b'<mujoco><compiler meshdir="\x00"/></mujoco>',
        b"<mujoco>" + b'<mesh file="x"/>' * 3 + b"</mujocoo>",
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes, refusal) -> None:
    path = model(tmp_path, "")
    path.write_bytes(content)
    assert "robot.xml" in refusal(load_model, path)


def test_a_model_too_large_to_be_meant_is_not_read(tmp_path: Path, refusal) -> None:
    path = model(tmp_path, "<mujoco/>")
    os.truncate(path, 2**36)
    assert "has more than" in refusal(load_model, path)


def test_a_model_that_names_thousands_of_files_and_folders_is_refused(tmp_path: Path, refusal) -> None:
    names = "".join(f'<mesh file="{k}.stl"/><compiler meshdir="{k}"/>' for k in range(9999))
    assert "too many to be meant" in refusal(load_model, model(tmp_path, f"<mujoco>{names}</mujoco>"))


def test_nothing_is_written_where_commands_run(tmp_path: Path, refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo keeps a diary in the current folder
    path = model(tmp_path, '<mujoco><size memory="1T"/></mujoco>')
    assert "allocate" in refusal(load_model, path)


def test_names_in_a_model_cannot_forge_parameters(tmp_path: Path) -> None:
    hostile = 'j"]&#10;[evil]&#10;x = "&#x7f;'.replace('"', "&quot;")
    text = f'<mujoco><worldbody><body name="{hostile}"><joint name="{hostile}" damping="1"/><geom size=".1"/></body></worldbody>'
    text += f'<actuator><motor name="{hostile}" joint="{hostile}" ctrlrange="-1 1"/></actuator></mujoco>'
    made = load_model(model(tmp_path, text))
    parameters = propose_parameters(made, propose_interface(made, "hostile"))
    (tmp_path / "params.toml").write_text(write_parameters(parameters))
    assert read_parameters(tmp_path / "params.toml") == parameters


@pytest.mark.parametrize(
    "text",
    [
        "[x]\nnominal = nan\nlow = 0\nhigh = 1\nfamily = 'inertia'",
        "[x]\nnominal = 1\nlow = -inf\nhigh = inf\nfamily = 'inertia'",
        f"[x]\nnominal = 1\nlow = 0\nhigh = 1{'0' * 400}\nfamily = 'inertia'",
        f"[x]\nnominal = {'9' * 5000}\nlow = 0\nhigh = 1\nfamily = 'inertia'",
        "[x]\nnominal = {}\nlow = []\nhigh = 1\nfamily = 'inertia'",
        "[x]\nnominal = 1\nlow = 0\nhigh = 2\nfamily = {a = 1}",
        "x = 1",
        "x = " + "[" * 10**5,
        "a." * 10**5 + "b = 1",
        "\x00",
        "x = '" + "y" * 2**20 + "'",
    ],
)
def test_absurd_parameters_are_refused(tmp_path: Path, text: str, refusal) -> None:
    path = tmp_path / "params.toml"
    path.write_text(text)
    assert "param" in refusal(read_parameters, path)
