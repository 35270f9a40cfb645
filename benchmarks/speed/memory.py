"""The peak of a fit beyond its input, in a process of its own (Linux)."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

from .contestants import OURS, private
from .tables import generated


def peak_of(learner: str, n_rows: int, cores: int) -> int:
    """Return by how many bytes a fit raises the peak of a fresh process."""
    command = [sys.executable, "-m", "benchmarks.speed.memory", learner, str(n_rows), str(cores)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _measure(learner: str, n_rows: int, cores: int) -> int:
    private(OURS[learner][0], generated(1000), cores).fit()  # imports and caches
    contestant = private(OURS[learner][0], generated(n_rows), cores)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _status("VmRSS")
    contestant.fit()
    return _status("VmHWM") - before


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(_measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
