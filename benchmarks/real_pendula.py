"""Real pendula: how well is their motion predicted, by the data sheet, by `mujoco.sysid` and by our fits?

Learned from one share of the logs, scored on the others: open loop over windows of 1 s, as the recordings' README says.
"""

import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from frame import Cells, console
from gapless.core import GaplessError, Log, prior_belief
from gapless.learn.anchored import anchored, start_doubts
from real_lengths import with_best_length
from real_options import Real
from real_residual import beside
from real_scores import HORIZONS_S, Pieces, Predictor, errors, pieces, repeated, still, sure, whole_log
from real_sets import SETS, Set, authors_spec, make_simulator, make_spec
from recordings import data_folder
from stretches import moving

AUTHORS = "double_pendulum/authors_models/design_C.1/model_1.0/model_parameters.yml"
FITS = ("mujoco.sysid", "ours, same list", "ours", "ours + residual")
QUICK = ("persistence", "nominal", "repeats", "authors", "ours")
FITTED_S = {"mujoco.sysid": 8.0, "ours, same list": 0.8, "ours": 1.0, "ours + residual": 3.0}
"""How long a fit takes on two free cores, in units of the set's `expected_s`."""


def rows(options: Real) -> list[dict[str, Any]]:
    """One row for each set, part of its held-out logs and predictor."""
    folder, found = data_folder(), []
    if folder is None:
        return []
    wanted = [name for name in SETS if options.set in (None, name) and (folder / name).is_dir()]
    for name in wanted:
        settings = [_setting(options, folder, name, predictor) for predictor in _predictors(name, options.quick)]
        _announce(name, options)
        cells = Cells("real_pendula", options).run(compute, settings)
        for cell in cells:
            if cell["said"]:
                console.print(f"{name}, {cell['rows'][0]['predictor']}: {cell['said']}")
        found += [row for cell in cells for row in cell["rows"]]
    return found


def figures(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Errors at 0.5 s over the yardstick's, as the median over channels, on all held-out windows of a set."""
    wanted = {
        "furuta_vs_sysid": ("furuta", "mujoco.sysid"),
        "cartpole_vs_sysid": ("cartpole", "mujoco.sysid"),
        "double_pendulum_vs_authors": ("double_pendulum", "authors"),
    }
    found = {}
    for key, (name, peer) in wanted.items():
        mine = [r for r in rows if r["set"] == name and r["windows of"] == "all" and r["0.5 s"]]
        at = {r["predictor"]: _numbers(r["0.5 s"]) for r in mine}
        if {"ours", peer} <= set(at):
            found[key] = float(np.median(at["ours"] / at[peer]))
    return found


def compute(setting: dict[str, Any]) -> dict[str, Any]:
    """The rows of one predictor on one set."""
    chosen, predictor, began = SETS[setting["set"]], setting["predictor"], time.perf_counter()
    train, held = _split(chosen, setting)
    found, said = _predict(chosen, predictor, train, setting)
    seconds = time.perf_counter() - began
    parts = {"all": held} | {part: [log for log in held if test(log)] for part, test in chosen.groups.items()}
    result = []
    for part, logs in parts.items():
        over = pieces(logs, chosen.every_s, chosen.absolute) if logs else None
        if over is not None and len(over.which):
            row = {"set": setting["set"], "windows of": part, "predictor": predictor}
            result.append(row | _scored(chosen, predictor, over, found) | {"learned in s": round(seconds)})
    values = {} if found is None else found.belief.mean()
    params = ", ".join(f"{k} {float(np.asarray(v)):.4g}" for k, v in values.items())
    return {"rows": [_with_all_keys(row) for row in result], "said": "; ".join(filter(None, (said, params)))}


def _split(chosen: Set, setting: dict[str, Any]) -> tuple[list[Log], list[Log]]:
    """Logs to learn from, and to score on: another file, or a part of the same."""
    train, held = chosen.split(chosen.machine.logs(Path(setting["train"])))
    if setting["test"]:
        others = chosen.split(chosen.machine.logs(Path(setting["test"])))
        train, held = [*train, *held], [log for part in others for log in part]
    if not train or max((log.seconds for log in held), default=0.0) < HORIZONS_S[-1]:
        raise GaplessError(
            f"{setting['train']} leaves {len(train)} logs to learn from and {len(held)} to score on, and windows of "
            f"{HORIZONS_S[-1]:g} s are scored. Name longer recordings, or others, with --train and --test."
        )
    return train, held


def _predict(chosen: Set, predictor: str, train: list[Log], setting: dict[str, Any]) -> tuple[Predictor | None, str]:
    """A simulator and what is believed about it, None for predictors that need none; and what is to be said about them."""
    machine, folder = chosen.machine, Path(setting["folder"])
    file = folder / machine.name / "nominal.xml"
    if predictor == "nominal":
        return sure(make_simulator(machine, make_spec(machine, file))), ""
    if predictor == "authors":
        return sure(make_simulator(machine, authors_spec(machine, file, folder / AUTHORS))), ""
    if predictor not in FITS:
        return None, ""
    listed = chosen.shared + (() if predictor in ("mujoco.sysid", "ours, same list") else chosen.more)
    spec = make_spec(machine, file, chosen.step_s)
    simulator = make_simulator(machine, spec, listed)
    recipe, lengths = chosen.recipe, ""
    if chosen.by_folds and predictor != "mujoco.sysid":
        recipe, lengths = with_best_length(simulator, train, recipe)
    stretches = moving(train, recipe.window_s)
    if predictor == "mujoco.sysid":
        from real_sysid import sysid_fit  # its own packages may be missing

        return sure(simulator, sysid_fit(simulator, spec, stretches)), ""
    belief = anchored(simulator, prior_belief(listed), stretches, recipe)
    doubt = {side: recipe.loose * value for side, value in start_doubts(simulator, stretches).items()}
    if predictor != "ours + residual":
        return Predictor(simulator, belief, doubt), lengths
    whole, known, said = beside(simulator, prior_belief(listed), belief, stretches, setting["seed"])
    return Predictor(whole, known, doubt), said


def _scored(chosen: Set, predictor: str, over: Pieces, found: Predictor | None) -> dict[str, Any]:
    if predictor == "persistence":
        off = still(over, chosen.absolute)
    elif predictor == "repeats":
        off = repeated(over, chosen.absolute)
    else:
        assert found is not None
        off = errors(found, over, chosen.absolute)
    middle = np.nanmedian(off[over.moves], axis=0) if np.isfinite(off[over.moves]).any() else None
    scored: dict[str, Any] = {"moving": f"{int(over.moves.sum())}/{len(over.moves)}"}
    scored |= {f"{h:g} s": "" if middle is None else _spelled(middle[i]) for i, h in enumerate(HORIZONS_S)}
    if chosen.whole and found is not None:
        each = np.array([whole_log(found, log, chosen.absolute) for log in over.logs])
        scored["whole log"] = _spelled(np.sqrt((each**2).mean(axis=0)))
    return scored


def _with_all_keys(row: dict[str, Any]) -> dict[str, Any]:
    keys = ["set", "windows of", "predictor", "moving", *(f"{h:g} s" for h in HORIZONS_S), "whole log", "learned in s"]
    return {key: row.get(key, "") for key in keys}


def _predictors(name: str, quick: bool) -> list[str]:
    listed = ["persistence", "nominal", *FITS, "repeats"]
    if name == "double_pendulum":
        listed.insert(2, "authors")
    without = {"ours + residual"} if not SETS[name].driven else set()
    without |= {"ours, same list"} if not SETS[name].more else set()
    return [p for p in listed if p not in without and (not quick or p in QUICK)]


def _setting(options: Real, folder: Path, name: str, predictor: str) -> dict[str, Any]:
    dev = folder / name / "dev.npz"
    test = options.test or (dev if dev.is_file() else None)
    return {
        "set": name,
        "predictor": predictor,
        "folder": os.fspath(folder),
        "train": os.fspath((options.train or folder / name / "train.npz").resolve()),
        "test": os.fspath(test.resolve()) if test else "",
        "seed": options.seed,
        "quick": options.quick,
    }


def _announce(name: str, options: Real) -> None:
    fits = [p for p in _predictors(name, options.quick) if p in FITS]
    about = {p: SETS[name].expected_s * FITTED_S[p] for p in fits}
    said = ", ".join(f"{p} {math.ceil(s / 10) * 10} s" for p, s in about.items())
    console.print(f"{name}: learning takes about {said} on two free cores, unless it is cached.")


def _spelled(values: np.ndarray) -> str:
    return "/".join(f"{v:.4f}" for v in values)


def _numbers(spelled: str) -> np.ndarray:
    return np.array([float(part) for part in spelled.split("/")])
