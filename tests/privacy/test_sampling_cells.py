"""Where the exponential sampler decides by fast bounds, exact arithmetic decides the same.

64 bits of a uniform number are looked up among cumulated odds that are known between bounds. Near
the edge of two candidates' cells the bounds must leave the draw open, and further away they should
not. The truth has 400 bits here.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from smoothboost.privacy import factored
from smoothboost.privacy.exact import SLACK, exp_bounds
from smoothboost.privacy.factored import FactoredExponential, FactoredScores
from smoothboost.privacy.mechanisms import Exponential, _index_of, draw_index

BITS = 400
CASES = [
    ([0, 4, 9, 9, 2], Fraction(1, 3)),
    ([3, 0], Fraction(1, 2)),
    ([0, 3], Fraction(1, 2)),
    ([0, 1, 2, 3, 4, 5, 6], Fraction(3, 11)),
    ([40, 0, 35, 41, 40], Fraction(2, 7)),
]


def true_odds(scores, rate):
    """Return 2**BITS * exp(-rate * (best - score)), to within 3."""
    return [exp_bounds(rate * (max(scores) - score), BITS)[0] for score in scores]


def true_edges(odds):
    """Return where the candidates' cells end, as shares of a whole."""
    return [Fraction(edge, sum(odds)) for edge in accumulate(odds)]


def check_cells(fast, edges):
    """Look draws around every edge up: what is decided is right, and far away all is."""
    far = 8 * SLACK * len(edges)
    for index, edge in enumerate(edges[:-1]):
        middle = int(edge * 2**64)
        near = {*range(-200, 200), *range(-far, far, 101)}
        for draw in sorted(middle + step for step in near if 0 <= middle + step < 2**64):
            found = _index_of(draw, 64, *fast)
            if found is None:
                assert abs(draw - middle) < far
                continue
            ends = [Fraction(0), *edges]
            assert ends[found] <= Fraction(draw, 2**64)
            assert Fraction(draw + 1, 2**64) <= ends[found + 1]
        beyond = middle - far, middle + far
        decided = [_index_of(draw, 64, *fast) for draw in beyond if 0 <= draw < 2**64]
        assert set(decided) <= {index, index + 1}


@pytest.mark.parametrize(("scores", "rate"), CASES)
def test_listed_candidates_are_drawn_only_from_their_own_cells(scores, rate):
    choice = Exponential(np.array(scores, dtype=np.int64), rate)
    check_cells(choice._fast_bounds(), true_edges(true_odds(scores, rate)))


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(2, 11)])
def test_items_are_drawn_only_from_their_own_cells(rate, even):
    groups = [np.array([[[0, 7], [3, 1]], [[4, 4], [0, 9]]]), np.array([[[11, 2]]])]
    scores = FactoredScores(groups, even=even)
    odds = []
    for parts in (groups[0][0], groups[0][1], groups[1][0]):
        listed = [sum(some) for some in np.stack(np.meshgrid(*parts)).reshape(len(parts), -1).T]
        best = max(int(score) for score in scores.flat())
        exps = [exp_bounds(rate * (best - int(score)), BITS)[0] for score in listed]
        odds.append(sum(exps) * (4 // len(exps) if even else 1))  # two or four candidates
    check_cells(FactoredExponential(scores, rate)._fast_bounds(), true_edges(odds))


@pytest.mark.parametrize(("scores", "rate"), CASES)
def test_options_of_a_part_are_drawn_only_from_their_own_cells(scores, rate, monkeypatch):
    used = []

    def keeping(fast, slow, bits):
        used.append(fast)
        return draw_index(fast, slow, bits)

    class Zeros:
        def take(self, count):
            return bytes(count)

    monkeypatch.setattr(factored, "draw_index", keeping)
    parts = np.array([scores], dtype=np.int64)
    FactoredExponential(FactoredScores([parts[None]]), rate)._options(parts, Zeros())
    check_cells(used[0], true_edges(true_odds(scores, rate)))


@pytest.mark.parametrize("size", [2, 3, 7])
def test_fast_bounds_hold_the_truth_with_exponents_that_are_not_rounded(size):
    """Cutting an exponent raises its odds, which hides what truncated products take away."""
    rng = np.random.default_rng(size)
    scores = [0, *(-1 - at % 2 for at in range(size - 1))]
    spare = size.bit_length() + 1
    for numerator in rng.integers(1, 2**57, 400).tolist():
        rate = Fraction(numerator, 2**56)
        low, high = Exponential(np.array(scores, dtype=np.int64), rate)._fast_bounds()
        scale = BITS - 63 + spare
        for below, above, truth in zip(low, high, accumulate(true_odds(scores, rate)), strict=True):
            assert int(below) << scale <= truth + 3 * size
            assert truth <= int(above) << scale
