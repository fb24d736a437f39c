"""A stand-in for LeRobot that keeps its contract: a registry of configurations, and robots with its verbs."""
