"""Real servos: how far the actuator ladder gets on the SO-101 arm, the XL330 bench and the H1-2's joints."""

import json
from pathlib import Path
from typing import Any

import numpy as np

import real_h1
import real_so101
import real_xl330
from frame import Cells, console
from gapless.core import GaplessError
from gapless.simulators.parts.friction import LAWS
from real_options import Real
from recordings import data_folder
from recordings_servos import JointWindows, arm_logs, bench_logs, joint_windows

SETS = ("so101_arm", "servo_xl330", "h1_motor")
MINUTES = {"so101_arm": 4, "servo_xl330": 6, "h1_motor": 3}
"""Learning time on two free cores."""
Row = dict[str, Any]


def rows(options: Real) -> list[Row]:
    """Set, model, error, what it is relative to, and the ratio, for every machine asked for."""
    data, found = data_folder(), []
    for name in SETS:
        if options.set not in (None, name) or data is None or not (data / name).is_dir():
            continue
        console.print(f"{name}: learning takes about {MINUTES[name]} minutes on two free cores.")
        where = {
            "folder": str(data / name),
            "train": str(options.train or data / name / "train.npz"),
            "test": str(options.test) if options.test else "",
            "quick": options.quick,
            "seed": options.seed,
        }
        found += {"so101_arm": _arm, "servo_xl330": _bench, "h1_motor": _joints}[name](options, where)
    return found


def figures(rows: list[Row]) -> dict[str, float]:
    """The keys of BENCHMARKS.md, and beside h1_vs_analytic the ratio to a least squares that knows only commands are late."""
    keys = {
        ("so101_arm", "chosen"): "so101_vs_floor",
        ("servo_xl330", "chosen"): "servo_vs_friction_models",
        ("h1_motor", "chosen"): "h1_vs_analytic",
        ("h1_motor", "chosen, against analytic with a late command"): "h1_vs_analytic_command_late",
    }
    return {keys[r["set"], r["model"]]: r["ratio"] for r in rows if (r["set"], r["model"]) in keys}


def _row(set: str, model: str, error: Any, ratio: Any, detail: str = "") -> Row:
    return {"set": set, "model": model, "error": float(error), "ratio": float(ratio), "detail": detail}


def _arm(options: Real, where: dict[str, Any]) -> list[Row]:
    cells = Cells("real_so101", options).run(_arm_cell, [where])
    peers = [] if options.quick else Cells("real_so101_sysid", options).run(_arm_peer, [where])
    return [r for cell in (*peers, *cells) for r in cell["rows"]]


def _arm_peer(where: dict[str, Any]) -> dict[str, Any]:
    """The nominal arm as `mujoco.sysid` fits it to all motions."""
    from real_servo_sysid import fitted_arm  # its own packages may be missing

    folder = Path(where["folder"])
    judged = arm_logs(Path(where["test"] or folder / "dev.npz"))
    floors, play = real_so101.floors(judged), fitted_arm(folder / "nominal.xml", arm_logs(Path(where["train"])))
    mine = [log for log in judged if log.name in floors]
    errors = np.array([real_so101.rmse(play(log), log) for log in mine])
    return {"rows": [_arm_row("mujoco.sysid", errors, np.array([floors[log.name] for log in mine]))]}


def _arm_row(model: str, errors: np.ndarray, floor: np.ndarray) -> Row:
    by_joint = " ".join(f"{x:.4f}" for x in np.median(errors, axis=0))
    return _row("so101_arm", model, np.median(errors), np.median(errors / floor), by_joint)


def _arm_cell(where: dict[str, Any]) -> dict[str, Any]:
    folder = Path(where["folder"])
    logs, judged = arm_logs(Path(where["train"])), arm_logs(Path(where["test"] or folder / "dev.npz"))
    floors = real_so101.floors(judged)
    if not floors:
        raise GaplessError("no motion has two runs (NAME.run0, NAME.run1), so there is no floor to compare with.")
    arm = real_so101.Arm(folder / "nominal.xml", logs[0].period_s)
    plays, choice = real_so101.learn(arm, logs, where["quick"], where["seed"])
    mine = [log for log in judged if log.name in floors]
    floor = np.array([floors[log.name] for log in mine])
    errors = {
        "persistence": np.array([real_so101.rmse(log.position[:1], log) for log in mine]),
        "perfect tracking": np.array([real_so101.rmse(log.command, log) for log in mine]),
        "nominal": np.array([real_so101.rmse(arm.nominal(log), log) for log in mine]),
        **{name: real_so101.errors(play, mine) for name, play in plays.items()},
    }

    found = [_arm_row(m, e, floor) for m, e in {"the other run": floor, **errors}.items()]
    found[-1]["detail"] += f". {choice.why}"
    return {"rows": found}


def _bench(options: Real, where: dict[str, Any]) -> list[Row]:
    models = ["m1", "m6", "friction"] if options.quick else list(real_xl330.rungs())
    cells = Cells("real_xl330", options).run(_bench_cell, [where | {"model": m} for m in models])
    by_log = {c["model"]: np.array(c["errors"]) for c in cells}
    peers = {m: e.mean() for m, e in by_log.items() if m in LAWS}
    best = min(peers.values(), default=float("nan"))
    found = [_row("servo_xl330", m, e.mean(), e.mean() / best, f"median {np.median(e):.4f}") for m, e in by_log.items()]
    plain = {m: np.mean(cells[0][m]) for m in ("persistence", "nominal")} | _bench_yardstick(options, where)
    found = [*(_row("servo_xl330", m, e, e / best) for m, e in plain.items()), *found]
    held_out = {c["model"]: np.array(c["held_out"]) for c in cells if c["model"] not in LAWS}
    rungs = [_taken(held_out, None if where["test"] else i) for i in range(len(cells[0]["errors"]))]
    taken = np.array([by_log[r][i] for i, r in enumerate(rungs)])
    detail = f"chosen on held-out training logs: {', '.join(sorted(set(rungs)))}"
    return [*found, _row("servo_xl330", "chosen", taken.mean(), taken.mean() / best, detail)]


def _taken(held_out: dict[str, np.ndarray], judged: int | None) -> str:
    """The ladder's rung with the least held-out error, without the log that is judged itself."""
    return min(held_out, key=lambda m: (held_out[m] if judged is None else np.delete(held_out[m], judged)).mean())


def _bench_cell(where: dict[str, Any]) -> dict[str, Any]:
    logs, model = bench_logs(Path(where["train"])), where["model"]
    judged = bench_logs(Path(where["test"])) if where["test"] else logs
    peer = json.loads((Path(where["folder"]) / "peer_fits" / "m1.json").read_text())
    folds = np.vstack([~np.eye(len(logs), dtype=bool), np.ones((1, len(logs)), bool)])
    found = real_xl330.learn(logs, folds, model, where["quick"])
    held_out = [float(real_xl330.errors([log], model, p)[0]) for log, p in zip(logs, found, strict=False)]
    errors = real_xl330.errors(judged, model, found[-1]).tolist() if where["test"] else held_out
    plain = {
        "persistence": [float(np.abs(log.position - log.position[0]).mean()) for log in judged],
        "nominal": real_xl330.errors(judged, "m1", real_xl330.nominal(peer)).tolist(),
    }
    return {"model": model, "errors": errors, "held_out": held_out} | plain


def _bench_yardstick(options: Real, where: dict[str, Any]) -> dict[str, Any]:
    """Its mean error, log by log if there is no other file: each fitted without the one that it is scored on."""
    if options.quick:
        return {}
    left_out = [None] if where["test"] else range(len(bench_logs(Path(where["train"]))))
    cells = Cells("real_xl330_sysid", options).run(_bench_peer, [where | {"without": i} for i in left_out])
    return {"mujoco.sysid": np.mean([e for c in cells for e in c["errors"]])}


def _bench_peer(where: dict[str, Any]) -> dict[str, Any]:
    """The nominal bench as `mujoco.sysid` fits it, on another file or on the log that it was fitted without."""
    from real_servo_sysid import fitted_bench  # its own packages may be missing

    logs, left_out = bench_logs(Path(where["train"])), where["without"]
    judged = bench_logs(Path(where["test"])) if left_out is None else [logs[left_out]]
    used = [log for i, log in enumerate(logs) if i != left_out]
    play = fitted_bench(Path(where["folder"]) / "nominal.xml", used)
    return {"errors": [float(np.abs(play(log) - log.position).mean()) for log in judged]}


def _joints(options: Real, where: dict[str, Any]) -> list[Row]:
    names = sorted({real_h1.joint_of(f.name) for f in joint_windows(Path(where["test"] or where["train"]))})
    cells = Cells("real_h1", options).run(
        _joint_cell, [where | {"joint": n} for n in (names[:2] if options.quick else names)]
    )
    models = [k for k in cells[0] if k not in ("joint", "rung", "why")]
    base = np.array([c["analytic"] for c in cells])
    by_model = {m: np.array([c[m] for c in cells]) for m in models}
    by_model["chosen"] = np.array([c[c["rung"]] for c in cells])
    found = [_row("h1_motor", m, np.median(e), np.median(e / base)) for m, e in by_model.items()]
    found[-1]["detail"] = ", ".join(f"{c['joint'].removesuffix('_joint')}: {c['rung']}" for c in cells)
    late = by_model["chosen"] / by_model["analytic_command_late"]
    name = "chosen, against analytic with a late command"
    return [*found, _row("h1_motor", name, np.median(by_model["chosen"]), np.median(late))]


def _joint_cell(where: dict[str, Any]) -> dict[str, Any]:
    train = [f for f in joint_windows(Path(where["train"])) if real_h1.joint_of(f.name) == where["joint"]]
    if not train:
        raise GaplessError(
            f"{where['train']} holds no windows of {where['joint']}, which are to be judged. Train on it too."
        )
    if where["test"]:
        test = [f for f in joint_windows(Path(where["test"])) if real_h1.joint_of(f.name) == where["joint"]]
    else:
        test = [_windows(f, np.arange(len(f.command)) % 5 == 4) for f in train]
        train = [_windows(f, np.arange(len(f.command)) % 5 != 4) for f in train]
    return {"joint": where["joint"]} | real_h1.score(train, test, 60 if where["quick"] else 200, where["seed"])


def _windows(f: JointWindows, chosen: np.ndarray) -> JointWindows:
    return JointWindows(f.name, f.command[chosen], f.position[chosen], f.velocity[chosen], f.torque[chosen])
