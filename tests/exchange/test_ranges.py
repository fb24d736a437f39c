"""Ranges for other tools hold what the belief says, compile, and never turn a name into code."""

import ast
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest

from gapless import robots, simulators
from gapless.core import GaplessError, Gaussian, Parameter, Point, Uniform, prior_belief
from gapless.exchange import export_ranges
from gapless.simulators import MujocoSimulator
from gapless.simulators.binding import bind

MODELS = Path(robots.__file__).parent / "models"
ARM = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" damping="0.2"/>
      <geom name="tube" type="capsule" fromto="0 0 0 0.3 0 -0.4" size="0.02" mass="0.4"/>
      <geom size="0.01"/>
    </body>
  </worldbody>
  <actuator><position name="servo" joint="shoulder" kp="20" kv="1" gear="2" ctrlrange="-1 1"/></actuator>
</mujoco>
"""


class Recorded(SimpleNamespace):
    """Stands in for a package of the target: any attribute is its own dotted name."""

    def __getattr__(self, name: str) -> str:
        return f"{self.called}.{name}"


def run(path: Path) -> dict[str, Any]:
    """What the exported file defines, with the target's package replaced by stand-ins."""
    tree = ast.parse(path.read_text())
    tree.body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    names: dict[str, Any] = {"dr": Recorded(called="dr"), "mdp": Recorded(called="mdp"), "configclass": lambda c: c}
    names |= {"EventTermCfg": dict, "SceneEntityCfg": lambda asset, **which: (asset, which), "__name__": "ranges"}
    exec(compile(tree, str(path), "exec"), names)
    return names


def cartpole() -> MujocoSimulator:
    model = simulators.load_model(MODELS / "cartpole.xml")
    parameters = simulators.read_parameters(MODELS / "cartpole.toml")
    return MujocoSimulator(model, simulators.propose_interface(model, "cartpole"), parameters)


def belief_about(simulator: MujocoSimulator, **means: float) -> Gaussian:
    """A prior, a tenth as wide, around other means."""
    prior = prior_belief(simulator.parameters)
    centre = np.array([means.get(n.replace(".", "_"), c) for n, c in zip(prior.names, prior.centre, strict=True)])
    return Gaussian(prior.names, centre, prior.covariance / 100, prior.low, prior.high)


def test_mjlab_terms_hold_the_beliefs_ranges(tmp_path: Path) -> None:
    simulator = cartpole()
    belief = belief_about(simulator, slider_damping=5.0, command_latency=0.02, pole_com=0.27, pole_mass=0.2)
    files, terms = export_ranges(simulator, belief, "mjlab", tmp_path / "ranges.py")
    assert files == [tmp_path / "ranges.json", tmp_path / "ranges.py"]
    found = run(tmp_path / "ranges.py")
    damping = found["EVENTS"]["slider.damping"]
    assert damping["func"] == "dr.joint_damping" and damping["params"]["operation"] == "abs"
    assert damping["params"]["asset_cfg"] == ("robot", {"joint_names": ("slider",)})
    assert damping["params"]["ranges"] == pytest.approx((5 - 0.7, 5 + 0.7))  # a deviation is 14 / 4 / 10
    body = found["EVENTS"]["pole.mass and pole.com"]["params"]
    assert 0.2 * math.exp(2 * body["alpha_range"][1]) == pytest.approx(0.2 + 2 * 0.225 / 40)
    assert body["t3_range"] == pytest.approx((-0.01, 0.01))  # the pole hangs: its centre moves along z alone
    assert body["t1_range"] == (0.0, 0.0)
    # 20 ms ± 3 ms and half a step of 2 ms, in steps of 4 ms
    assert found["ACTUATOR_DELAY"] == {"delay_min_lag": 4, "delay_max_lag": 7}
    assert (
        {s.partition(":")[0] for s in found["NOT_CARRIED"]}
        == {"motor.gain", "gravity.tilt_x"}
        == {s.partition(":")[0] for s in terms.left_out}
    )


def test_isaac_lab_terms_hold_the_beliefs_ranges(tmp_path: Path) -> None:
    simulator = cartpole()
    belief = belief_about(simulator, pole_mass=0.2, gravity_tilt_x=0.02, command_latency=0.02)
    _, terms = export_ranges(simulator, belief, "isaaclab", tmp_path / "ranges.py", asset="cart")
    found = run(tmp_path / "ranges.py")
    events = vars(found["EventCfg"])
    mass = events["pole_mass"]
    assert mass["func"] == "mdp.randomize_rigid_body_mass" and mass["mode"] == "startup"
    assert mass["params"]["asset_cfg"] == ("cart", {"body_names": ("pole",)})
    assert mass["params"]["mass_distribution_params"] == pytest.approx((0.2 - 0.01125, 0.2 + 0.01125))
    assert events["slider_damping"]["params"]["damping_distribution_params"] == pytest.approx((3.3, 4.7))
    low, high = events["gravity_tilt_x"]["params"]["gravity_distribution_params"]
    assert (low[0], high[0]) == pytest.approx((9.81 * math.sin(0.014), 9.81 * math.sin(0.026)))
    assert found["DELAYED_PD"] == {"min_delay": 4, "max_delay": 7}
    assert [s.partition(":")[0] for s in terms.left_out] == ["motor.gain"]


def arm(make: Callable[..., MujocoSimulator], *names: str) -> MujocoSimulator:
    model = make(ARM).model
    doubted = tuple(Parameter(n, "", v, v - 1, v + 1, "inertia") for n in names for v in [bind(model, n).nominal])
    return make(ARM, parameters=doubted)


def test_servos_become_stiffness_and_damping(make_simulator: Callable[..., MujocoSimulator], tmp_path: Path) -> None:
    simulator = arm(make_simulator, "servo.gain", "shoulder.damping")
    export_ranges(simulator, prior_belief(simulator.parameters), "mjlab", tmp_path / "m.py")
    gains = run(tmp_path / "m.py")["EVENTS"]["servo.gain"]
    assert gains["func"] == "dr.pd_gains"
    assert gains["params"]["kp_range"] == pytest.approx((19, 21)) and gains["params"]["kd_range"] == (1.0, 1.0)
    export_ranges(simulator, prior_belief(simulator.parameters), "isaaclab", tmp_path / "i.py")
    (joint,) = (v for k, v in vars(run(tmp_path / "i.py")["EventCfg"]).items() if k.startswith("servo"))
    # Through a gear of 2, stiffness and damping at the joint are four times the servo's; the joint damps by itself too.
    assert joint["params"]["stiffness_distribution_params"] == pytest.approx((76, 84))
    assert joint["params"]["damping_distribution_params"] == pytest.approx((4 - 0.8, 4 + 1.2))


def test_density_and_shifts_of_a_whole_inertia_become_terms(
    make_simulator: Callable[..., MujocoSimulator], tmp_path: Path
) -> None:
    simulator = arm(make_simulator, "upper.alpha", "upper.d1", "upper.t1", "upper.t3")
    belief = belief_about(simulator, upper_alpha=0.2, upper_t1=0.1)  # deviations are 2 / 4 / 10
    _, terms = export_ranges(simulator, belief, "mjlab", tmp_path / "m.py", base="nominal")
    (body,) = terms.events
    assert body.draws == ("upper.alpha", "upper.t1", "upper.t3")
    assert body.params["alpha_range"] == pytest.approx((0.1, 0.3))
    assert body.params["t1_range"] == pytest.approx((0.0, 0.2)) and body.params["t2_range"] == (0.0, 0.0)
    assert terms.left_out == ["upper.d1: dr stretches a body about its origin, not about its centre."]
    _, terms = export_ranges(simulator, belief, "mjlab", tmp_path / "m.py")
    assert terms.events[0].params["alpha_range"] == pytest.approx((-0.1, 0.1))
    _, terms = export_ranges(simulator, belief, "isaaclab", tmp_path / "i.py", base="nominal")
    assert [t.draws for t in terms.events] == [("upper.t1", "upper.t3")]
    assert [s.partition(":")[0] for s in terms.left_out] == ["upper.alpha", "upper.d1"]


def test_relative_terms_start_from_the_model_that_was_asked_for(tmp_path: Path) -> None:
    simulator = cartpole()
    belief = belief_about(simulator, pole_com=0.3)
    _, terms = export_ranges(simulator, belief, "isaaclab", tmp_path / "r.json", base="nominal")
    (com,) = (t for t in terms.events if t.draws == ("pole.com",))
    assert com.params["com_range"]["z"] == pytest.approx((-0.06, -0.04))  # 0.05 m further down than the data sheet says


def test_objects_without_a_name_are_left_out(make_simulator: Callable[..., MujocoSimulator], tmp_path: Path) -> None:
    simulator = arm(make_simulator, "geom1.sliding", "tube.sliding")
    for target in ("mjlab", "isaaclab"):
        _, terms = export_ranges(simulator, prior_belief(simulator.parameters), target, tmp_path / "r.py")
        assert [t.draws for t in terms.events] == [("tube.sliding",)]
        assert terms.left_out == ["geom1.sliding: the object has no name to select it by."]


NASTY = [
    "'); import os #",
    'a"""b\n\\',
    "{x}",
    "__import__('os').system('x')",
    "class",
    "𝒙\u2028y\x7f",
    "a and b",
    ".*",
]


@pytest.mark.parametrize("target", ["mjlab", "isaaclab"])
@pytest.mark.parametrize("name", NASTY)
def test_names_of_strangers_never_become_code(name: str, target: Any, tmp_path: Path) -> None:
    made = mujoco.MjSpec.from_string(ARM)
    made.joint("shoulder").name, made.actuators[0].target = name, name
    made.body("upper").name = f"{name}!"
    model = made.compile()
    interface = simulators.propose_interface(model, "machine")
    simulator = MujocoSimulator(model, interface, simulators.propose_parameters(model, interface))
    export_ranges(simulator, prior_belief(simulator.parameters), target, tmp_path / "r.py", asset=name)
    text = (tmp_path / "r.py").read_text()
    assert text.isascii()
    calls = {ast.unparse(n.func) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)}
    assert calls == {"EventTermCfg", "SceneEntityCfg"}
    found = run(tmp_path / "r.py")
    events = found["EVENTS"] if target == "mjlab" else {k: v for k, v in vars(found["EventCfg"]).items() if k[0] != "_"}
    assets = [e["params"]["asset_cfg"] for e in events.values() if "asset_cfg" in e["params"]]
    chosen = [n for asset, which in assets for names in which.values() for n in names if asset == name]
    assert any(re.fullmatch(pattern, name) for pattern in chosen)
    assert json.loads((tmp_path / "r.json").read_text())["asset"] == name


def test_the_plain_file_holds_ranges_terms_and_the_belief(tmp_path: Path) -> None:
    simulator = cartpole()
    belief = belief_about(simulator)
    (path,), _ = export_ranges(simulator, belief, "mjlab", tmp_path / "ranges.yaml")
    held = json.loads(path.read_text())
    assert held["belief"] == belief.to_dict()
    friction = next(r for r in held["ranges"] if r["name"] == "slider.friction")
    assert (friction["kind"], friction["thing"], friction["low"], friction["high"]) == ("joint", "slider", 0.0, 0.15)
    assert held["events"]["slider.friction"]["params"]["ranges"] == [0.0, 0.15]


def test_a_uniform_belief_keeps_its_own_limits(tmp_path: Path) -> None:
    simulator = cartpole()
    belief = Uniform(("slider.damping",), np.array([3.0]), np.array([4.5]))
    _, terms = export_ranges(simulator, belief, "mjlab", tmp_path / "r.json")
    assert terms.events[0].params["ranges"] == (3.0, 4.5)


def test_what_cannot_be_written_is_refused_in_one_sentence(tmp_path: Path) -> None:
    simulator = cartpole()
    with pytest.raises(GaplessError, match=r"end in \.py"):
        export_ranges(simulator, belief_about(simulator), "mjlab", tmp_path / "r.txt")
    with pytest.raises(GaplessError, match="doubts no parameter"):
        export_ranges(simulator, Point(("pole.mass",), np.array([0.2])), "mjlab", tmp_path / "r.py")
    assert not list(tmp_path.iterdir())
