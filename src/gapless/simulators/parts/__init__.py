"""Parts that act around or inside a simulated machine: motors, friction, gears, residuals, sensors."""

from .probe import Probe
from .residual import MEMBER, Correction, Residual, silent_correction
from .sensor import Sensor, new_sensor, sensor_parameters
from .sight import Sight
from .stored import has_residual, load_residual, save_residual
from .units import Units

__all__ = [
    "MEMBER",
    "Correction",
    "Probe",
    "Residual",
    "Sensor",
    "Sight",
    "Units",
    "has_residual",
    "load_residual",
    "new_sensor",
    "save_residual",
    "sensor_parameters",
    "silent_correction",
]
