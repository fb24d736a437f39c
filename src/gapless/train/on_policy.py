"""What ways of training have in common that learn from the batch just collected, several times over, within a trust region."""

from dataclasses import dataclass

from gapless.core import GaplessError

from .learning import Method


@dataclass(frozen=True)
class OnPolicy(Method):
    """Clipped updates of a policy, and of a critic beside it."""

    epochs: int = 6
    """Passes over each batch."""
    minibatches: int = 4
    """Pieces of each pass."""
    hidden: tuple[int, int] = (64, 2)
    """Width and number of hidden layers, of policy and critic alike."""
    told: tuple[str, ...] = ()
    """Params that the policy is told: a privileged teacher, which no robot can run."""
    asymmetric: bool = True
    """Whether the critic sees params and privileged signals, too; else only what the policy sees."""
    rate: float = 2e-3
    """Largest learning rate; below it, the rate follows the KL divergence."""
    discount: float = 0.985
    """Weight of the next period's reward."""
    trace: float = 0.95
    """Lambda of the advantage estimate."""
    clip: float = 0.3
    """How far a probability ratio may pay."""
    kl_target: float = 0.03
    """KL divergence per update that the learning rate aims at. It fades out over the second half of the budget."""
    noise: float = 0.5
    """Deviation of the first exploration, as a share of half the command range."""
    smooth: float = 0.0
    """Price per second of commands that jump by half their range every period."""
    energy: float = 0.0
    """Price per second of commands at their limit."""

    def __post_init__(self) -> None:
        if self.worlds * self.steps % self.minibatches:
            raise GaplessError(
                f"{self.worlds} worlds × {self.steps} steps do not divide into {self.minibatches} minibatches."
            )
