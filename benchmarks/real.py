"""Real machines that other people recorded: does learning the simulator predict them better than today's tools?

.venv/bin/python benchmarks/real.py
.venv/bin/python benchmarks/real.py --set furuta --train mine.npz --test other.npz
"""

import tyro

import real_pendula
import real_servos
from frame import console, finish, start
from gapless.core import GaplessError
from real_options import Real
from recordings import data_folder

BARS = {
    "so101_vs_floor": "≤ 2", "servo_vs_friction_models": "≤ 0.8", "furuta_vs_sysid": "≤ 0.7",
    "cartpole_vs_sysid": "≤ 0.7", "double_pendulum_vs_authors": "≤ 0.5", "h1_vs_analytic": "≤ 0.6",
}  # fmt: skip


def main() -> None:
    options = tyro.cli(Real, description=__doc__)
    known = [*real_pendula.SETS, *real_servos.SETS]
    if options.set is not None and options.set not in known:
        raise GaplessError(f"there is no set {options.set!r}; there are {', '.join(known)}.")
    if (options.train or options.test) and options.set is None:
        raise GaplessError("--train and --test belong to one machine: name it with --set.")
    if data_folder() is None:
        console.print("real: no recordings in ../shared/data; set GAPLESS_DATA to their folder. Skipped.")
        return
    rows, figures = [], {}
    for module in (real_pendula, real_servos):
        mine = module.rows(options)
        rows, figures = rows + mine, figures | module.figures(mine)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    finish("real", options, figures, [{key: row.get(key, "") for key in keys} for row in rows], BARS)


if __name__ == "__main__":
    start(main)
