"""To and from other tools."""

from .onnx_in import OnnxPolicy, load_onnx_policy
from .onnx_policy import export_policy

__all__ = ["OnnxPolicy", "export_policy", "load_onnx_policy"]
