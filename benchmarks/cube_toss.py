"""Tosses of a real cube, forecast from their first measured state: the data sheet, the identified model, and what learning adds.

.venv/bin/python benchmarks/cube_toss.py
.venv/bin/python benchmarks/cube_toss.py --train mine.npz --test other.npz
.venv/bin/python benchmarks/cube_toss.py --chart docs/pictures/cube_toss.svg
"""

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import tyro

from cube import PERIOD_S, PUBLISHED, WIDTH_M, cube, nominal_path, toss_logs
from frame import Benchmark, Cells, console, finish, start
from gapless.core import GaplessError
from gapless.learn.contact.bent_law import BentLaw
from gapless.learn.contact.course import LearnToss, bent, from_scratch, identified
from gapless.learn.contact.forecast import score
from gapless.learn.contact.pretrain import Pretrain, practice, pretrain
from gapless.learn.contact.scores import Off, off
from gapless.learn.contact.stored import SHIPPED, practised, save_law
from gapless.learn.contact.thrower import Thrower, thrower
from gapless.learn.contact.tosses import Tosses, from_logs
from gapless.simulators.rigid.play import Seen
from recordings import data_folder
from toss_chart import toss_curves

SEEDS, CURVE, SHORT, WHOLE = 3, (8, 16, 32, 64, 128, 256), 80, 10**6
HELD_OUT = 100
"""Tosses of the training file that score where no other file is named."""
DRAWS = 64
BARS = {"position_pct": "< 10", "rotation_deg": "< 14", "position_pct_80": "< 8", "rotation_deg_80": "< 12"}


@dataclass(frozen=True)
class CubeToss(Benchmark):
    """Forecasts of real contact."""

    train: Path | None = None
    """Learn from all tosses of this file; without it, from those in the shared folder."""
    test: Path | None = None
    """Score on all tosses of this file; without it, on a part of the first that is then not learned from."""
    seeds: int = SEEDS
    """Times that all tosses are learned from; 0 leaves the curve alone."""
    curve_seeds: int = SEEDS
    """Times that each smaller number of tosses is learned from; nobody begins from scratch there."""
    chart: Path | None = None
    """Draw the errors against the number of tosses as a picture."""
    practise: bool = False
    """Practise on synthetic throws anew, put the network where the package has it, and stop."""


def main() -> None:
    options, folder = tyro.cli(CubeToss, description=__doc__), data_folder()
    if options.practise:
        _practise(options)
        return
    train = options.train or (None if folder is None else folder / "cube_toss" / "train.npz")
    if train is None or (options.train is None and not train.is_file()):
        console.print("cube_toss: no recordings in ../shared/data; set GAPLESS_DATA to their folder. Skipped.")
        return
    base = {"train": str(train), "test": str(options.test or ""), "quick": options.quick}
    most = len(parts(base)[0].length)
    sizes = [] if options.quick else [n for n in CURVE if n < most]
    settings = [base | {"tosses": most, "seed": s} for s in range(1 if options.quick else options.seeds)]
    settings += [base | {"tosses": n, "seed": s, "scratch": False} for s in range(options.curve_seeds) for n in sizes]
    console.print(f"cube_toss: {len(settings)} cells, 1 to 6 minutes each on one free core; finished ones are kept.")
    found = Cells("cube_toss", options).run(compute, settings)
    rows = [*_known(base, folder), *_summary([row for cell in found for row in cell["rows"]])]
    if options.chart:
        options.chart.write_text(toss_curves(rows, BARS))
    finish("cube_toss", options, _figures(rows, most), rows, BARS)


def _practise(options: CubeToss) -> None:
    """No real toss is seen here."""
    recipe, began = Pretrain(), time.perf_counter()
    console.print(f"cube_toss: {recipe.realities * recipe.tosses} synthetic throws; about a minute on one free core.")
    taught, held_out = practice(cube(), recipe, PERIOD_S, 0)
    key = jax.random.key(0)
    law, fitted = pretrain(cube(), BentLaw(key), taught, held_out, recipe, PERIOD_S, key)
    errors = {"before": float(fitted.before), "after": float(fitted.held_out)}
    said = {"command": "benchmarks/cube_toss.py --practise", "recipe": asdict(recipe), "errors": errors}
    save_law(SHIPPED, law, said)
    rows = [{"held-out throws": k, "error of the surface, in reaches": v} for k, v in errors.items()]
    finish("cube_toss_practice", options, {"seconds": time.perf_counter() - began}, rows, {})


def compute(setting: dict[str, Any]) -> dict[str, Any]:
    """All learned forecasts from so many tosses."""
    train, test = parts(setting)
    body, seed, recipe = cube(), setting["seed"], _recipe(setting["quick"])
    order = np.random.default_rng(seed).permutation(len(train.length))[: setting["tosses"]]
    train, began, rows = train.some(np.sort(order)), time.perf_counter(), []
    params = identified(body, train, PERIOD_S, recipe, seed)
    models = {"identified": thrower(body, (), params, PERIOD_S, BentLaw(jax.random.key(seed)))}
    spent = {"identified": time.perf_counter() - began}
    models["ours"], verdict = bent(body, params, practised(), train, PERIOD_S, recipe, seed)
    spent["ours"] = time.perf_counter() - began
    if setting.get("scratch", True):
        began = time.perf_counter()
        models["from scratch"] = from_scratch(body, train, PERIOD_S, recipe, seed).thrower
        spent["from scratch"] = time.perf_counter() - began
    for name, model in models.items():
        said = {"bent": float(verdict.accepted)} if name == "ours" else {}
        said |= {"tosses": setting["tosses"], "learned in s": spent[name]}
        rows += [r | said for r in _rows(name, model, test, seed)]
    return {"rows": rows, "params": {k: float(v) for k, v in params.items()}, "verdict": verdict._asdict()}


def _rows(name: str, model: Thrower, test: Tosses, seed: int) -> list[dict[str, Any]]:
    """One path for models that know no chance; for ours also the middle of the cloud."""
    key = jax.random.key(seed)
    whole, short = score(model, test, (WHOLE, SHORT), 1 if name == "identified" else DRAWS, key)
    energies = {} if name == "identified" else _energies(whole.cloud)
    rows = [{"forecast": name} | _spelled(whole.path, short.path) | energies]
    if name == "ours":
        rows.append({"forecast": "ours, middle of the cloud"} | _spelled(whole.central, short.central) | energies)
    return rows


def _known(base: dict[str, Any], folder: Path | None) -> list[dict[str, Any]]:
    """What others published, and the nominal model."""
    rows = [
        _row(f"{who}, published") | dict(zip(_columns(""), listed, strict=True)) for who, listed in PUBLISHED.items()
    ]
    file = folder / "cube_toss" / "nominal.xml" if folder is not None else Path("nominal.xml")
    if file.is_file():
        test = parts(base)[1]
        path, short = nominal_path(file, test), test.first(SHORT)
        cut = Seen(*(x[:SHORT] for x in path))
        rows.append(_row("nominal") | _spelled(off(path, test.seen, test.length), off(cut, short.seen, short.length)))
    return rows


def parts(setting: dict[str, Any]) -> tuple[Tosses, Tosses]:
    """Tosses to learn from, and to score on."""
    train = from_logs(toss_logs(Path(setting["train"])))
    if setting["test"]:
        return train, from_logs(toss_logs(Path(setting["test"])))
    if len(train.length) <= HELD_OUT:
        raise GaplessError(
            f"{setting['train']} has only {len(train.length)} tosses. Name others to score on with --test."
        )
    order = np.random.default_rng(0).permutation(len(train.length))
    return train.some(np.sort(order[:-HELD_OUT])), train.some(np.sort(order[-HELD_OUT:]))


def _recipe(quick: bool) -> LearnToss:
    if not quick:
        return LearnToss()
    whole = LearnToss()
    few = replace(whole.fit, samples=48, network=replace(whole.fit.network, steps=12, looks=2))
    found = replace(whole.identify, generations=40, tosses=48, samples=80)
    return replace(whole, identify=found, fit=few, folds=2)


def _columns(ending: str) -> list[str]:
    return [f"position_pct{ending}", f"± pct{ending}", f"rotation_deg{ending}", f"± deg{ending}"]


def _row(name: str) -> dict[str, Any]:
    """An empty row."""
    medians = ["median pct", "median deg", "energy pct", "energy deg", "bent", "learned in s"]
    return {"forecast": name, "tosses": ""} | dict.fromkeys([*_columns(""), *_columns("_80"), *medians], "")


def _spelled(whole: Off, short: Off) -> dict[str, float]:
    found = {}
    for ending, scored in (("", whole), ("_80", short)):
        pct, deg = _units(scored)
        found |= dict(zip(_columns(ending), [pct.mean(), pct.std(), deg.mean(), deg.std()], strict=True))
    pct, deg = _units(whole)
    found |= {"median pct": np.median(pct), "median deg": np.median(deg)}
    return {k: float(v) for k, v in found.items()}


def _units(scored: Off) -> tuple[np.ndarray, np.ndarray]:
    """In percent of the width, and in degrees."""
    return np.asarray(scored.distance_m) / WIDTH_M * 100, np.degrees(np.asarray(scored.angle_rad))


def _energies(cloud: Off) -> dict[str, float]:
    pct, deg = _units(cloud)
    return {"energy pct": float(pct.mean()), "energy deg": float(deg.mean())}


def _summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over seeds."""
    kinds, found = dict.fromkeys((r["tosses"], r["forecast"]) for r in rows), []
    for tosses, name in sorted(kinds, key=lambda kind: (-kind[0], kind[1])):
        mine = [r for r in rows if (r["tosses"], r["forecast"]) == (tosses, name)]
        means = {k: float(np.mean([r[k] for r in mine])) for k in mine[0] if k not in ("forecast", "tosses")}
        found.append(_row(name) | {"tosses": tosses} | means)
    return found


def _figures(rows: list[dict[str, Any]], most: int) -> dict[str, float]:
    """Ours, learned from all tosses: the one path, and beside it the middle of the cloud."""
    keys = [k for e in ("", "_80") for k in _columns(e)[::2]]
    at = {r["forecast"]: r for r in rows if r["tosses"] in ("", most)}
    if "ours" not in at:
        return {}
    figures = {k: at["ours"][k] for k in keys}
    figures |= {f"{k}_middle": at["ours, middle of the cloud"][k] for k in keys}
    figures |= {f"{k}_identified": at["identified"][k] for k in keys[:2]}
    return figures | {"energy_pct": at["ours"]["energy pct"], "energy_deg": at["ours"]["energy deg"]}


if __name__ == "__main__":
    start(main)
