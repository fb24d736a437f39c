"""A watch on disk: its arrays, and beside them the machine that it watches and the sizes of its looks."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from gapless.core import Interface

from .described import Described
from .watch import Past, Watch, new_look, turning

FILES = Described("watch", 1, "Learn it again")
MOST = 1024
"""Frames, periods ahead, looks, and width of a network beyond which a description is taken to be damaged."""


def save_watch(folder: Path, watch: Watch) -> None:
    """Write watch.safetensors and watch.json; the same watch gives the same bytes."""
    network = watch.looks[0].bent
    FILES.save(
        folder,
        watch,
        {
            "interface": watch.interface.to_dict(),
            "frames": watch.past.frames,
            "horizons": [look.ahead for look in watch.looks],
            "hidden": {"width": network.width_size, "depth": network.depth},
        },
    )


def load_watch(folder: Path) -> Watch:
    """The watch that `save_watch` wrote, exact to the last bit."""
    return FILES.load(folder, _unlearned)


def new_watch(interface: Interface, frames: int, horizons: tuple[int, ...], hidden: tuple[int, int], key: Any) -> Watch:
    """A watch that knows nothing yet and is alarmed by nothing."""
    past, keys = Past(turning(interface), frames), jax.random.split(key, len(horizons))
    looks = tuple(new_look(past, interface, h, hidden, k) for h, k in zip(horizons, keys, strict=True))
    width = interface.measurement_width
    never = jnp.full((), jnp.inf)
    return Watch(interface, past, looks, jnp.eye(len(looks) * width), jnp.ones(()), never, jnp.full(width, jnp.inf))


def _unlearned(description: dict[str, Any]) -> Watch:
    interface = Interface.from_dict(description["interface"])
    horizons = tuple(int(h) for h in description["horizons"])
    sizes = [int(description["frames"]), *(int(description["hidden"][k]) for k in ("width", "depth"))]
    if not horizons or not all(1 <= n <= MOST for n in (*sizes, *horizons, len(horizons))) or sizes[0] < 2:
        raise ValueError(f"sizes {sizes} and horizons {horizons!r:.60} are not those of a watch")
    hidden = (sizes[1], sizes[2])
    return eqx.filter_eval_shape(lambda key: new_watch(interface, sizes[0], horizons, hidden, key), jax.random.key(0))
