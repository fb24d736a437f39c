"""From a calibrated model back into its source: what identification may move, field by field."""

import mujoco
import numpy as np

INERTIAL = ("body_mass", "body_inertia", "body_ipos", "body_iquat")
DERIVED = (
    "body_subtreemass", "body_invweight0", "dof_invweight0", "dof_M0", "tendon_invweight0", "actuator_acc0",
    "actuator_lengthrange", "actuator_length0", "tendon_length0", "light_dir0", "light_pos0", "light_poscom0", "cam_mat0",
    "cam_pos0", "cam_poscom0", "geom_rbound", "geom_aabb", "bvh_aabb", "oct_aabb",
)  # fmt: skip
"""What MuJoCo computes from the rest."""
BESIDE = (
    "actuator_history",
    "actuator_delay",
    "actuator_historyadr",
    "sensor_history",
    "sensor_delay",
    "sensor_historyadr",
)
"""What the export writes itself, on top of the calibrated model."""
CLOSE = 1e-9


def write_fields(spec: mujoco.MjSpec, nominal: mujoco.MjModel, calibrated: mujoco.MjModel) -> None:
    """Put what differs between the two models into the spec, which must be the compiled one of `nominal`."""
    _write_inertias(spec, nominal, calibrated)
    for joint in spec.joints:
        first = int(calibrated.jnt_dofadr[joint.id])
        joint.damping = [calibrated.dof_damping[first], *calibrated.dof_dampingpoly[first]]
        joint.frictionloss = calibrated.dof_frictionloss[first]
        joint.armature = calibrated.dof_armature[first]
        joint.stiffness = [calibrated.jnt_stiffness[joint.id], *calibrated.jnt_stiffnesspoly[joint.id]]
        joint.springdamper = [0.0, 0.0]  # MuJoCo has made stiffness and damping of it already
        rest = int(calibrated.jnt_qposadr[joint.id])
        if not _same(nominal, calibrated, "qpos_spring", rest):
            turned = spec.compiler.degree and joint.type == mujoco.mjtJoint.mjJNT_HINGE
            joint.springref = np.rad2deg(calibrated.qpos_spring[rest]) if turned else calibrated.qpos_spring[rest]
    for actuator in spec.actuators:
        if not _same(nominal, calibrated, "actuator_gainprm", actuator.id):
            actuator.gainprm = calibrated.actuator_gainprm[actuator.id]
        # A damping ratio, which MJCF keeps as a positive number, would be taken of the inertias that are written now.
        ratio = actuator.biastype == mujoco.mjtBias.mjBIAS_AFFINE and actuator.biasprm[2] > 0
        if ratio or not _same(nominal, calibrated, "actuator_biasprm", actuator.id):
            actuator.biasprm = calibrated.actuator_biasprm[actuator.id]
    for geom in spec.geoms:
        if not _same(nominal, calibrated, "geom_friction", geom.id):
            geom.friction = calibrated.geom_friction[geom.id]
        if not _same(nominal, calibrated, "geom_solref", geom.id):
            geom.solref = calibrated.geom_solref[geom.id]
    spec.option.gravity = calibrated.opt.gravity


def lost_fields(written: mujoco.MjModel, calibrated: mujoco.MjModel) -> list[str]:
    """Fields of the calibrated model that the written one does not have, e.g. "actuator_dynprm"."""
    names = [n for n in dir(calibrated) if isinstance(getattr(calibrated, n), np.ndarray)]
    beside = (*DERIVED, *BESIDE, *INERTIAL)
    names = [n for n in names if n not in beside and not n.startswith(("_", "name", "sensor_")) and n[-7:] != "pathadr"]
    lost = [n for n in names if not _close(getattr(written, n), getattr(calibrated, n))]
    lost += [f"opt.{n}" for n in ("gravity", "timestep", "integrator") if not _close(*(
        np.atleast_1d(getattr(m.opt, n)) for m in (written, calibrated)
    ))]  # fmt: skip
    if not all(map(_close, _inertias(written), _inertias(calibrated))):
        lost.append("body_inertia")
    return lost


def _write_inertias(spec: mujoco.MjSpec, nominal: mujoco.MjModel, calibrated: mujoco.MjModel) -> None:
    rescaled = spec.compiler.settotalmass > 0
    everywhere = rescaled or spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    spec.compiler.settotalmass = -1
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO
    for body in spec.bodies:
        k = body.id
        moved = not all(_same(nominal, calibrated, name, k) for name in INERTIAL)
        if k and calibrated.body_mass[k] > 0 and (moved or everywhere):
            body.explicitinertial, body.mass = True, calibrated.body_mass[k]
            body.ipos, body.iquat = calibrated.body_ipos[k], calibrated.body_iquat[k]
            body.inertia, body.fullinertia = calibrated.body_inertia[k], [np.nan, 0, 0, 0, 0, 0]
            body.ialt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT


def _same(a: mujoco.MjModel, b: mujoco.MjModel, name: str, index: int) -> bool:
    return np.array_equal(getattr(a, name)[index], getattr(b, name)[index])


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape:
        return False
    return a.dtype.kind not in "fiub" or np.allclose(a, b, rtol=CLOSE, atol=CLOSE * 1e-3, equal_nan=True)


def _inertias(model: mujoco.MjModel) -> tuple[np.ndarray, ...]:
    """Mass, centre and tensor of every body, however its principal axes are numbered."""
    turned = np.zeros((model.nbody, 9))
    for k in range(model.nbody):
        mujoco.mju_quat2Mat(turned[k], model.body_iquat[k])
    axes = turned.reshape(-1, 3, 3)
    tensors = axes @ (model.body_inertia[:, :, None] * axes.transpose(0, 2, 1))
    return model.body_mass, model.body_ipos, tensors
