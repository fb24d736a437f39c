"""Causes as figures and as words."""

from dataclasses import replace

from gapless.cli.tables import causes_table
from gapless.core.artifact import plain
from gapless.engine.causes import attribution_figures, main_causes
from gapless.learn import Attribution, Cause, Share


def found(repeatability: float | None = None) -> Attribution:
    causes = (
        Cause(("latency", "sensing"), Share(0.7, 0.6, 0.8), Share(1.25, 1.0, 1.5)),
        Cause(("friction",), Share(-0.1, -0.2, 0.0)),
        Cause(("inertia",), Share(0.01, 0.0, 0.02)),
    )
    small = Share(0.1, 0.05, 0.2)
    return Attribution(causes, small, small, Share(0.19, 0.1, 0.3), repeatability, 0.4, {"command.latency": 0.03})


def test_figures_are_plain_and_their_parts_make_a_whole() -> None:
    figures = plain(attribution_figures(found()))
    assert figures["families"][0]["family"] == "latency or sensing"
    assert figures["families"][0]["loss_high"] == 1.5
    assert "loss" not in figures["families"][1]
    parts = [f["explained"] for f in figures["families"]] + [o["explained"] for o in figures["others"]]
    assert abs(sum(parts) - 1) < 1e-9
    assert abs(figures["together"] - 0.71) < 1e-9


def test_what_varies_is_told_in_words(capsys) -> None:
    varying = replace(found(), varied=("motor.gain falls by 14 % in 6 s",))
    assert plain(attribution_figures(varying))["varied"] == ["motor.gain falls by 14 % in 6 s"]
    causes_table(attribution_figures(varying))
    assert "Within the logs motor.gain falls by 14 % in 6 s." in " ".join(capsys.readouterr().out.split())


def test_main_causes_are_the_largest_also_where_they_hide_others() -> None:
    assert main_causes(attribution_figures(found())) == "latency or sensing 70%, friction -10%"


def test_the_table_shows_both_currencies_and_the_machines_own_repeatability(capsys) -> None:
    causes_table(attribution_figures(found(repeatability=0.12)))
    said = capsys.readouterr().out
    assert "Within the logs" not in said
    assert "70.0% (60.0% … 80.0%)" in said
    assert "1.25 (1 … 1.5)" in said
    assert "12.0%" in said
