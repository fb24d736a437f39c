"""The vocabulary: log, belief, block, task, crank, and the types around them."""

from .artifact import Artifact, Store
from .belief import Belief, Gaussian, Point, Uniform, complete, nominal_belief, prior_belief
from .block import Block, Chain
from .change import Change
from .chosen import Chosen
from .disturbance import Disturbance
from .errors import GaplessError
from .interface import Channel, Interface
from .log import Log, on_one_clock
from .log_gaussian import LogGaussian
from .observation import Feature, Observation
from .parameter import FAMILIES, Parameter
from .particles import Particles
from .robot import Robot
from .seeds import generator_for, generator_from, key_for
from .signals import Params, Signals, by_world, stack, unstack
from .simulator import Course, Holds, Simulator
from .stored_belief import belief_from_dict, read_belief
from .task import Task, Verdict
from .wrapped_task import WrappedTask

__all__ = [
    "FAMILIES",
    "Artifact",
    "Belief",
    "Block",
    "Chain",
    "Change",
    "Channel",
    "Chosen",
    "Course",
    "Disturbance",
    "Feature",
    "GaplessError",
    "Gaussian",
    "Holds",
    "Interface",
    "Log",
    "LogGaussian",
    "Observation",
    "Parameter",
    "Params",
    "Particles",
    "Point",
    "Robot",
    "Signals",
    "Simulator",
    "Store",
    "Task",
    "Uniform",
    "Verdict",
    "WrappedTask",
    "belief_from_dict",
    "by_world",
    "complete",
    "generator_for",
    "generator_from",
    "key_for",
    "nominal_belief",
    "on_one_clock",
    "prior_belief",
    "read_belief",
    "stack",
    "unstack",
]
