"""The stages of the crank, each from artifacts to an artifact that is made once and found again ever after."""

from .collecting import Collecting
from .judging import Judging
from .learning import Learning


class Stages(Collecting, Learning, Judging):
    """The verbs of the loop on one workspace."""
