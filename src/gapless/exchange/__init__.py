"""To and from other tools."""

from .actuator_out import export_actuator
from .model_out import ModelOut, export_model
from .onnx_in import OnnxPolicy, load_onnx_policy
from .onnx_policy import export_policy
from .ranges_out import export_ranges

__all__ = [
    "ModelOut",
    "OnnxPolicy",
    "export_actuator",
    "export_model",
    "export_policy",
    "export_ranges",
    "load_onnx_policy",
]
