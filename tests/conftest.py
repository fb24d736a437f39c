"""Machines that several tests share: the built-in cart-pole, an arm with general sensors, a pendulum, a fake robot."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from gapless import robots, simulators
from gapless.core import (
    Channel,
    GaplessError,
    Interface,
    Log,
    Observation,
    Parameter,
    Params,
    Robot,
    Signals,
    Simulator,
    on_one_clock,
)
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.robots.cartpole import INTERFACE as CARTPOLE
from gapless.simulators import JaxCartpole, MujocoSimulator
from gapless.simulators.planar import matter
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.contacts import Contacts
from gapless.simulators.planar.law import Touching
from gapless.simulators.planar.scene import Mass, Scene
from gapless.simulators.planar.teacher import SPIN_ARM
from gapless.tasks import SwingUp

MODELS = Path(robots.__file__).parent / "models"

ARM = """
<mujoco>
  <option timestep="0.005"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" damping="0.2" range="-90 90"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.4"/>
      <body name="lower" pos="0 0 -0.3">
        <joint name="elbow" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.2"/>
        <site name="tip" pos="0 0 -0.2"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="shoulder_servo" joint="shoulder" kp="20" kv="1" ctrlrange="-1 1"/>
    <position name="elbow_servo" joint="elbow" kp="10" kv="0.5" ctrlrange="-1 1"/>
  </actuator>
  <sensor>
    <jointpos name="shoulder.angle" joint="shoulder"/>
    <jointvel name="elbow.speed" joint="elbow"/>
    <framepos name="tip.place" objtype="site" objname="tip"/>
  </sensor>
</mujoco>
"""

PENDULUM = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body name="rod">
      <joint name="hinge" axis="0 1 0" damping="0.02"/>
      <inertial pos="0 0 -0.3" mass="0.5" diaginertia="0.01 0.01 0.001"/>
      <geom type="sphere" size="0.02" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge" ctrlrange="-2 2"/></actuator>
</mujoco>
"""


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What tests trust is not recorded among what the user trusts."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


def cartpole_parameters() -> tuple[Parameter, ...]:
    return simulators.read_parameters(MODELS / "cartpole.toml")


def mujoco_cartpole() -> MujocoSimulator:
    return MujocoSimulator(simulators.load_model(MODELS / "cartpole.xml"), CARTPOLE, cartpole_parameters())


def jax_cartpole() -> JaxCartpole:
    return JaxCartpole(CARTPOLE, cartpole_parameters(), 5)


def simulator_of(xml: str, period_s: float = 0.02, parameters: tuple[Parameter, ...] | None = None) -> MujocoSimulator:
    """The simulator that a model's own interface and proposed parameters make."""
    model = mujoco.MjModel.from_xml_string(xml)
    interface = simulators.propose_interface(model, "machine", period_s)
    return MujocoSimulator(
        model, interface, simulators.propose_parameters(model, interface) if parameters is None else parameters
    )


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What one test compiled, the next one finds."""
    jax.config.update("jax_compilation_cache_dir", str(tmp_path_factory.mktemp("compiled")))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)


SIMULATORS: dict[str, Callable[[], Simulator]] = {
    "mujoco cart-pole": mujoco_cartpole,
    "mujoco arm with general sensors": lambda: simulator_of(ARM),
    "jax cart-pole": jax_cartpole,
    "compiled cart-pole": lambda: simulators.CompiledSimulator(mujoco_cartpole()),
}


@pytest.fixture(params=SIMULATORS)
def any_simulator(request: pytest.FixtureRequest) -> Simulator:
    return SIMULATORS[request.param]()


@pytest.fixture
def cartpole() -> MujocoSimulator:
    return mujoco_cartpole()


@pytest.fixture
def traced_cartpole() -> JaxCartpole:
    return jax_cartpole()


@pytest.fixture(scope="session")
def arm_xml() -> str:
    """The MJCF of an arm with two servos and general sensors."""
    return ARM


@pytest.fixture
def pendulum() -> MujocoSimulator:
    """One driven hinge, read by joint position; damping, gain and latency in doubt."""
    doubted = (
        Parameter("hinge.damping", "N m s/rad", 0.02, 0.0, 0.1, "friction"),
        Parameter("motor.gain", "N m", 1.0, 0.4, 1.6, "actuation"),
        Parameter("command.latency", "s", 0.0, 0.0, 0.06, "latency"),
        Parameter("hinge.position.noise", "rad", 0.0, 0.0, 1.0, "sensing", free=False),
    )
    return simulator_of(PENDULUM, parameters=doubted)


def network_policy(seed: int = 0, observe: Observation = SwingUp.observe) -> NetworkPolicy:
    return new_policy(CARTPOLE, observe, Shape((8, 1)), jax.random.key(seed))


class FakeRobot(Robot):
    """A point that moves by its command on a virtual clock; what it measures can be replaced."""

    interface = Interface(
        "point", 0.02, (Channel("push", width=2, low=-1.0, high=2.0, rate=10.0),),
        (Channel("place", width=2, unit="m", low=-5.0, high=5.0, rate=50.0),),
    )  # fmt: skip

    def __init__(self) -> None:
        self.sent: list[tuple[float, Signals]] = []
        self.measured: Callable[[int], Signals] | None = None
        self._place, self._push, self._time_s, self._reads, self._there = np.zeros(2), np.zeros(2), 0.0, 0, False

    def connect(self) -> None:
        self._there = True

    def disconnect(self) -> None:
        self._there, self._push = False, np.zeros(2)

    def reset(self, episode: int) -> None:
        self._place, self._push, self._time_s, self._reads = np.full(2, 0.01 * episode), np.zeros(2), 0.0, 0

    def get_observation(self) -> Signals:
        if not self._there:
            raise GaplessError("the point is not connected. Call connect() first.")
        self._reads += 1
        return {"place": self._place.copy()} if self.measured is None else self.measured(self._reads)

    def send_action(self, command: Signals) -> Signals:
        self._push = np.clip(np.asarray(command["push"], np.float64), -1.0, 2.0)
        self.sent.append((self._time_s, {"push": np.asarray(command["push"])}))
        return {"push": self._push.copy()}

    def now(self) -> float:
        return self._time_s

    def wait_until(self, time_s: float) -> None:
        passed = max(0.0, time_s - self._time_s)
        self._place, self._time_s = self._place + passed * self._push, self._time_s + passed


TWINS = {"cart-pole": "cartpole", "arm": "arm", "hopper": "hopper"}
ROBOTS: dict[str, Callable[[], Robot]] = {
    **{
        f"{label} twin of tier {t}": lambda name=name, t=t: robots.find_robot(f"twin:{name}?seed=1&tier={t}")
        for label, name in TWINS.items()
        for t in "ABC"
    },
    "fake in this process": FakeRobot,
}


LIKE_OTHERS = tuple(f"{label} twin of tier {t}" for label in TWINS for t in "ABC" if (label, t) != ("cart-pole", "C"))
"""They run on the same server and gate as the cart-pole's twin of tier C."""


@pytest.fixture(params=[pytest.param(r, marks=pytest.mark.slow) if r in LIKE_OTHERS else r for r in ROBOTS])
def any_robot(request: pytest.FixtureRequest) -> Iterator[Robot]:
    robot = ROBOTS[request.param]()
    yield robot
    robot.disconnect()


@pytest.fixture
def fake_robot() -> FakeRobot:
    return FakeRobot()


@pytest.fixture(scope="session")
def make_simulator() -> Callable[..., MujocoSimulator]:
    """Model text → simulator, with the proposed interface and parameters unless given."""
    return simulator_of


@pytest.fixture(scope="session")
def make_policy() -> Callable[..., NetworkPolicy]:
    """Seed → an untrained policy of the cart-pole."""
    return network_policy


@pytest.fixture(scope="session")
def lively_commands() -> Callable[..., Signals]:
    def commands(interface: Interface, rows: int, seed: int = 0) -> Signals:
        """Rest, then held steps and a sine within the limits, each (rows, width)."""
        rng, clock = np.random.default_rng(seed), np.arange(rows)[:, None] * interface.period_s
        found = {}
        for c in interface.commands:
            steps = np.repeat(rng.uniform(-0.6, 0.6, (rows // 7 + 1, c.width)), 7, axis=0)[:rows]
            wave = 0.3 * np.sin(2 * np.pi * 1.3 * clock + rng.uniform(0, 6, c.width))
            found[c.name] = (clock > 0) * ((c.low + c.high) / 2 + (c.high - c.low) / 2 * (steps + wave))
        return found

    return commands


@pytest.fixture(scope="session")
def simulate() -> Callable[..., Log]:
    def log(
        simulator: Simulator, params: Params, commands: Signals, start: Signals | None = None, seed: int = 0
    ) -> Log:
        """What a simulator measures in one world under these commands, as a log."""
        one, everywhere, rows = simulator.with_worlds(1), np.ones(1, bool), len(next(iter(commands.values())))
        state, seen, _ = one.reset(one.init(), everywhere, params, start or {}, jax.random.key(seed))
        measured = [{k: np.array(v[0]) for k, v in seen.items()}]
        step = jax.jit(one.step) if one.traceable else one.step
        for k in range(rows - 1):
            sent = {name: v[k][None] for name, v in commands.items()}
            state, seen, _ = step(state, sent, np.array([seed, k], np.uint32))
            measured.append({name: np.array(v[0]) for name, v in seen.items()})
        columns = {name: np.stack([row[name] for row in measured]) for name in measured[0]}
        return on_one_clock(one.interface, commands, columns, np.arange(rows) * one.interface.period_s)

    return log


class PlainLaw(eqx.Module):
    """What Box2D does at a touch, written down instead of learned: a clone that needs no weights."""

    def __call__(
        self, scene: Scene, contacts: Contacts, approach: jax.Array, mass: Mass, key: object = None
    ) -> Touching:
        z = scene.z[contacts.pair]
        friction = jnp.sqrt(jnp.prod(matter.named(z, "friction"), -1))
        bounce = jnp.where(approach < -1.0, jnp.max(matter.named(z, "restitution"), -1), 0.0)
        drag = jnp.where(scene.count > 0, matter.named(scene.z, "drag") * matter.named(scene.z, "mass"), 0.0)
        grip = jax.ops.segment_sum(drag, scene.owner, len(mass.kg)) * scene.table
        gyration = jnp.sqrt(mass.inertia / jnp.maximum(mass.kg, 1e-6))
        return Touching(friction, bounce * jnp.maximum(-approach, 0.0), grip, grip * SPIN_ARM * gyration)


@pytest.fixture(scope="session")
def exact_clone() -> Callable[[int], Clone]:
    """Clones that need no weights, by their number of rounds."""

    def make(rounds: int) -> Clone:
        return eqx.tree_at(lambda c: c.law, eqx.filter_jit(Clone)(jax.random.key(0), rounds), PlainLaw())

    return make


@pytest.fixture(scope="session")
def make_members() -> Callable[[int], list[Clone]]:
    """Clones that know the law and differ only in how they push: as many as wanted."""

    def make(count: int) -> list[Clone]:
        plain = eqx.tree_at(lambda clone: clone.law, eqx.filter_jit(Clone)(jax.random.key(0)), PlainLaw())
        return [
            eqx.tree_at(lambda c: c.rounds, plain, eqx.filter_jit(Clone)(jax.random.key(k)).rounds)
            for k in range(count)
        ]

    return make
