"""A belief leaves as randomization ranges: Python for mjlab or Isaac Lab, and plain JSON beside it for anybody else."""

import json
from pathlib import Path
from typing import Any, Literal

import gapless
from gapless.core import Belief, GaplessError
from gapless.nets.weights import write_whole
from gapless.simulators.mujoco_cpu import MujocoSimulator

from .ranges import ranges_of
from .ranges_isaaclab import isaaclab_source, isaaclab_terms
from .ranges_mjlab import mjlab_source, mjlab_terms
from .terms import Terms

Target = Literal["mjlab", "isaaclab"]
Base = Literal["calibrated", "nominal"]
TARGETS = {"mjlab": (mjlab_terms, mjlab_source), "isaaclab": (isaaclab_terms, isaaclab_source)}
PLAIN = (".json", ".yaml", ".yml")
"""Files that hold the ranges as JSON, which is YAML too."""


def export_ranges(
    simulator: MujocoSimulator,
    belief: Belief,
    target: Target,
    out: Path,
    asset: str = "robot",
    base: Base = "calibrated",
) -> tuple[list[Path], Terms]:
    """Write the ranges; which files there are now, and what is in them.

    A file that ends in .py gets a .json beside it. Terms that change a model's own value are relative to `base`.
    """
    if out.suffix not in (".py", *PLAIN):
        raise GaplessError(f"ranges cannot be written to {out}: its name must end in .py, {', '.join(PLAIN)}.")
    make_terms, source = TARGETS[target]
    ranges = ranges_of(simulator, belief)
    own = {r.name: r.mean if base == "calibrated" else r.nominal for r in ranges}
    terms = make_terms(simulator, ranges, own)
    described = {
        "written_by": f"gapless {gapless.__version__}",
        "for": target,
        "asset": asset,
        "relative_to": base,
        "ranges": [r.to_dict() for r in ranges],
        **terms.to_dict(),
        "belief": belief.to_dict(),
    }
    written = {out: _plain(described)} if out.suffix in PLAIN else {out.with_suffix(".json"): _plain(described)}
    if out.suffix == ".py":
        written[out] = source(terms, asset)
    for path, text in written.items():
        write_whole(path, text.encode())
    return sorted(written), terms


def _plain(described: dict[str, Any]) -> str:
    return json.dumps(described, indent=1, allow_nan=False) + "\n"
