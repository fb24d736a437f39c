"""To and from other tools."""

from .actuator_out import export_actuator
from .curves import Curves, open_curves
from .envs import gymnasium_env, rsl_rl_env, sb3_env
from .model_out import ModelOut, export_model
from .onnx_home import bring_home
from .onnx_in import OnnxPolicy, load_onnx_policy
from .onnx_policy import export_policy
from .practice import Practice, Worlds
from .ranges_out import export_ranges

__all__ = [
    "Curves",
    "ModelOut",
    "OnnxPolicy",
    "Practice",
    "Worlds",
    "bring_home",
    "export_actuator",
    "export_model",
    "export_policy",
    "export_ranges",
    "gymnasium_env",
    "load_onnx_policy",
    "open_curves",
    "rsl_rl_env",
    "sb3_env",
]
