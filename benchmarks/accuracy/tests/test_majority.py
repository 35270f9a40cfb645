"""The benchmark beside naming the largest class: what it draws, and what its page says."""

from __future__ import annotations

import numpy as np
from benchmarks import majority


def cell(*ahead):
    return majority.Cell(majority.Kind(500, 2, "30 %", "some"), 20, 0.0, ahead)


def test_rows_have_the_shares_of_their_kind_and_differ_from_draw_to_draw():
    kind = majority.Kind(20_000, 3, "three", "some")
    X, y = kind.draw(1, kind.n_rows)
    assert X.shape == (20_000, 3)
    assert np.abs(np.bincount(y) / len(y) - [0.5, 0.3, 0.2]).max() < 0.02
    assert not np.array_equal(X, kind.draw(2, kind.n_rows)[0])


def test_a_cell_is_significantly_below_only_if_its_fits_are():
    assert cell(-0.1, -0.11, -0.12).p_value < 0.01
    assert cell(-0.1, 0.1, 0.0).p_value > 0.4
    assert cell(-0.1, -0.1).p_value == 0
    assert cell(0.0, 0.0).p_value == 1


def test_the_page_counts_the_cells_that_are_below():
    text = majority.page([cell(-0.1, -0.11, -0.12), cell(0.0, 0.0, 0.0)], 3)
    assert "cells at 5 %: **1**" in text
    assert "The lowest mean of a cell: -0.1100." in text
