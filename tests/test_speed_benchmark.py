"""The benchmark of speed runs, in small, and prints all that its page promises."""

from __future__ import annotations

from importlib import import_module

import pytest

program, contestants, page = (
    import_module(f"benchmarks.speed.{name}") for name in ("__main__", "contestants", "page")
)


@pytest.mark.filterwarnings("ignore")
def test_the_benchmark_runs_in_small(monkeypatch, capsys):
    monkeypatch.setattr(contestants, "N_ROUNDS", 2)
    small = ["--repeats", "1", "--cores", "1", "--no-adult", "--memory-rows", "0"]
    program.main(["--rows", "500", "1000", "--shape-rows", "500", *small])
    text = capsys.readouterr().out
    for title in ("500 rows, fit", "1,000 rows, prediction of the frame", "Shapes of tables"):
        assert title in text
    for name in (*contestants.OURS, *contestants.installed()):
        assert name in text
    assert "times as long as 500 rows" in text


def test_ratios_are_of_the_fastest_of_the_others():
    times = {
        name: page.Times(seconds)
        for name, seconds in {"1-rules": (2, 1, 9), "slow": (40,), "fast": (20, 30, 10)}.items()
    }
    assert page._fastest(times, "1-rules") == "10.00 (fast)"


def test_fits_as_they_come_are_compared_with_dp_ebm_as_it_comes():
    named = [f"{name}, defaults" for name in contestants.AS_THEY_COME]
    seconds = dict(zip([*named, contestants.EBM], (1, 2, 4, 30), strict=True))
    peers = {name: page.Times((value,)) for name, value in seconds.items()}
    text = str(page.Page(2, 1, 1, private_peers=peers))
    assert "| Adult, fits as they come, beside DP-EBM's | 30.0 | 7.5 | |" in text
    assert "beside DP-EBM's | 15.0 | | |" in text
    assert "| pair rules, defaults | 4.000 s | 4.000 to 4.000 | 7.5 |" in text
