"""The camera's place: it looks as the model's own camera does, and all that moves is in the picture."""

import mujoco
import numpy as np
import pytest

from gapless.report.camera import BACKGROUND, finished, framing, looking

ASPECT = 1.6
SWING = np.linspace(-2.0, 2.0, 30)[:, None]
PENDULUM = """<mujoco><worldbody>{camera}<body><joint name="hinge" type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02"/></body></worldbody></mujoco>"""
SIDE = '<camera name="side" pos="0 -2 0" xyaxes="1 0 0 0 0 1"/>'


def test_camera_turned_by_a_right_angle_looks_along_y():
    right, up, forward = looking(90.0, 0.0).T
    assert right == pytest.approx([1, 0, 0], abs=1e-12)
    assert up == pytest.approx([0, 0, 1], abs=1e-12)
    assert forward == pytest.approx([0, 1, 0], abs=1e-12)


def test_camera_of_the_model_says_from_where_to_look():
    camera = framing(mujoco.MjModel.from_xml_string(PENDULUM.format(camera=SIDE)), SWING, ASPECT)
    assert (camera.azimuth, camera.elevation) == pytest.approx((90.0, 0.0))


@pytest.mark.parametrize("camera", [SIDE, ""])
def test_all_that_moves_is_in_the_picture_and_fills_it(camera: str):
    model = mujoco.MjModel.from_xml_string(PENDULUM.format(camera=camera))
    found, data, seen = framing(model, SWING, ASPECT), mujoco.MjData(model), []
    axes = looking(found.azimuth, found.elevation)
    half = np.tan(np.radians(model.vis.global_.fovy) / 2) * np.array([ASPECT, 1.0])
    for pose in SWING:
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        tip = data.geom_xpos[0] - 0.25 * data.geom_xmat[0].reshape(3, 3)[:, 2]
        for end in (tip, np.zeros(3)):
            right, up, away = (end - found.lookat) @ axes
            seen.append(np.abs([right, up]) / (found.distance + away) / half)
    assert 0.6 < np.max(seen) < 1.0


def test_line_at_the_top_is_as_long_as_the_share_that_has_passed():
    empty, full = (finished(np.zeros((60, 200, 3), np.uint8), share) for share in (0.0, 1.0))
    assert (empty[40, 100] == BACKGROUND).all()
    brighter = (full.sum(axis=2).astype(int) > empty.sum(axis=2)).any(axis=0)
    assert brighter.sum() == 200 - 2 * 16
