"""A fitted rung in MuJoCo's words, as far as these reach: gains, damping, friction, armature, delay."""

import numpy as np

from gapless.core import Params

from .ladder import Rung

SAME = {
    "pd.stiffness": "kp",
    "pd.damping": "kv",
    "amplifier.gain": "gain",
    "amplifier.drag": "kv",
    "friction.viscous": "damping",
    "friction.coulomb": "frictionloss",
    "joint.inertia": "armature",
    "command.latency": "delay",
}
"""Parameter → attribute, where the two mean the same at the joint."""


def in_words(rung: Rung, params: Params) -> dict[str, float]:
    """Attribute → value at the joint, gear included; the armature is what is to be added to the model's.

    Bias, limits of voltage, and friction that depends on load or speed have no attribute.
    """
    value = {k: float(np.ravel(v)[0]) for k, v in params.items()}
    known = {p.name for p in rung.parameters}
    found = {word: value[name] for name, word in SAME.items() if name in known and name in value}
    if "motor.constant" in known:
        back = value["motor.constant"] / value["motor.resistance"]
        found = {"kp": value["motor.gain"] * value["motor.supply"] * back, "kv": value["motor.constant"] * back} | found
    return found
