"""Time to the same return as stable-baselines3's PPO and SAC, and what the loop around the physics costs.

Both learn to swing up the built-in cart-pole with 20 ms of latency and dry friction: same task, reward, observation and
starts, each with its own best settings. A run is timed to the first look at which 64 common episodes reach the target; looks
are not timed, and what is compiled or set up before learning stands in a column of its own.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import jax
import numpy as np
import tyro
from mujoco.batch import Batch
from rich.progress import track

from frame import Benchmark, console, finish
from gapless import robots
from gapless.core import Point, Simulator, key_for
from gapless.nets.policy import Shape, new_policy
from gapless.robots.cartpole import INTERFACE
from gapless.simulators import JaxCartpole, MujocoSimulator, Rollout, load_model, read_parameters
from gapless.tasks import SwingUp
from gapless.train import FastSac, Method, Place, Ppo
from peer import PPO, SAC, SAC_WORLDS, Peer, Worlds
from peer import WORLDS as PEERS

PEER, SAC_PEER = "stable-baselines3", "stable-baselines3, SAC"
STEPPED_NAME, TRACED_NAME, SAC_NAME = "gapless over Batch", "gapless, traceable", "gapless, FastSAC, traceable"
RATIOS = {
    "ppo_vs_sb3": (STEPPED_NAME, PEER), "ppo_traceable_vs_sb3": (TRACED_NAME, PEER), "sac_vs_sb3": (SAC_NAME, SAC_PEER),
}  # fmt: skip
MODELS = Path(robots.__file__).parent / "models"
FRICTION_N = 0.5
PROBLEM = {"command.latency": 0.02, "slider.friction": FRICTION_N}
TARGET = 3.2
"""Mean return of 64 episodes at which a run is over; the best policies reach 3.9."""
EASY = 1.5
"""The same for a first look."""
LOOKS = 64
LIMIT = 1_500_000
"""Control periods after which a run has failed."""
BETWEEN = 8192
"""Control periods between two looks."""
STEPPED = TRACED = Ppo(
    hidden=(32, 2), epochs=5, minibatches=16, rate=3e-3, discount=0.975, noise=0.7, budget=300_000
)  # fmt: skip
"""Chosen on seeds 10 to 19, none of which is a run's."""
TRACED_SAC = FastSac(critic_hidden=(48, 2), atoms=21, budget=100_000)
WORLDS, ROUNDS = 256, 9
BARS = {"ppo_vs_sb3": "≥ 3", "ppo_traceable_vs_sb3": "≥ 20", "sac_vs_sb3": "≥ 10", "rollout_vs_batch": "≥ 0.8"}


@dataclass(frozen=True)
class Throughput(Benchmark):
    """Wall-clock time against stable-baselines3 and against bare physics."""

    seeds: int = 3
    """Runs of each learner, one after the other."""
    learners: tuple[Literal["ppo", "sac"], ...] = ("ppo", "sac")
    """Which comparisons: the peer's PPO with ours, the peer's SAC with FastSAC."""


@dataclass(frozen=True)
class Run:
    """One learner from one seed to the target."""

    learner: str
    seed: int
    setup_s: float
    """Compiling and building, before and in the first lap."""
    seconds: float = 0.0
    """Learning until the target, without the above."""
    steps: int = 0
    reached: float = 0.0
    """The return at the last look."""

    def row(self) -> dict[str, Any]:
        return self.__dict__ | {"with_setup_s": self.setup_s + self.seconds}


def main() -> None:
    options = tyro.cli(Throughput, description=__doc__)
    target = EASY if options.quick else TARGET
    ratios, rows = rollout_against_batch(3 if options.quick else ROUNDS)
    runs = list(_runs(1 if options.quick else options.seeds, target, options.learners))
    figures = {key: _ratio(runs, *pair) for key, pair in RATIOS.items() if pair[0] in {r.learner for r in runs}} | {
        "rollout_vs_batch": statistics.median(ratios),
        "target": target,
        "failed": sum(r.reached < target for r in runs),
    }
    console.print(f"{rows['bare']:,.0f} substeps/s in bare Batch.step, {rows['rollout']:,.0f} in rollout")
    finish("throughput", options, figures, [r.row() for r in runs], BARS)


def mujoco_cartpole(worlds: int = 1) -> MujocoSimulator:
    return MujocoSimulator(
        load_model(MODELS / "cartpole.xml"), INTERFACE, read_parameters(MODELS / "cartpole.toml"), worlds
    )


def traceable_cartpole() -> JaxCartpole:
    return JaxCartpole(INTERFACE, read_parameters(MODELS / "cartpole.toml"), mujoco_cartpole().substeps)


def _runs(seeds: int, target: float, compared: tuple[str, ...]) -> Iterator[Run]:
    learners: dict[str, dict[str, Callable[[str, int], Run]]] = {
        "ppo": {
            PEER: lambda name, seed: theirs(name, seed, target),
            STEPPED_NAME: lambda name, seed: ours(name, mujoco_cartpole(), STEPPED, seed, target),
            TRACED_NAME: lambda name, seed: ours(name, traceable_cartpole(), TRACED, seed, target),
        },
        "sac": {
            SAC_PEER: lambda name, seed: theirs(name, seed, target),
            SAC_NAME: lambda name, seed: ours(name, traceable_cartpole(), TRACED_SAC, seed, target),
        },
    }
    chosen = {name: learner for kind in compared for name, learner in learners[kind].items()}
    for seed in range(seeds):
        for name, learner in chosen.items():
            with console.status(f"{name}, seed {seed}"):
                run = learner(name, seed)
            console.print(f"{name}, seed {seed}: {run.reached:.2f} after {run.seconds:.1f} s, {run.steps:,} steps")
            yield run


def ours(name: str, simulator: Simulator, recipe: Method, seed: int, target: float) -> Run:
    """Ours, until a look reaches the target."""
    began = time.perf_counter()
    known = Point(tuple(PROBLEM), np.array(list(PROBLEM.values())))
    training = recipe.learning(Place(simulator, known, SwingUp()), key_for(seed, "throughput"))
    training.begin(key_for(seed, "worlds"))
    built, looks = time.perf_counter() - began, Rollout(mujoco_cartpole(LOOKS), SwingUp())
    times = max(1, round(BETWEEN / (recipe.worlds * recipe.steps)))

    def lap(number: int) -> int:
        training.iterate(key_for(seed, "lap", number), times)
        return training.steps_done

    def look() -> float:
        return float(looks.run(training.policy, PROBLEM, jax.random.key(0), common_starts()).returns.mean())

    return _timed(Run(name, seed, built), lap, look, target)


def theirs(name: str, seed: int, target: float) -> Run:
    """Stable-baselines3's PPO or SAC, until a look reaches the target."""
    began = time.perf_counter()
    worlds, algorithm = (SAC_WORLDS, SAC) if name == SAC_PEER else (PEERS, PPO)
    peer = Peer(Worlds(mujoco_cartpole(worlds), PROBLEM, SwingUp(), seed), seed, algorithm)
    built, looks = time.perf_counter() - began, Worlds(mujoco_cartpole(LOOKS), PROBLEM, SwingUp(), 0)

    def lap(number: int) -> int:
        peer.iterate(BETWEEN)
        return peer.steps_done

    return _timed(Run(name, seed, built), lap, lambda: peer.mean_return(looks, common_starts()), target)


def _timed(run: Run, lap: Callable[[int], int], look: Callable[[], float], target: float) -> Run:
    """Laps until the target; what the first one takes longer than the others is compiling and not learning."""
    laps, steps, reached = [], 0, -np.inf
    while reached < target and steps < LIMIT:
        began = time.perf_counter()
        steps = lap(len(laps))
        laps.append(time.perf_counter() - began)
        reached = look()
    compiled = max(0.0, laps[0] - statistics.median(laps[1:] or laps))
    return replace(
        run, setup_s=run.setup_s + compiled, seconds=sum(laps) - compiled, steps=steps, reached=float(reached)
    )


def common_starts() -> dict[str, Any]:
    return {k: np.asarray(v) for k, v in SwingUp().start(jax.random.key(0), LOOKS).items()}


def rollout_against_batch(rounds: int) -> tuple[list[float], dict[str, float]]:
    """Rollout / bare Batch.step, once per round; and both in substeps per second."""
    simulator, task = mujoco_cartpole(WORLDS), SwingUp()
    policy = new_policy(INTERFACE, task.observe, Shape(), jax.random.key(0))
    episodes, start = Rollout(simulator, task), task.start(jax.random.key(0), WORLDS)
    sent = episodes.run(policy, PROBLEM, jax.random.key(0), start).commands["motor"]
    bare = _bare(simulator)
    seconds: dict[str, list[float]] = {"bare": [], "rollout": []}
    for _ in track(range(rounds), "rollout against Batch", console=console, transient=True):
        began = time.perf_counter()
        episodes.run(policy, PROBLEM, jax.random.key(0), start)
        seconds["rollout"].append(time.perf_counter() - began)
        bare.reset()
        bare.bind("qpos")[:] = np.concatenate([start["slider.position"], start["hinge.position"]], axis=1)
        ctrl, began = bare.bind("ctrl"), time.perf_counter()
        for command in sent[1:]:
            ctrl[:] = command
            bare.step(nstep=simulator.substeps)
        seconds["bare"].append(time.perf_counter() - began)
    done = (len(sent) - 1) * WORLDS * simulator.substeps
    ratios = [b / r for b, r in zip(seconds["bare"], seconds["rollout"], strict=True)]
    return ratios, {k: done / statistics.median(v) for k, v in seconds.items()}


def _bare(simulator: MujocoSimulator) -> Batch:
    model = load_model(MODELS / "cartpole.xml")
    model.joint("slider").frictionloss[:] = FRICTION_N
    return Batch(model, simulator.worlds)


def _ratio(runs: list[Run], learner: str, peer: str) -> float:
    seconds = {(r.learner, r.seed): r.seconds for r in runs}
    seeds = {r.seed for r in runs}
    return statistics.median(seconds[peer, s] / seconds[learner, s] for s in seeds)


if __name__ == "__main__":
    main()
