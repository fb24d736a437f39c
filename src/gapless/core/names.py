"""When two names mean the same signal: `hip.position`, `hip_pos` and `/joint_states.position[hip]` do."""

import re

QUANTITIES = {
    "position": ("position", "positions", "pos", "q", "angle", "angles"),
    "velocity": ("velocity", "velocities", "vel", "dq", "qd", "speed", "speeds"),
    "effort": ("effort", "efforts", "torque", "torques", "tau"),
    "force": ("force", "forces"),
    "current": ("current", "currents"),
    "temperature": ("temperature", "temperatures", "temp"),
}
COMMANDED = {"action", "actions", "command", "commands", "cmd", "control", "trajectory", "target", "targets", "goal"}
COMMANDED |= {"reference", "desired", "setpoint"}
"""Words that tell a command from a measurement."""
QUANTITY_OF = {word: quantity for quantity, words in QUANTITIES.items() for word in words}


def plain(name: str) -> str:
    """The name without capitals, dots, underscores and the like."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def thing_and_quantity(name: str) -> tuple[str, str]:
    """What a signal belongs to and what it measures; the quantity is empty where the name does not say."""
    prefix, inner = _bracketed(name)
    words = _words(inner or prefix)
    words = [word for word in words if word not in COMMANDED] or words
    if len(words) > 1 and words[-1] in QUANTITY_OF:
        return "".join(words[:-1]), QUANTITY_OF[words[-1]]
    around = _words(prefix) if inner else []
    return "".join(words), QUANTITY_OF.get(around[-1], "") if around else ""


def is_commanded(name: str) -> bool:
    """Whether a name says that its values were sent and not measured."""
    return not COMMANDED.isdisjoint(_words(name))


def _bracketed(name: str) -> tuple[str, str]:
    """`a.b[c]` as `a.b` and `c`; without brackets the second is empty."""
    found = re.fullmatch(r"(.+)\[(.+)\]", name)
    return (found[1], found[2]) if found else (name, "")


def _words(name: str) -> list[str]:
    words = [word for word in re.split(r"[^0-9a-z]+", name.casefold()) if word]
    return words[:-1] if len(words) > 1 and words[-1] == "data" else words  # ROS calls the number in a message so
