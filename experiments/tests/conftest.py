"""Fixtures of the experiments' tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from experiments.tables import Split, split


@pytest.fixture(scope="session")
def folder() -> Path:
    """The folder with the published tables."""
    named = os.environ.get("SMOOTHBOOST_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip("the published tables are not here: set SMOOTHBOOST_DATA to their folder")
    return Path(named)


@pytest.fixture
def adult(folder: Path) -> Split:
    """Adult's canonical split, as the paper's 162 one-hot features."""
    return split("adult", "paper", None)


@pytest.fixture
def majority(adult: Split) -> float:
    """The share of the larger class among Adult's test rows: 0.7638."""
    return float((adult.test.labels == 0).mean())
