"""A watch on disk: its arrays, and beside them its kind, the machine that it watches and the sizes of its looks."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax

from gapless.core import Interface

from .described import Described
from .watch import Look, Past, Watch, leaning, new_look, turning
from .watch_apart import Apart
from .watch_together import Together

FILES = Described("watch", 1, "Learn it again")
KINDS: dict[str, type[Watch]] = {"together": Together, "apart": Apart}
MOST = 1024
"""Frames, periods ahead, looks, and width of a network beyond which a description is taken to be damaged."""


def save_watch(folder: Path, watch: Watch) -> None:
    """Write watch.safetensors and watch.json; the same watch gives the same bytes."""
    network = watch.looks[0].bent
    FILES.save(
        folder,
        watch,
        {
            "kind": next(name for name, kind in KINDS.items() if type(watch) is kind),
            "leans": watch.looks[0].lean is not None,
            "interface": watch.interface.to_dict(),
            "frames": watch.past.frames,
            "horizons": [look.ahead for look in watch.looks],
            "hidden": {"width": network.width_size, "depth": network.depth},
        },
    )


def load_watch(folder: Path) -> Watch:
    """The watch that `save_watch` wrote, exact to the last bit."""
    return FILES.load(folder, _unlearned)


def new_watch(
    interface: Interface, frames: int, horizons: tuple[int, ...], hidden: tuple[int, int], key: Any
) -> Together:
    """A watch that knows nothing yet and is alarmed by nothing."""
    return Together.blank(interface, *_new_looks(interface, frames, horizons, hidden, key))


def _new_looks(
    interface: Interface, frames: int, horizons: tuple[int, ...], hidden: tuple[int, int], key: Any
) -> tuple[Past, tuple[Look, ...]]:
    past, keys = Past(turning(interface), frames), jax.random.split(key, len(horizons))
    return past, tuple(new_look(past, interface, h, hidden, k) for h, k in zip(horizons, keys, strict=True))


def _unlearned(description: dict[str, Any]) -> Watch:
    interface = Interface.from_dict(description["interface"])
    kind = KINDS[description.get("kind", "together")]  # older descriptions do not say it
    horizons = tuple(int(h) for h in description["horizons"])
    sizes = [int(description["frames"]), *(int(description["hidden"][k]) for k in ("width", "depth"))]
    if not horizons or not all(1 <= n <= MOST for n in (*sizes, *horizons, len(horizons))) or sizes[0] < 2:
        raise ValueError(f"sizes {sizes} and horizons {horizons!r:.60} are not those of a watch")
    leans = description.get("leans") is True

    def blank(key: Any) -> Watch:
        past, looks = _new_looks(interface, sizes[0], horizons, (sizes[1], sizes[2]), key)
        return kind.blank(interface, past, tuple(leaning(look) for look in looks) if leans else looks)

    return eqx.filter_eval_shape(blank, jax.random.key(0))
