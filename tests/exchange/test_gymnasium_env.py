"""Practice worlds pass for a Gymnasium vector environment, whichever autoreset mode a learner wants."""

import sys

import numpy as np
import pytest

from gapless.core import GaplessError, Simulator, Task, Uniform
from gapless.exchange import Practice, gymnasium_env
from gapless.simulators import JaxCartpole

FOUR = Practice(worlds=4, explore=False)
GENTLY = np.full((4, 1), 0.1)
PERIODS = 8


@pytest.fixture(scope="module")
def gymnasium():
    return pytest.importorskip("gymnasium", reason="the extra `gymnasium` is not installed")


def alone(gymnasium, env):
    """The only world of a vector environment, as a single environment."""

    class Alone(gymnasium.Env):
        observation_space, action_space = env.single_observation_space, env.single_action_space

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            seen, told = env.reset(seed=seed)
            self._np_random = env.np_random
            return seen[0], told

        def step(self, action):
            seen, reward, terminated, truncated, told = env.step(action[None])
            return seen[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), told

    return Alone()


def test_without_gymnasium_one_sentence_says_what_to_install(
    traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == "gymnasium" or n.endswith("gymnasium_env")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(GaplessError, match=r"cannot be made: .*`pip install 'gapless\[gymnasium\]'"):
        gymnasium_env(traced_cartpole, quiet, mirror, FOUR)


@pytest.mark.filterwarnings("ignore:.*infinity:UserWarning")  # rates have no limits
def test_it_passes_gymnasiums_own_checks(gymnasium, either_kind: Simulator, quiet: Uniform, mirror: Task) -> None:
    from gymnasium.utils.env_checker import check_env

    env = gymnasium_env(either_kind, quiet, mirror, Practice(worlds=1, explore=False), "Disabled")
    check_env(alone(gymnasium, env), skip_render_check=True)


def test_arrays_have_the_spaces_that_it_names(gymnasium, either_kind: Simulator, quiet: Uniform, mirror: Task) -> None:
    env = gymnasium_env(either_kind, quiet, mirror, FOUR)
    assert env.single_action_space == gymnasium.spaces.Box(-1, 1, (1,))
    assert env.single_observation_space.shape == (6,)
    env.action_space.seed(0)
    seen, _ = env.reset(seed=1)
    for _ in range(2 * PERIODS):
        assert seen in env.observation_space
        seen, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert (reward.dtype.kind, terminated.dtype, truncated.dtype) == ("f", np.bool_, np.bool_)
    env.close()


def test_in_the_same_step_an_ended_world_shows_its_next_beginning_and_tells_its_end(
    gymnasium, either_kind: Simulator, quiet: Uniform, mirror: Task
) -> None:
    env = gymnasium_env(either_kind, quiet, mirror, FOUR)
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    _, begun = env.reset(seed=0)
    earned = np.zeros(4)
    for _ in range(PERIODS - 1):
        _, reward, terminated, truncated, told = env.step(-GENTLY)
        earned += reward
        assert not (terminated | truncated).any() and "final_obs" not in told
    seen, reward, terminated, truncated, told = env.step(GENTLY)
    assert truncated.all() and not terminated.any()
    assert np.allclose(told["final_info"]["episode"]["r"], earned + reward)
    assert told["final_info"]["episode"]["l"].tolist() == [PERIODS] * 4
    assert told["_final_obs"].all() and told["_final_info"].all()
    last = np.stack(told["final_obs"])
    assert np.allclose(last[:, -2], 1.0) and np.allclose(seen[:, -2], 0.0)
    assert np.array_equal(told["final_info"]["params"]["pole.mass"], begun["params"]["pole.mass"])
    assert not np.isin(told["params"]["pole.mass"], begun["params"]["pole.mass"]).any()
    swung = told["final_info"]["privileged"]["hinge.position"][:, 0]
    assert np.allclose(last[:, 0], np.sin(swung), atol=1e-5)


def test_in_the_next_step_mode_the_end_is_shown_before_the_beginning(
    gymnasium, traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task
) -> None:
    env = gymnasium_env(traced_cartpole, quiet, mirror, FOUR, "NextStep")
    env.reset(seed=0)
    for _ in range(PERIODS):
        seen, _, _, truncated, told = env.step(GENTLY)
    assert truncated.all() and np.allclose(seen[:, -2], 1.0) and "final_obs" not in told
    seen, reward, _, truncated, _ = env.step(GENTLY)
    assert np.allclose(seen[:, -2], 0.0) and not reward.any() and not truncated.any()
    seen, reward, *_ = env.step(GENTLY)
    assert np.allclose(seen[:, -2], 1.0) and np.allclose(np.abs(reward), 0.1 * 0.02)


def test_without_autoreset_worlds_begin_anew_where_the_mask_says(
    gymnasium, traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task
) -> None:
    env = gymnasium_env(traced_cartpole, quiet, mirror, FOUR, "Disabled")
    env.reset(seed=0)
    some = np.array([True, False, True, False])
    for _ in range(3):
        env.step(GENTLY)
    seen, told = env.reset(options={"reset_mask": some.tolist()})
    assert np.allclose(seen[:, -2], [0.0, 1.0, 0.0, 1.0])
    assert np.array_equal(told["_params"], some)
    ends = [env.step(np.zeros((4, 1)))[3].tolist() for _ in range(PERIODS - 3)]
    assert ends[-1] == [False, True, False, True]
    with pytest.raises(GaplessError, match="world 1 has ended"):
        env.step(np.zeros((4, 1)))
    with pytest.raises(GaplessError, match="4 truth values"):
        env.reset(options={"reset_mask": [1, 0]})
    with pytest.raises(GaplessError, match="autoreset is 'Never'; Gymnasium knows SameStep"):
        gymnasium_env(traced_cartpole, quiet, mirror, FOUR, "Never")  # type: ignore[arg-type]


def test_gymnasiums_own_wrappers_read_it(gymnasium, traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task) -> None:
    from gymnasium.wrappers.vector import DictInfoToList, NormalizeObservation, RecordEpisodeStatistics

    counted = RecordEpisodeStatistics(gymnasium_env(traced_cartpole, quiet, mirror, FOUR))
    counted.reset(seed=0)
    earned = np.zeros(4)
    for _ in range(PERIODS):
        _, reward, _, _, told = counted.step(GENTLY)
        earned += reward
    assert np.allclose(told["episode"]["r"], earned)
    listed = DictInfoToList(gymnasium_env(traced_cartpole, quiet, mirror, FOUR))
    _, each = listed.reset(seed=0)
    assert [set(one) for one in each] == [{"privileged", "params"}] * 4
    assert each[2]["privileged"]["hinge.position"].shape == (1,)
    calm = NormalizeObservation(gymnasium_env(traced_cartpole, quiet, mirror, FOUR, "NextStep"))
    calm.reset(seed=0)
    assert calm.step(GENTLY)[0].shape == (4, 6)


def test_skrl_finds_a_critics_view_with_a_space_of_its_own_and_nothing_to_draw(
    gymnasium, traced_cartpole: JaxCartpole, quiet: Uniform, mirror: Task
) -> None:
    env = gymnasium_env(traced_cartpole, quiet, mirror, FOUR)
    assert env.call("render") == (None,) * 4 and env.call("num_envs") == (4,) * 4
    assert env.state_space.shape == (6 + 4 + 3,)
    seen, told = env.reset(seed=0)
    assert np.array_equal(env.state()[:, :6], seen)
    assert np.array_equal(env.state()[:, -1], told["params"]["pole.mass"])
