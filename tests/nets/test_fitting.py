"""Networks fitted to rows: they learn, they keep the best look, and members are independent."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gapless.nets.fitting import FitNetwork, fit_members, fit_network, member

KEY = jax.random.key(0)


def _rows(count: int, seed: int) -> dict[str, jax.Array]:
    x = jax.random.uniform(jax.random.key(seed), (count, 1), minval=-2.0, maxval=2.0)
    return {"x": x, "y": jnp.sin(2 * x)}


def _make(key: jax.Array) -> eqx.nn.MLP:
    return eqx.nn.MLP(1, 1, 32, 2, activation=jnp.tanh, key=key)


def _loss(network: eqx.nn.MLP, rows: dict[str, jax.Array], key: jax.Array) -> jax.Array:
    return ((jax.vmap(network)(rows["x"]) - rows["y"]) ** 2).mean()


def test_a_network_learns_a_curve() -> None:
    found = fit_network(_make(KEY), _loss, _rows(400, 1), _rows(100, 2), FitNetwork(steps=1500), KEY)
    assert found.held_out < 0.01 * found.before


def test_a_fit_that_only_harms_leaves_the_network_as_it_was() -> None:
    network, other = _make(KEY), {"x": _rows(100, 2)["x"], "y": jnp.full((100, 1), 50.0)}
    begun = eqx.tree_at(lambda n: n.layers[-1].bias, network, jnp.full((1,), 50.0))
    found = fit_network(begun, _loss, _rows(400, 1), other, FitNetwork(steps=200), KEY)
    assert found.held_out == found.before
    assert bool((found.module.layers[-1].bias == 50.0).all())


def test_members_agree_on_the_data_and_differ_off_it() -> None:
    found = fit_members(_make, _loss, _rows(300, 1), _rows(100, 2), FitNetwork(steps=1500), 4, KEY)
    near, far = jnp.linspace(-1.5, 1.5, 20)[:, None], jnp.linspace(5.0, 8.0, 20)[:, None]
    members = [member(found.module, k) for k in range(4)]
    spreads = [np.std([jax.vmap(m)(x) for m in members], axis=0).mean() for x in (near, far)]
    assert found.held_out.shape == (4,)
    assert spreads[1] > 5 * spreads[0] > 0


def test_the_same_key_gives_the_same_network() -> None:
    both = [fit_network(_make(KEY), _loss, _rows(100, 1), _rows(50, 2), FitNetwork(steps=50), KEY) for _ in range(2)]
    same = jax.tree.map(lambda a, b: bool((a == b).all()), *(eqx.filter(f.module, eqx.is_array) for f in both))
    assert all(jax.tree.leaves(same))
