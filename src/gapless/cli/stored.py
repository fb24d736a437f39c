"""What a workspace holds already, for the commands that go on from it."""

from gapless.core import Artifact, GaplessError
from gapless.engine import Workspace, contenders, standing


def latest(workspace: Workspace, kind: str, hint: str) -> Artifact:
    """The newest artifact of a kind; raises with a hint where there is none."""
    found = workspace.store.all(kind)
    if not found:
        raise GaplessError(f"{workspace.folder} has no {kind} yet. {hint}")
    return found[-1]


def policy_to_use(workspace: Workspace) -> Artifact:
    """The policy to stand by: the newest, unless it failed on the robot and an earlier one scored more there."""
    latest(workspace, "policy", "Train one first.")
    return standing(workspace.store, contenders(workspace.store))


def all_logs(workspace: Workspace) -> list[Artifact]:
    """All logs; raises where there are none."""
    found = workspace.store.all("logs")
    if not found:
        raise GaplessError(f"{workspace.folder} has no logs yet. Run `gapless collect` or `gapless import` first.")
    return found


def newest_belief(workspace: Workspace) -> Artifact | None:
    """The newest belief, if there is one."""
    beliefs = workspace.store.all("belief")
    return beliefs[-1] if beliefs else None


def some_policy(workspace: Workspace) -> Artifact | None:
    """The policy to stand by, if there is one."""
    return policy_to_use(workspace) if workspace.store.all("policy") else None


def newest_pair(workspace: Workspace) -> tuple[Artifact, Artifact | None]:
    """The policy to stand by and the newest belief, if there is one."""
    return policy_to_use(workspace), newest_belief(workspace)


def policy_before(workspace: Workspace, policy: Artifact) -> Artifact | None:
    """The policy that this one would take the place of, if there was one."""
    listed = contenders(workspace.store)
    earlier = listed[: [a.id for a in listed].index(policy.id)]
    return standing(workspace.store, earlier) if earlier else None
