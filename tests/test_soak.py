"""The soak benchmark in small: a fit that streams does not hold the table."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for peaks of memory")
def test_the_soak_in_small(tmp_path):
    sizes = ("--gigabytes", "0.3", "--rows", "50000", "--folder", str(tmp_path))
    shown = subprocess.run(
        [sys.executable, "benchmarks/soak.py", *sizes],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    ).stdout
    assert re.search("^Made by `make soak`", shown, re.MULTILINE)
    assert "50,000 rows x 20 columns x 25 rounds" in shown
    held = re.findall(r"\| ([\d.]+) GB \| ([\d.]+) GB \|$", shown, re.MULTILINE)
    assert len(held) == 3
    assert all(float(peak) <= float(allowed) for peak, allowed in held)
    (beyond,) = re.findall(r"Reading took (-?\d+) MB beyond", shown)
    assert int(beyond) < 250  # of 300 on disk, whatever their size
    assert list(tmp_path.iterdir()) == []
