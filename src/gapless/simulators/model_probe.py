"""Try a model before it is trusted: MuJoCo compiles it in a process of its own, with limits on memory and time.

Run as a script with the path of the model, it prints what is wrong with it, or nothing. It imports nothing of Gapless.
"""

import sys

import mujoco

MEMORY_BYTES = 4 * 2**30
SECONDS = 20


def _limit() -> None:
    try:
        import resource
    except ImportError:  # not on Windows; the time limit of who started this holds there, too
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _fault(path: str) -> str:
    try:
        mujoco.MjData(mujoco.MjModel.from_xml_path(path))
    except Exception as error:  # MuJoCo has no common class of errors
        return " ".join(str(error).split())[:500] or type(error).__name__
    return ""


if __name__ == "__main__":
    _limit()
    print(_fault(sys.argv[1]))
