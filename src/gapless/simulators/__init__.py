"""What we think happens: MuJoCo on the CPU, traceable physics, and the drivers that run them."""

from .around import Around
from .changing import Changing, changing
from .compiled import CompiledSimulator, compiled, why_not
from .completing import Completed, complete_model
from .disturbed import Disturbed
from .drive import Agent, Loop, Restart
from .finer import finer
from .jax_cartpole import JaxCartpole
from .model import load_model, propose_interface
from .mujoco_cpu import MujocoSimulator
from .params_file import read_parameters, write_parameters
from .proposal import propose_parameters
from .replay import holds_of, replay
from .rollout import Episodes, Rollout, logs_of, rollout
from .sensing import sensing_parameters
from .traceable import TraceableSimulator
from .travel import Stretch, stretches

__all__ = [
    "Agent",
    "Around",
    "Changing",
    "CompiledSimulator",
    "Completed",
    "Disturbed",
    "Episodes",
    "JaxCartpole",
    "Loop",
    "MujocoSimulator",
    "Restart",
    "Rollout",
    "Stretch",
    "TraceableSimulator",
    "changing",
    "compiled",
    "complete_model",
    "finer",
    "holds_of",
    "load_model",
    "logs_of",
    "propose_interface",
    "propose_parameters",
    "read_parameters",
    "replay",
    "rollout",
    "sensing_parameters",
    "stretches",
    "why_not",
    "write_parameters",
]
