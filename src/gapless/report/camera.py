"""A process of its own that draws a robot and its ghosts, in one panel or several: frames go to standard output as raw RGB.

It is run as a file, not imported, and imports nothing of Gapless: MuJoCo reads MUJOCO_GL when it is imported, and a
graphics driver that crashes then takes nothing else with it.

    MUJOCO_GL=egl python camera.py MODEL.mjb POSES.npz WIDTH HEIGHT > frames.rgb
"""

import sys

import mujoco
import numpy as np

BACKGROUND = np.array([27, 31, 37], np.float32)
INSET = 16
BAR = np.array([154, 165, 177], np.float32)
PAINT = {
    "robot": (0.86, 0.88, 0.9),
    "nominal": (0.95, 0.55, 0.27),
    "identified": (0.3, 0.66, 1.0),
    "mujoco": (0.95, 0.55, 0.27),
    "clone": (0.3, 0.66, 1.0),
}
"""Colours of what moves: as measured, as the data sheet has it, as learned; as MuJoCo and a clone of it have it."""
GHOSTLY, FAINT = 0.57, 0.3
"""How much of a ghost is seen: where all are in one panel, and where each has its own."""
DIMMED = 0.5
"""The light that is left of what does not move."""
MARGIN = 1.15
"""Room around all that moves, the line at the top included."""


def main(model_path: str, poses_path: str, width: int, height: int) -> None:
    model = mujoco.MjModel.from_binary_path(model_path)
    poses = dict(np.load(poses_path))
    panels = [str(panel).split() for panel in poses["panels"]]
    wide = width // len(panels)
    model.vis.global_.offwidth, model.vis.global_.offheight = wide, height
    camera = framing(model, poses[panels[0][0]], wide / height)
    with mujoco.Renderer(model, height, wide) as renderer:
        for k, share in enumerate(poses["share"]):
            now = [{name: poses[name][k] for name in panel} for panel in panels]
            sides = [drawn(renderer, model, some, camera, GHOSTLY if len(now) == 1 else FAINT) for some in now]
            sys.stdout.buffer.write(finished(np.concatenate(sides, 1), float(share), poses["letters"]).tobytes())


def drawn(
    renderer: mujoco.Renderer,
    model: mujoco.MjModel,
    poses: dict[str, np.ndarray],
    camera: mujoco.MjvCamera,
    ghostly: float,
) -> np.ndarray:
    """The first whole, and of the others only what moves."""
    data, scene = mujoco.MjData(model), renderer.scene
    for number, (name, pose) in enumerate(poses.items()):
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        first = scene.ngeom
        if number == 0:
            renderer.update_scene(data, camera)
            first = 0
        else:
            moving = mujoco.mjtCatBit.mjCAT_DYNAMIC.value
            mujoco.mjv_addGeoms(model, data, mujoco.MjvOption(), mujoco.MjvPerturb(), moving, scene)
        paint(scene, first, (*PAINT[name], ghostly if number else 1.0))
    for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION, mujoco.mjtRndFlag.mjRND_SKYBOX):
        scene.flags[flag] = False
    return renderer.render()


def paint(scene: mujoco.MjvScene, first: int, colour: tuple[float, float, float, float]) -> None:
    """Give all that moves, from geom `first` on, one colour, and dim the rest."""
    for geom in scene.geoms[first : scene.ngeom]:
        geom.matid = -1
        if geom.category == mujoco.mjtCatBit.mjCAT_DYNAMIC.value:
            geom.rgba[:] = colour
        else:
            geom.rgba[:3] *= DIMMED


def finished(picture: np.ndarray, share: float, letters: np.ndarray | None = None) -> np.ndarray:
    """The picture on its background, with a line at its top that fills as a stretch goes by, and where letters are, letters."""
    light = picture.astype(np.float32)
    screened = 255 - (255 - light) * (255 - BACKGROUND) / 255
    width = picture.shape[1] - 2 * INSET
    screened[INSET : INSET + 3, INSET : INSET + width] *= 1.3
    screened[INSET : INSET + 3, INSET : INSET + round(share * width)] = BAR
    if letters is not None:
        screened[letters] = BAR
    return np.minimum(screened, 255).astype(np.uint8)


def framing(model: mujoco.MjModel, motion: np.ndarray, aspect: float) -> mujoco.MjvCamera:
    """A camera that looks as the model's camera `side` does, or from in front and above, near enough to fill the picture."""
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, "side")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    if index >= 0:
        x, y, z = -data.cam_xmat[index].reshape(3, 3)[:, 2]
        camera.azimuth, camera.elevation = np.degrees(np.arctan2(y, x)), np.degrees(np.arcsin(np.clip(z, -1.0, 1.0)))
    axes = looking(camera.azimuth, camera.elevation)
    centres, radius = spheres(model, data, motion)
    seen = centres @ axes
    low, high = (seen - radius).min(axis=0), (seen + radius).max(axis=0)
    middle = (low + high) / 2
    half = np.tan(np.radians(model.vis.global_.fovy) / 2) * np.array([aspect, 1.0])
    reach = (np.abs(seen - middle)[:, :2] + radius) / half - (seen - middle)[:, 2:]
    camera.lookat, camera.distance = axes @ middle, MARGIN * reach.max()
    return camera


def looking(azimuth: float, elevation: float) -> np.ndarray:
    """Columns: right, up and forward of a camera that is turned so, in degrees."""
    a, e = np.radians(azimuth), np.radians(elevation)
    forward = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([np.sin(a), -np.cos(a), 0.0])
    return np.stack([right, np.cross(right, forward), forward], axis=1)


def spheres(model: mujoco.MjModel, data: mujoco.MjData, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centres and radii of spheres around all that moves, over the whole motion."""
    moving, centres = model.geom_bodyid > 0, []
    for pose in motion[:: max(1, len(motion) // 50)]:
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        centres.append(data.geom_xpos[moving].copy())
    return np.concatenate(centres), np.tile(model.geom_rbound[moving], len(centres))[:, None]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
