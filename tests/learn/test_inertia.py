"""A body's whole inertia from logs: what the excitation tells is found, and what it cannot tell is named."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from mujoco.batch import Batch

from gapless.core import Log, Signals, prior_belief
from gapless.learn.identify import Identified, Identify, identify
from gapless.learn.untold import untold
from gapless.simulators import MujocoSimulator
from gapless.simulators.log_cholesky import DEVIATIONS, deformed, read_inertia

BODY = '<mujoco><option timestep="0.004"/><worldbody><body name="top">{joints}{inertia}</body></worldbody><actuator>{motors}'
JOINT = '<joint name="{0}" axis="{1}" damping="0.01"/>'
MOTOR = '<motor name="m{0}" joint="{0}" ctrlrange="-{1} {1}"/>'
PIVOT = BODY.format(
    joints="".join(JOINT.format(*j) for j in (("x", "1 0 0"), ("y", "0 1 0"), ("z", "0 0 1"))),
    inertia='<inertial pos="0.02 0.01 -0.15" mass="0.5" fullinertia="0.006 0.007 0.004 0.0005 -0.0004 0.0003"/>',
    motors=MOTOR.format("x", 0.5) + MOTOR.format("y", 0.5) + MOTOR.format("z", 0.1) + "</actuator></mujoco>",
)
HINGE = BODY.format(
    joints=JOINT.format("y", "0 1 0"),
    inertia='<inertial pos="0 0 -0.3" mass="0.5" diaginertia="0.01 0.01 0.001"/>',
    motors=MOTOR.format("y", 1) + "</actuator></mujoco>",
)
HIDDEN = dict(zip(DEVIATIONS, (0.1, 0.15, -0.1, 0.1, 0.1, -0.1, 0.1, 0.02, -0.01, 0.02), strict=True))
QUICK = Identify(posterior="gaussian", window_s=0.5, windows=24, starts=1, iterations=10, method="least-squares")


def about_the_pivot(simulator: MujocoSimulator, by: dict[str, float]) -> np.ndarray:
    """What turning about the frame's origin depends on: three first moments, and six numbers of inertia about it."""
    nominal = read_inertia(Batch(simulator.model, 1, 1), np.zeros(1, int), 1)
    (mass,), (centre,), (tensor,) = deformed(nominal, np.array([[by[d] for d in DEVIATIONS]]))
    about = tensor + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return np.concatenate([mass * centre, about[np.triu_indices(3)]])


@pytest.fixture
def learned(
    make_simulator: Callable[..., MujocoSimulator],
    simulate: Callable[..., Log],
    lively_commands: Callable[..., Signals],
) -> Callable[[str], tuple[MujocoSimulator, Identified]]:
    def learn(model: str) -> tuple[MujocoSimulator, Identified]:
        """The simulator with all ten in doubt, and what it learned of a body that deviates by HIDDEN."""
        plain = make_simulator(model)
        ten = [replace(p, free=p.name.rpartition(".")[2] in DEVIATIONS) for p in plain.parameters]
        simulator = MujocoSimulator(plain.model, plain.interface, tuple(ten))
        hidden = {f"top.{d}": np.array([v]) for d, v in HIDDEN.items()}
        hidden |= {f"{c.name}.noise": np.array([0.003]) for c in simulator.interface.measurements}
        logs = [simulate(simulator, hidden, lively_commands(simulator.interface, 120, s), seed=s) for s in range(3)]
        return simulator, identify(simulator, prior_belief(simulator.parameters), logs, [], QUICK)

    return learn


def test_a_body_on_a_pivot_tells_all_but_its_mass(learned: Callable) -> None:
    simulator, found = learned(PIVOT)
    mean = {d: float(found.belief.mean()[f"top.{d}"]) for d in DEVIATIONS}
    expected, nominal, reached = (
        about_the_pivot(simulator, by) for by in (HIDDEN, dict.fromkeys(DEVIATIONS, 0.0), mean)
    )
    moments, inertias = np.split(np.abs(reached - expected), [3])
    far_moments, far_inertias = np.split(np.abs(nominal - expected), [3])
    assert moments.max() < 0.03 * far_moments.max() and inertias.max() < 0.03 * far_inertias.max()
    # Of ten numbers, turning about a fixed point shows nine; in the tenth direction the belief is as wide as it was.
    prior = prior_belief(simulator.parameters).deviation()
    deviations = np.array([float(prior[f"top.{d}"]) for d in DEVIATIONS])
    *_, second, widest = np.linalg.eigvalsh(found.belief.covariance[:10, :10] / np.outer(deviations, deviations))
    assert widest > 0.5 > 0.1 > second
    assert found.untold.parameters == () and len(found.untold.combinations) == 1


def test_a_hinge_tells_three_of_ten_and_the_others_are_named_one_by_one(learned: Callable) -> None:
    simulator, found = learned(HINGE)
    mean = {d: float(found.belief.mean()[f"top.{d}"]) for d in DEVIATIONS}
    expected, reached = (about_the_pivot(simulator, by) for by in (HIDDEN, mean))
    told = [0, 2, 6]  # first moments across the axis, and the inertia about it
    assert reached[told] == pytest.approx(expected[told], rel=0.03)
    # How far it reaches along the axis, and what leans it, leave no trace in the turning.
    assert {"top.d2", "top.s12", "top.s23", "top.t2"} <= set(found.untold.parameters)
    assert len(found.untold.parameters) + len(found.untold.combinations) == 7


def test_parameters_that_are_all_untold_are_not_said_to_move_together() -> None:
    """Two parameters without a trace, and two of which only the sum has one; the eigenvectors of ones are arbitrary."""
    rng = np.random.default_rng(1)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    silent = np.zeros((4, 3))
    silent[0, 0], silent[1, 1], silent[2:, 2] = 1, 1, np.array([1, -1]) / np.sqrt(2)
    told = np.array([0, 0, 1, 1]) / np.sqrt(2)
    mixed = silent @ turn
    information = mixed @ mixed.T + 100 * np.outer(told, told)
    found = untold(("a", "b", "c", "d"), information, np.ones(4))
    assert found.parameters == ("a", "b")
    (together,) = found.combinations
    assert [n for n, _ in together] == ["c", "d"] and together[1][1] == pytest.approx(-1)
