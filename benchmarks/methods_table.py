"""The table of methods: shares of the oracle, who is first where, and whether the crank's curve ever falls."""

from typing import Any

import numpy as np

from statistic import bootstrap, paired

CRANK, GLUE = "crank", "glue"
MOST = 1.03
"""A share above this says that J* was not the best there is."""
PASSING = 0.9
"""Share of its episodes that an oracle must pass."""
BARS = {
    "crank_rank_worst": "1",
    "crank_share_worst": "≥ 0.90",
    "glue_margin": "≥ 0.10",
    "crank_falls": "0",
    "invalid": "0",
}
Row = dict[str, Any]


def joined(cells: list[Row]) -> list[Row]:
    """One row for each robot, seed and method, with shares by the J0 and J* of the crank's cell; without that one, none."""
    ends = {(c["robot"], c["seed"]): c for c in cells if "jstar" in c}
    rows = []
    for c in cells:
        end = ends.get((c["robot"], c["seed"]))
        if end is None:
            continue
        common = {k: c[k] for k in ("robot", "seed", "tier")} | {k: end[k] for k in ("j0", "jstar", "oracle_passed")}
        for word, found in c["methods"].items():
            shares = [(value - end["j0"]) / (end["jstar"] - end["j0"]) for value in found["returns"]]
            valid = max(shares) <= MOST and end["oracle_passed"] >= PASSING
            rows.append({**common, "method": word, **found, "shares": shares, "share": shares[-1], "valid": valid})
        if "failed" in c:
            rows.append({**common, "method": c["cell"], "failed": c["failed"], "valid": True})
    return rows


def figures(rows: list[Row]) -> dict[str, Any]:
    """The crank's place among the methods, robot by robot, and in the worst case; then each method's medians."""
    scored = [r for r in rows if "share" in r]
    if not scored:
        return {}
    robots, words = ([*dict.fromkeys(r[k] for r in scored)] for k in ("robot", "method"))
    at = {robot: [r for r in scored if r["robot"] == robot] for robot in robots}
    shares = {robot: _middle(at[robot], CRANK) for robot in robots}
    ranks = {robot: rank(at[robot]) for robot in robots}
    falls = {robot: fall([r for r in at[robot] if r["method"] == CRANK]) for robot in robots}
    found: dict[str, Any] = {"crank_rank_worst": max(ranks.values()), "crank_share_worst": min(shares.values())}
    found |= margin(scored, GLUE)
    found |= {"crank_falls": max(falls.values()), "invalid": sum(not r["valid"] for r in rows)}
    found |= {f"crank_rank_{robot}": value for robot, value in ranks.items()}
    found |= {f"crank_share_{robot}": value for robot, value in shares.items()}
    found |= {f"{word}_median": _middle(scored, word) for word in words}
    seconds = {w: [r["robot_seconds"][-1] for r in scored if r["method"] == w] for w in words}
    return found | {f"{word}_robot_seconds": float(np.median(values)) for word, values in seconds.items()}


def rank(rows: list[Row]) -> int:
    """The crank's rank on one robot: one more than the methods that beat it, that is, whose paired difference excludes zero."""
    words = [w for w in dict.fromkeys(r["method"] for r in rows) if w != CRANK]
    highs = [difference(rows, word)[2] for word in words]
    return 1 + sum(high < 0 for high in highs)


def difference(rows: list[Row], word: str) -> tuple[float, float, float]:
    """Median of the crank's share less this method's, robot by robot and seed by seed, and its 95 % interval."""
    ours, theirs = ({(r["robot"], r["seed"]): r["share"] for r in rows if r["method"] == m} for m in (CRANK, word))
    both = [k for k in ours if k in theirs]
    if not both:
        return float("nan"), float("nan"), float("nan")
    return paired(np.array([ours[k] for k in both]), np.array([theirs[k] for k in both]), [robot for robot, _ in both])


def margin(rows: list[Row], word: str) -> dict[str, float]:
    """How far the crank is above a method, as figures."""
    middle, low, high = difference(rows, word)
    return {f"{word}_margin": middle, f"{word}_margin_low": low, f"{word}_margin_high": high}


def fall(rows: list[Row]) -> float:
    """The largest drop from a point of the median curve to a later one; a curve that ended early stays where it was."""
    longest = max(len(r["shares"]) for r in rows)
    curve = np.median([r["shares"] + r["shares"][-1:] * (longest - len(r["shares"])) for r in rows], axis=0)
    return float(np.max(np.maximum.accumulate(curve) - curve))


def interval(rows: list[Row]) -> tuple[float, float, float]:
    """Median share of one method on one robot and its 95 % interval over the seeds."""
    values = np.array([r["share"] for r in rows])
    low, high = bootstrap(values, [r["robot"] for r in rows], lambda v: float(np.median(v)))
    return float(np.median(values)), low, high


def matrix(rows: list[Row]) -> list[Row]:
    """The table to print: a row for each method, a column for each robot with its median share, robot seconds and seeds."""
    robots, words = ([*dict.fromkeys(r[k] for r in rows)] for k in ("robot", "method"))
    words.sort(key=lambda w: w == CRANK)
    return [_line(word, [r for r in rows if r["method"] == word], robots) for word in words]


def _line(word: str, rows: list[Row], robots: list[str]) -> Row:
    at = {robot: [r for r in rows if r["robot"] == robot] for robot in robots}
    return {"method": word, "belief": rows[0].get("belief", "")} | {k: _shown(mine) for k, mine in at.items()}


def _shown(rows: list[Row]) -> str:
    scored = [r for r in rows if "share" in r]
    if not scored:
        return "fails" if rows else "–"
    seconds = np.median([r["robot_seconds"][-1] for r in scored])
    mark = "" if all(r["valid"] for r in scored) else " invalid"
    return f"{np.median([r['share'] for r in scored]):.2f} in {seconds:.0f} s ({len(scored)}){mark}"


def _middle(rows: list[Row], word: str) -> float:
    return float(np.median([r["share"] for r in rows if r["method"] == word]))
