"""Doors for other learners: a simulator, a belief and a task as the environment that their package trains in."""

from typing import TYPE_CHECKING, Literal, get_args

from gapless.core import Belief, GaplessError, Simulator, Task

from .practice import Practice, Worlds

if TYPE_CHECKING:
    from .gymnasium_env import PracticeVectorEnv
    from .rsl_rl_env import PracticeRslRlEnv
    from .sb3_env import PracticeVecEnv

Autoreset = Literal["SameStep", "NextStep", "Disabled"]
"""Gymnasium's own words for when an ended world begins anew."""
USUAL = Practice()


def gymnasium_env(
    simulator: Simulator, belief: Belief, task: Task, practice: Practice = USUAL, autoreset: Autoreset = "SameStep"
) -> "PracticeVectorEnv":
    """A `gymnasium.vector.VectorEnv`."""
    try:
        from .gymnasium_env import PracticeVectorEnv
    except ImportError as error:
        raise _missing("a Gymnasium environment", "gapless[gymnasium]", error) from None
    if autoreset not in get_args(Autoreset):
        raise GaplessError(f"autoreset is {autoreset!r}; Gymnasium knows {', '.join(get_args(Autoreset))}.")
    return PracticeVectorEnv(Worlds(simulator, belief, task, practice), autoreset)


def sb3_env(simulator: Simulator, belief: Belief, task: Task, practice: Practice = USUAL) -> "PracticeVecEnv":
    """A `VecEnv` of stable-baselines3."""
    try:
        from .sb3_env import PracticeVecEnv
    except ImportError as error:
        raise _missing("an environment of stable-baselines3", "stable-baselines3", error) from None
    return PracticeVecEnv(Worlds(simulator, belief, task, practice))


def rsl_rl_env(
    simulator: Simulator, belief: Belief, task: Task, practice: Practice = USUAL, device: str = "cpu", seed: int = 0
) -> "PracticeRslRlEnv":
    """A `VecEnv` of rsl_rl, whose tensors are on `device`."""
    try:
        from .rsl_rl_env import PracticeRslRlEnv
    except ImportError as error:
        raise _missing("an environment of rsl_rl", "rsl-rl-lib", error) from None
    return PracticeRslRlEnv(Worlds(simulator, belief, task, practice), device, seed)


def _missing(what: str, package: str, error: ImportError) -> GaplessError:
    return GaplessError(f"{what} cannot be made: {error}. Install it with `pip install '{package}'`.")
