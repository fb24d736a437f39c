"""Worlds for learners from elsewhere show what a Gapless policy sees, pay what the task pays, and end where it ends."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Simulator, Task, Uniform
from gapless.exchange import Practice, Worlds
from gapless.exchange.practice import Sight
from gapless.nets.policy import NetworkPolicy
from gapless.simulators import JaxCartpole, Rollout, logs_of

FOUR = Practice(worlds=4, explore=False)


def begun(worlds: Worlds, seed: int = 0) -> Sight:
    return worlds.begin(np.random.default_rng(seed))


def commanded(policy: NetworkPolicy, observation: jax.Array) -> jax.Array:
    """What a policy makes of an observation, in ±1."""
    return jnp.tanh(policy.network(jnp.clip((observation - policy.shift) * policy.scale, -10, 10)))


def driven(worlds: Worlds, steps: int, seed: int = 0) -> list[np.ndarray]:
    """Observations under random commands, with the ends begun anew."""
    found, dice = [begun(worlds, seed).observation], np.random.default_rng(7)
    for _ in range(steps):
        turn = worlds.step(dice.uniform(-1, 1, (worlds.practice.worlds, 1)))
        found.append((worlds.restart(turn.ended) if turn.ended.any() else turn.sight).observation)
    return found


def test_a_policy_sees_earns_and_commands_what_it_does_in_a_rollout(
    either_kind: Simulator, quiet: Uniform, mirror: Task, lively
) -> None:
    policy = lively(either_kind.interface, mirror.observe)
    worlds = Worlds(either_kind, quiet, mirror, FOUR)
    sight = begun(worlds)
    # A rollout from where these episodes began, in the same bodies.
    start = {k: v for k, v in sight.privileged.items() if k.rpartition(".")[0] in either_kind.joints}
    rollout = Rollout(either_kind.with_worlds(4), mirror)
    expected = rollout.run(policy, sight.params, jax.random.key(0), start)
    act, earned, angles = jax.jit(jax.vmap(lambda seen: commanded(policy, seen))), np.zeros(4), []
    for _ in range(worlds.horizon):
        angles.append(sight.observation[:, 0])
        turn = worlds.step(np.asarray(act(sight.observation)))
        sight, earned = turn.sight, earned + turn.reward
    assert turn.timed_out.all()
    assert np.allclose(np.array(angles), np.sin(expected.measurements["pole.angle"])[:-1, :, 0], atol=1e-5)
    newest = sight.observation[:, -2] / 10  # the newest of the two commands that the policy remembers
    assert np.allclose(newest, expected.commands["motor"][-2, :, 0] / 10, atol=1e-4)
    scores = [mirror.score(log) for log in logs_of(expected, rollout.simulator)]
    assert np.allclose(earned, scores, atol=1e-5)


def test_one_seed_gives_one_experience_and_another_seed_another(
    either_kind: Simulator, quiet: Uniform, mirror: Task
) -> None:
    worlds = Worlds(either_kind, quiet, mirror, FOUR)
    first, same, other = (driven(worlds, 40, seed) for seed in (0, 0, 1))
    assert np.array_equal(first, same)
    assert not np.allclose(first[0], other[0])


def test_episodes_end_by_the_clock_and_by_the_task_and_never_by_both(
    traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task
) -> None:
    worlds = Worlds(traced_cartpole, quiet, mirror, Practice(worlds=2))
    sight = begun(worlds)
    assert np.allclose(sight.privileged["slider.position"], 0.2)
    ends = []
    for age in range(1, 9):
        # The first cart runs off to the right, where the task ends; the other one stays.
        turn = worlds.step(np.array([[1.0], [0.0]]))
        ends.append((turn.finished.tolist(), turn.timed_out.tolist()))
        assert (worlds.age == age).all()
    assert [True, False] in [finished for finished, _ in ends]
    assert ends[-1] == ([True, False], [False, True])
    assert all(timed_out == [False, False] for _, timed_out in ends[:-1])


def test_every_episode_has_parameters_and_a_start_of_its_own(
    either_kind: Simulator, quiet: Uniform, mirror: Task
) -> None:
    worlds = Worlds(either_kind, quiet, mirror, FOUR)
    begun(worlds)
    only = np.array([True, False, False, False])
    drawn = [worlds.restart(only) for _ in range(20)]
    masses = [float(d.params["pole.mass"][0]) for d in drawn]
    assert len(set(masses)) == 20
    assert 0.1 <= min(masses) < 0.12 and 0.18 < max(masses) <= 0.2
    assert len({float(d.privileged["hinge.position"][0, 0]) for d in drawn}) == 20
    assert len({float(d.params["pole.mass"][1]) for d in drawn}) == 1


def test_a_new_episode_in_one_world_leaves_the_others_as_they_were(
    either_kind: Simulator, quiet: Uniform, mirror: Task
) -> None:
    untouched, touched = (Worlds(either_kind, quiet, mirror, FOUR) for _ in range(2))
    begun(untouched), begun(touched)
    for k, row in enumerate(np.linspace(-1, 1, 7)):
        command = np.full((4, 1), row)
        expected, found = untouched.step(command), touched.step(command)
        assert np.array_equal(found.sight.observation[1:], expected.sight.observation[1:])
        assert np.array_equal(found.reward[1:], expected.reward[1:])
        if k % 3 == 0:
            again = touched.restart(np.arange(4) == 0)
            assert np.array_equal(again.observation[1:], expected.sight.observation[1:])
            assert touched.age.tolist() == [0, k + 1, k + 1, k + 1]


def test_the_first_sight_of_an_episode_has_a_history_at_rest(
    traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task
) -> None:
    worlds = Worlds(traced_cartpole, quiet, mirror, FOUR)
    begun(worlds)
    worlds.step(np.ones((4, 1)))
    sight = worlds.restart(np.ones(4, bool))
    sine = np.sin(sight.privileged["hinge.position"])
    nothing = np.zeros((4, 1))
    # Two frames of sine and rate, then two commands.
    assert np.allclose(sight.observation, np.hstack([sine, nothing, sine, nothing, nothing, nothing]), atol=1e-6)


def test_a_critic_sees_the_observation_the_privileged_signals_and_the_params(
    traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task
) -> None:
    sight = begun(Worlds(traced_cartpole, quiet, mirror, FOUR))
    known = sight.known()
    assert known.shape == (4, 6 + 4 + 3) and known.dtype == np.float32
    assert np.array_equal(known[:, :6], sight.observation)
    assert np.array_equal(known[:, 6:7], sight.privileged["hinge.position"])
    assert np.array_equal(known[:, -1], sight.params["pole.mass"])


def test_commands_beyond_the_limits_are_cut_off(traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task) -> None:
    worlds = Worlds(traced_cartpole, quiet, mirror, FOUR)
    begun(worlds)
    turn = worlds.step(np.array([[3.0], [1.0], [-0.5], [-9.0]]))
    assert np.allclose(turn.sight.observation[:, -2], [10.0, 10.0, -5.0, -10.0])


def test_what_no_learner_should_send_is_refused_in_a_sentence(
    traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task
) -> None:
    worlds = Worlds(traced_cartpole, quiet, mirror, FOUR)
    with pytest.raises(GaplessError, match="have not begun"):
        worlds.step(np.zeros((4, 1)))
    begun(worlds)
    with pytest.raises(GaplessError, match=r"are \(4, 1\), one row per world; these are \(4, 2\)"):
        worlds.step(np.zeros((4, 2)))
    with pytest.raises(GaplessError, match=r"world 2 is .*nan.*, not finite"):
        worlds.step(np.array([[0.0], [0.0], [np.nan], [0.0]]))
    with pytest.raises(GaplessError, match="0 worlds"):
        Practice(worlds=0)


def test_commands_without_limits_cannot_be_practised(
    traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task
) -> None:
    interface = traced_cartpole.interface
    free = replace(interface, commands=(replace(interface.commands[0], high=np.inf),))
    with pytest.raises(GaplessError, match="command 'motor' has no limits"):
        Worlds(JaxCartpole(free, traced_cartpole.parameters, 1), quiet, mirror, FOUR)
