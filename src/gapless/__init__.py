"""Gapless: learn the simulator from the robot's logs, train inside it, say beforehand what will happen."""

import os

# OpenBLAS's threads and MuJoCo's batch threads would fight over the same cores; must be set before numpy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.3.0"
