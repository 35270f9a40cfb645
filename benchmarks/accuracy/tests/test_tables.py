"""The generated tables are what their docstrings say."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.accuracy import methods
from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.methods import key
from benchmarks.accuracy.sources import Source, coded_split, split
from benchmarks.accuracy.tables import MADE

SHAPES = {
    "rare": (100_000, 12, 0.01),
    "imbalanced": (36_000, 16, 0.12),
    "noisy": (24_000, 20, 0.22),
    "balanced_noisy": (5_800, 14, 0.5),
    "weak": (30_000, 20, 0.5),
    "ten_classes": (20_000, 8, 0.1),
    "26_classes": (20_000, 16, 1 / 26),
    "interaction": (20_000, 4, 0.5),
    "small": (500, 5, 0.5),
    "wide": (5_000, 300, 0.5),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_table_has_its_shape_and_its_share_of_positives(name):
    n_rows, n_columns, share = SHAPES[name]
    data = MADE[name]()
    assert data.data.shape == (n_rows, n_columns)
    spread = np.sqrt(share * (1 - share) / n_rows)
    assert np.mean(data.target == 1) == pytest.approx(share, abs=4 * spread)
    assert not set(data.data["x0"]) & set(data.test_data["x0"])  # drawn apart


def test_a_table_is_the_same_every_time():
    first, second = MADE["small"](), MADE["small"]()
    assert first.data.equals(second.data)
    assert (first.target == second.target).all()


def test_codes_and_cells_are_split_alike():
    source = Source("small", limit=100)
    rows, (train, test) = split(source, None), coded_split(source, None)
    assert len(rows.X) == train.n_rows == 100
    assert (test.labels == rows.places).all()


def test_our_results_depend_on_the_library_and_those_of_peers_do_not(monkeypatch):
    fits = [Fit(Source("small"), name, 1.0, 1e-5, None, 0) for name in ("defaults", "ebm")]
    before = [key(fit) for fit in fits]
    monkeypatch.setitem(methods.EDITIONS, "ours", "changed code")
    after = [key(fit) for fit in fits]
    assert before[0] != after[0]
    assert before[1] == after[1]
    assert '"interpret-core"' in before[1]


def test_a_result_depends_on_the_rows():
    short, whole = (Fit(Source("small", limit=n), "ebm", 1.0, 1e-5, None, 0) for n in (100, None))
    assert key(short) != key(whole)
