"""Actuators from logs: the ladder of rungs, fits from torque and from motion alone, and the choice between them."""

from .choose import Choice, choose
from .ladder import Rung, ladder
from .motion import MatchMotion, fit_folds, fit_joints, fit_network_to_motion
from .stored import load_actuator, plain_networks, save_actuator
from .torque import Measured, fit_network_to_torque, fit_torque, torques

__all__ = [
    "Choice",
    "MatchMotion",
    "Measured",
    "Rung",
    "choose",
    "fit_folds",
    "fit_joints",
    "fit_network_to_motion",
    "fit_network_to_torque",
    "fit_torque",
    "ladder",
    "load_actuator",
    "plain_networks",
    "save_actuator",
    "torques",
]
