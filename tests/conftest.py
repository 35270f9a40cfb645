from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "privacy"))  # boosting_audit, shared with make


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Where the real tables are; the tests that need them say so when they are not there."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "datasets"
    folder = Path(os.environ.get("SMOOTHBOOST_DATA", beside))
    if not (folder / "adult.data").exists():
        pytest.skip(f"the real tables are not in {folder}; set SMOOTHBOOST_DATA")
    return folder
