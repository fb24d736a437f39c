"""Parts that are learned or fitted and act around the physics: residuals and sensors."""

from .probe import Probe
from .residual import MEMBER, Correction, Residual, silent_correction
from .sight import Sight

__all__ = ["MEMBER", "Correction", "Probe", "Residual", "Sight", "silent_correction"]
