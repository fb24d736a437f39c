"""Figures as tables."""

from typing import Any

from .console import console, say, table

CURRENCIES = {"explained": ".1%", "loss": ".3g"}
"""In what a cause is counted, and how that is written."""


def parameter_table(figures: dict[str, Any]) -> None:
    """What is believed about each parameter."""
    rows = [
        [p["name"], p["unit"], p["nominal"], p["mean"], f"{p['low95']:.4g} … {p['high95']:.4g}", p["family"]]
        for p in figures["parameters"]
    ]
    seconds, chi = figures["seconds_of_log"], figures["chi_square"]
    title = f"Identified from {seconds:.0f} s of logs; held-out chi-square per degree of freedom {chi:.2f}"
    table(title, ["parameter", "unit", "nominal", "found", "95 %", "family"], rows)
    residual_line(figures.get("residual"))
    if figures.get("clone"):
        say(figures["clone"]["says"])


def residual_line(figures: dict[str, Any] | None) -> None:
    """What was learned beside the parameters."""
    if figures is None:
        say(
            "No residual is used: none was asked for, the physics explains the logs, or none predicts held-out logs better."
        )
        return
    before, after = figures["held_out_before"], figures["held_out_after"]
    terms = figures.get("terms", {})
    where = ", ".join(f"{name} ({', '.join(terms[name])})" if name in terms else name for name in figures["acts_on"])
    say(f"A residual acts on {where}: held-out error {before:.3g} deviations without it, {after:.3g} with it.")


def gap_table(figures: dict[str, Any]) -> None:
    """Errors per channel and horizon."""
    rows = [
        [channel, f"{h:g} s", figures["before"][channel][k], figures["after"][channel][k], figures["floor"][channel][k]]
        for channel in figures["before"]
        for k, h in enumerate(figures["horizons_s"])
    ]
    title = "Held-out prediction error, in deviations of each channel"
    table(title, ["channel", "horizon", "data sheet", "now", "noise floor"], rows)
    s = figures["summary"]
    say(f"The gap at {s['horizon_s']:g} s, above the floor: {s['before']:.3g} before, {s['after']:.3g} now.")


def causes_table(figures: dict[str, Any]) -> None:
    """What causes the gap, in prediction error and in return."""
    parts = [*figures["families"], *({"family": o["name"], **o} for o in figures["others"])]
    rows = [[p["family"], *(_with_interval(p, name, form) for name, form in CURRENCIES.items())] for p in parts]
    title = "What causes the gap: shares of the data sheet's held-out error, and what the policy loses by them"
    table(title, ["cause", "prediction error", "return"], rows)
    if figures.get("varied"):
        say(f"Within the logs {', '.join(figures['varied'])}.")
    if figures["repeatability"] is not None:
        rest = sum(o["explained"] for o in figures["others"] if o["name"] != "numerics")
        say(
            f"The machine differs from itself by {figures['repeatability']:.1%}; noise and unexplained make {rest:.1%}."
        )


def _with_interval(part: dict[str, Any], name: str, form: str) -> str:
    if name not in part:
        return "–"
    value, low, high = (format(part[k], form) for k in (name, f"{name}_low", f"{name}_high"))
    return f"{value} ({low} … {high})"


def check_table(figures: dict[str, Any]) -> None:
    """Margins of a check."""
    rows = [[k + 1, m, r] for k, (m, r) in enumerate(zip(figures["margins"], figures["returns"], strict=True))]
    table(f"{figures['passed']} of {figures['of']} starts pass", ["start", "margin", "return"], rows)


def scenario_table(figures: dict[str, Any]) -> None:
    """How often each scenario holds, beside the policy in place."""
    rows = [
        [
            r["name"], f"{r['passed']}/{r['of']}", f"{r['low']:.0%} … {r['high']:.0%}",
            "–" if r["before"] is None else f"{r['before']}/{r['of']} (loses {r['lost']}, wins {r['won']})",
            "worse" if r["regressed"] else "", r["worst"],
        ]
        for r in figures["scenarios"]
    ]  # fmt: skip
    columns = ["scenario", "holds", "95 %", "policy in place", "", "worst of all worlds"]
    table("Scenarios, each in worlds that the belief allows", columns, rows)
    for name in figures["regressed"]:
        say(f"The policy lost {name!r}, beyond what chance would do: it is not deployed unless forced.")


def forecast_table(figures: dict[str, Any]) -> None:
    """The interval."""
    share = f"{figures['share']:.0%}"
    table(
        "Return on the robot",
        ["low", "mean", "high", "claimed"],
        [[figures["low"], figures["mean"], figures["high"], share]],
    )


def _verdict(figures: dict[str, Any]) -> str:
    """How the crank's policy did on the robot, and whose policy to use."""
    said = "not sent again" if figures["verdict"].endswith("/0") else f"{figures['verdict']} pass"
    return said + ("" if figures["policy_of"] == figures["crank"] else f", use crank {figures['policy_of']}'s")


def turn_table(name: str, figures: list[dict[str, Any]]) -> None:
    """Crank by crank."""
    rows = [
        [
            f["crank"], f"{f['robot_seconds']:.0f} s", f"{f['gap_before']:.3g} → {f['gap_after']:.2g}", f["causes"],
            f"{f['forecast_low']:.2f} … {f['forecast_high']:.2f}", f"{f['return']:.2f}{'' if f['inside'] else ' (outside)'}",
            _verdict(f),
        ]
        for f in figures
    ]  # fmt: skip
    columns = ["crank", "robot time", "gap at 0.5 s", "main causes", "forecast", "return on the robot", "verdict"]
    console.print()
    table(name, columns, rows)
