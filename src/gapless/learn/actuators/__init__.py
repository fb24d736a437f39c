"""Actuators from logs: the ladder of rungs, fits from torque and from motion alone, and the choice between them."""

from .choose import Choice, choose
from .climb import Climbed, climb
from .fits import Climb, Fit
from .ladder import Rung, geared, ladder
from .motion import MatchMotion, fit_folds, fit_joints, fit_network_to_motion
from .stored import load_actuator, plain_networks, save_actuator
from .torque import Measured, fit_network_to_torque, fit_torque, torques

__all__ = [
    "Choice",
    "Climb",
    "Climbed",
    "Fit",
    "MatchMotion",
    "Measured",
    "Rung",
    "choose",
    "climb",
    "fit_folds",
    "fit_joints",
    "fit_network_to_motion",
    "fit_network_to_torque",
    "fit_torque",
    "geared",
    "ladder",
    "load_actuator",
    "plain_networks",
    "save_actuator",
    "torques",
]
