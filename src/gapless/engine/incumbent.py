"""Which policy to stand by: what one has shown on the robot, against what another only promises."""

from typing import NamedTuple

import numpy as np

from gapless.core import Artifact, Store

CARRIES_OVER = 0.5
"""Share of what the simulator missed about one policy that it is expected to miss about the next, too."""


class Shown(NamedTuple):
    """What a policy did on the robot."""

    returns: tuple[float, ...]
    always_passed: bool


KEPT = "kept"
"""Figure of a policy that is another one kept: the other's id."""


def deployments(store: Store, policy: Artifact, before_crank: int | None = None) -> list[Artifact]:
    """Logs of a policy on the robot, under all ids that it has had; of earlier cranks only, if one is named."""
    ids, known = {policy.id}, {a.id: a for a in store.all("policy")}
    ids |= {id_ for name, id_ in policy.parents.items() if name.startswith("tried")}  # before it was adopted
    while policy.figures.get(KEPT) in known and policy.figures[KEPT] not in ids:
        policy = known[policy.figures[KEPT]]
        ids.add(policy.id)
    found = [a for a in store.all("logs") if a.parents.get("policy") in ids]
    return [a for a in found if before_crank is None or 0 < a.recipe["crank"] < before_crank]


def standing(store: Store, policies: list[Artifact], until_crank: int | None = None) -> Artifact:
    """The policy to stand by among these, oldest first: the newest, or, where it failed on the robot, who scored most there.

    One that never ran there, or never failed, has nothing against it. Deployments after a crank count only if none is named.
    """
    before = None if until_crank is None else until_crank + 1
    shown = [shown_by(deployments(store, policy, before)) for policy in policies]
    if shown[-1].always_passed:
        return policies[-1]
    best = max(range(len(policies)), key=lambda k: (np.mean(shown[k].returns) if shown[k].returns else -np.inf, k))
    return policies[best]


def shown_by(logs: list[Artifact]) -> Shown:
    """What it scored there, and whether it ever failed."""
    episodes = [e for a in logs for e in a.figures["episodes"]]
    return Shown(tuple(float(e["return"]) for e in episodes), all(e["passed"] for e in episodes))


def gives_way(shown: Shown, simulated: float, promised: float) -> bool:
    """Whether `promised`, the simulated return of a candidate, is worth more than what the policy in place has shown.

    `simulated` is what the same simulator makes of the policy in place. Where the robot showed more, or a failure and less, the
    simulator is wrong about something, and only a part of that error will be the candidate's as well. A candidate that then
    fails on the robot gives the place back: see `standing`.
    """
    wrong_by = float(np.mean(shown.returns)) - simulated if shown.returns else 0.0
    wrong_by = max(wrong_by, 0.0) if shown.always_passed else wrong_by
    return promised > simulated + (1 - CARRIES_OVER) * wrong_by
