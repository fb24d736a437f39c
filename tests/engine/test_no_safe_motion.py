"""A crank whose belief allows no safe motion goes on: the deployment has to teach alone."""

from typing import Any

from gapless.core import Artifact
from gapless.engine import Recipe, Stages, Workspace
from gapless.engine.crank import _more
from gapless.learn import NoSafeMotion


class Nervous(Stages):
    """Finds no motion safe."""

    def excite(self, robot: Any, belief: Artifact | None, episodes: int) -> Artifact:
        raise NoSafeMotion("no candidate motion stays inside the limits.")


def test_without_a_safe_motion_the_crank_goes_on(workspace: Workspace) -> None:
    said: list[str] = []
    stages = Nervous(workspace, Recipe(), 0, 2, lambda message, share=None: said.append(message))
    assert _more(stages, robot=None, belief=None) == []  # type: ignore[arg-type]
    assert said == ["no motion is safe under this belief, going on without one"]
