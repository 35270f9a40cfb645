"""The inequalities of docs/privacy, in whole numbers and fractions, wherever they can be listed.

Each test names the page and the section that it checks. Nothing is drawn at random, and but for the
logarithms of the last test nothing is rounded: a bound holds for every small case there is, and is
reached where the page says so.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import floor, log, prod
from typing import Any

import numpy as np
import pytest

from smoothboost.counting.measure import Measure
from smoothboost.fitting.calibrating import CUT_RANGE, LINK_RANGE, CutOptions, LinkOptions
from smoothboost.fitting.following import COUNT_RANGE, count_options, distance_scores
from smoothboost.learners.choices import accuracy_range
from smoothboost.learners.impurity import most_added
from smoothboost.privacy.accountant import epsilons_at
from smoothboost.privacy.factored import FactoredScores

ONES = (Fraction(1), Fraction(1))
RAW = (Fraction(8), Fraction(3), Fraction(1))  # any raw weights will do, of three levels


# docs/privacy/smooth-measure.md ---------------------------------------------------------------


def projected(raw: tuple[Fraction, ...], mass: int) -> list[Fraction]:
    """Return min(1, c * raw) for the c that makes the total `mass`, by its definition."""
    cut: set[int] = set()
    while True:
        free = [at for at in range(len(raw)) if at not in cut]
        rest = sum(raw[at] for at in free)
        c = (mass - len(cut)) / rest if rest else Fraction(0)
        over = {at for at in free if c * raw[at] > 1}
        if not over:
            return [Fraction(1) if at in cut else c * raw[at] for at in range(len(raw))]
        cut |= over


def neighbouring_weights(n_rows: int, mass: int):
    """Yield the weights of all rows before and after the last one's raw weight was replaced."""
    for others in combinations_with_replacement(RAW, n_rows - 1):
        for old, new in product(RAW, repeat=2):
            yield projected((*others, old), mass), projected((*others, new), mass)


SIZES = [(n_rows, mass) for n_rows in range(1, 8) for mass in range(1, n_rows + 1)]


@pytest.mark.parametrize(("n_rows", "mass"), SIZES)
def test_all_other_rows_move_one_way_and_a_mass_of_at_most_zeta_moves(n_rows, mass):
    """One direction; How much one row can hold."""
    ratio = max(RAW) / min(RAW)
    zeta = min(Fraction(1, mass), 1 / (1 + (n_rows - 1) / ratio))
    for before, after in neighbouring_weights(n_rows, mass):
        assert sum(before) == sum(after) == mass
        assert max(*before, *after) <= zeta * mass
        moved = [b - a for a, b in zip(before[:-1], after[:-1], strict=True)]
        assert all(m >= 0 for m in moved) or all(m <= 0 for m in moved)
        # The replaced row counts as taken away in one place and put down in another.
        taken = before[-1] - sum(m for m in moved if m < 0)
        assert taken <= zeta * mass


@pytest.mark.parametrize("bits", [1, 2, 5])
@pytest.mark.parametrize(("n_rows", "mass"), [(2, 1), (3, 1), (3, 2), (4, 2), (5, 2), (5, 4)])
def test_floors_lengthen_the_interval_by_one_less_than_the_rows(n_rows, mass, bits):
    """Flooring; and the leaves' classes of docs/privacy/top-down.md, which add up the same.

    Units are so coarse here that floors matter: the bound without them would not do.
    """
    spare = 62 - bits - (n_rows - 1).bit_length()
    density = Fraction(mass, n_rows)
    measure = Measure(n_rows, density, Fraction(1, 3), 3, (Fraction(1), Fraction(2)), spare)
    assert measure.unit_bits == bits
    n_votes, worst = 3, 0
    cells = list(product(range(2), range(n_votes + 1)))
    for others in combinations_with_replacement(cells, n_rows - 1):
        weights = {}
        for cell in cells:
            counts = np.zeros((2, n_votes + 1), dtype=np.int64)
            for each in (*others, cell):
                counts[each] += 1
            weights[cell] = measure.weights(counts)
        for (old, before), (new, after) in product(weights.items(), repeat=2):
            moved = sum(abs(int(after[cell] - before[cell])) for cell in others)
            worst = max(worst, moved + int(before[old]) + int(after[new]))
    assert worst <= accuracy_range(measure.peak(n_votes), measure.rounding(0))


def test_floors_do_need_their_part_of_the_interval():
    """Flooring: with coarse units some interval is longer than twice the peak."""
    longest = 0
    for others in combinations_with_replacement(RAW, 5):
        units = [[floor(4 * weight) for weight in projected((*others, last), 2)] for last in RAW]
        for before, after in product(units, repeat=2):
            moved = sum(abs(b - a) for a, b in zip(before[:-1], after[:-1], strict=True))
            longest = max(longest, moved + before[-1] + after[-1])
    assert longest > 2 * 4 * min(Fraction(1), 2 / (1 + 5 / (max(RAW) / min(RAW))))


def test_a_rate_that_falls_raises_no_ratio_of_weights():
    """A learning rate that falls: for every fall that a fit may see, and the smallest too."""
    planned = [Fraction(25, 1000) / 16, Fraction(251, 1000), Fraction(7, 10)]
    falls = [Fraction(1, 2**57), Fraction(1, 10**9), Fraction(1, 1000), Fraction(3, 10)]
    for rate, n_rounds in product(planned, (1, 9, 99, 700)):
        first = Measure(1000, Fraction(1, 2), rate, n_rounds, ONES)
        for fall in falls:
            later = first.following(first.density, rate - min(fall, rate / 2))
            for votes in {1, n_rounds // 2, n_rounds - 1, n_rounds} - {0}:
                before = Fraction(first.levels[0], first.levels[votes])
                assert Fraction(later.levels[0], later.levels[votes]) <= before


# docs/privacy/one-rules.md ----------------------------------------------------------------------


@pytest.mark.parametrize(("n_rows", "mass"), [(3, 1), (4, 2), (4, 4), (5, 2)])
def test_accuracies_of_all_rules_change_within_twice_zeta(n_rows, mass):
    """One round; Several rules at once: every set of rows that a rule may get right."""
    ratio = max(RAW) / min(RAW)
    zeta = min(Fraction(1, mass), 1 / (1 + (n_rows - 1) / ratio))
    longest = Fraction(0)
    for before, after in neighbouring_weights(n_rows, mass):
        # Right on some of the others, on the old row or not, and on the new one or not.
        changes = [
            (sum(after[at] - before[at] for at in right) + new * after[-1] - old * before[-1])
            / mass
            for right in _sets(range(n_rows - 1))
            for old, new in product((0, 1), repeat=2)
        ]
        longest = max(longest, max(changes) - min(changes))
    assert longest <= 2 * zeta
    if mass == n_rows:
        assert longest == 2 * zeta  # attained


def _sets(items):
    listed = list(items)
    return [
        [item for item, inside in zip(listed, chosen, strict=True) if inside]
        for chosen in product((0, 1), repeat=len(listed))
    ]


# docs/privacy/top-down.md -----------------------------------------------------------------------

CRITERIA = {
    "gini": lambda a, b: 4 * Fraction(a * b, a + b) if a + b else Fraction(0),
    "error": lambda a, b: Fraction(2 * min(a, b)),
}


def gains_of(table: Counter[Any], impurity) -> list[list[Fraction]]:
    """Return the gains of splitting the root by two literals, and then two leaves by the other."""

    def impure(holds) -> Fraction:
        return impurity(
            *(sum(n for (x, y), n in table.items() if holds(x) and y == c) for c in (0, 1))
        )

    def split(holds, bit) -> Fraction:
        parts = (impure(lambda x, v=v: holds(x) and x[bit] == v) for v in (0, 1))
        return impure(holds) - sum(parts)

    roots = [split(lambda x: True, bit) for bit in (0, 1)]
    leaves = [split(lambda x, v=v: x[0] == v, 1) for v in (0, 1)]
    return [roots, leaves]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_rows", [2, 3, 4, 5])
def test_gains_of_splits_change_within_what_one_row_may_add_twice(n_rows, criterion):
    """The range of gains: all tables of two Booleans and two classes, every replaced row."""
    rows = list(product(product((0, 1), repeat=2), (0, 1)))
    gains = {
        others: gains_of(Counter(others), CRITERIA[criterion])
        for others in combinations_with_replacement(rows, n_rows)
    }
    claimed = 2 * n_rows * most_added(Fraction(1, n_rows), criterion, 2)
    for others in combinations_with_replacement(rows, n_rows - 1):
        tables = [gains[tuple(sorted((*others, row)))] for row in rows]
        for before, after in product(tables, repeat=2):
            for one, other in zip(before, after, strict=True):
                changes = [b - a for a, b in zip(one, other, strict=True)]
                assert max(changes) - min(changes) <= claimed


@pytest.mark.parametrize("criterion", CRITERIA)
def test_what_a_row_may_add_grows_with_the_total_and_with_its_weight(criterion):
    """docs/privacy/following.md, "The density and the learning rate may follow it", step 3."""
    added = {
        (total, weight): total * most_added(Fraction(weight, total), criterion, 2)
        for total in range(1, 25)
        for weight in range(total + 1)
    }
    for (total, weight), most in added.items():
        assert most >= added.get((total - 1, weight), 0)
        assert most >= added.get((total, weight - 1), 0)


# docs/privacy/following.md and docs/privacy/calibration.md --------------------------------------


@pytest.mark.parametrize("finely", [False, True])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 8, 40])
def test_a_look_at_counts_has_range_four(n_rows, finely):
    """A look at the errors; A look at the rarer class: attained as soon as there are options."""
    options = count_options(n_rows, finely)
    widths = {
        int(np.ptp(distance_scores(after, options) - distance_scores(before, options)))
        for before in range(2 * n_rows + 1)
        for after in range(before, min(before + 2, 2 * n_rows) + 1)
    }
    assert max(widths) <= COUNT_RANGE
    if n_rows > 2:
        assert max(widths) == COUNT_RANGE


def replaced_rows(n_votes: int):
    """Yield the counts of (class, level) before and after a row was replaced."""
    cells = list(product(range(2), range(n_votes + 1)))
    for old, new in product(cells, repeat=2):
        before, after = np.ones((2, 2, n_votes + 1), dtype=np.int64)
        before[old] += 1
        after[new] += 1
        yield before, after


@pytest.mark.parametrize("n_votes", [1, 3, 6])
def test_a_look_at_thresholds_has_the_range_of_two_rows(n_votes):
    """Thresholds: what a row that is right counts lies between nothing and one unit."""
    options = CutOptions(n_votes)
    for weights in ((1.0, 1.0), (1.0, 7.0), (0.3, 0.1)):
        widths = [
            int(np.ptp(options.scores(after, weights) - options.scores(before, weights)))
            for before, after in replaced_rows(n_votes)
        ]
        assert max(widths) <= CUT_RANGE
    assert max(widths) > CUT_RANGE // 2


@pytest.mark.parametrize("n_votes", [1, 3, 6])
@pytest.mark.parametrize("follows", [False, True])
def test_a_look_at_links_has_the_range_of_two_rows(n_votes, follows):
    """Links: a squared error, or what a row adds to a sum, lies in an interval of one unit."""
    options = LinkOptions(n_votes, 1, follows=follows)
    others = np.zeros((2, n_votes + 1), dtype=np.int64)
    widths = []
    for beside in (0, [[4, 63], [78, 5]]):
        others[:, [0, -1]] = beside
        widths += [
            int(np.ptp(options.scores(after + others) - options.scores(before + others)))
            for before, after in replaced_rows(n_votes)
        ]
    assert LINK_RANGE // 2 < max(widths) <= LINK_RANGE


# docs/privacy/selection.md ----------------------------------------------------------------------

BASE = 2
"""exp(rate): with a whole number, all probabilities are fractions."""


def exponential(scores) -> list[Fraction]:
    odds = [Fraction(BASE) ** score for score in scores]
    return [each / sum(odds) for each in odds]


def permute_and_flip(scores) -> list[Fraction]:
    """Integrate q_i * prod (1 - u q_j) over u from 0 to 1, as a polynomial."""
    heads = [Fraction(BASE) ** (score - max(scores)) for score in scores]
    found = []
    for at, own in enumerate(heads):
        polynomial = [Fraction(1)]
        for other in heads[:at] + heads[at + 1 :]:
            lower = [*polynomial, Fraction(0)]
            higher = [Fraction(0), *polynomial]
            polynomial = [a - other * b for a, b in zip(lower, higher, strict=True)]
        found.append(own * sum(each / (power + 1) for power, each in enumerate(polynomial)))
    return found


@pytest.mark.parametrize("width", [1, 2, 3])
def test_changes_within_an_interval_cost_its_length(width):
    """The exponential mechanism: bounded range; Permute-and-flip: pure, and no more than that."""
    widest = Fraction(0)
    for scores in product(range(3), repeat=3):
        for change in product(range(width + 1), repeat=3):
            moved = [score + each for score, each in zip(scores, change, strict=True)]
            for law in (exponential, permute_and_flip):
                laws = zip(law(scores), law(moved), strict=True)
                ratios = [before / after for before, after in laws]
                assert max(*ratios, *(1 / each for each in ratios)) <= BASE**width
                if law is exponential:
                    assert max(ratios) / min(ratios) <= BASE**width
                else:
                    widest = max(widest, max(ratios) / min(ratios))
    assert widest > BASE**width


@pytest.mark.parametrize("even", [False, True])
def test_items_and_options_together_are_the_law_of_all_candidates(even):
    """Factored scores; A public prior: sums of products are products of sums."""
    groups = [np.array([[[0, 3], [2, 1]], [[4, 0], [1, 1]]]), np.array([[[3, 1]]])]
    scores = FactoredScores(groups, even=even)
    odds = [Fraction(BASE) ** int(score) for score in scores.flat()]
    if even:
        odds = [each / (4 if at < 8 else 2) for at, each in enumerate(odds)]
    laws: list[tuple[Fraction, list[list[Fraction]]]] = []  # an item's odds, its options' chances
    for parts in (parts for group in groups for parts in group):
        powers = [[Fraction(BASE) ** int(score) for score in part] for part in parts]
        sums = [sum(part, start=Fraction(0)) / (len(part) if even else 1) for part in powers]
        laws.append(
            (
                prod(sums, start=Fraction(1)),
                [[each / sum(part) for each in part] for part in powers],
            )
        )
    whole = sum(item for item, _ in laws)
    for at, (item, parts) in enumerate(laws):
        for options in product(*(range(len(part)) for part in parts)):
            chance = item / whole * prod(p[o] for p, o in zip(parts, options, strict=True))
            assert chance == odds[scores.index(at, list(options))] / sum(odds)


# docs/privacy/composition.md --------------------------------------------------------------------


def test_the_conversion_holds_for_two_outcomes():
    """Conversion: no order proves less epsilon than two outcomes really need at some delta."""
    closest = 1.0
    for p, q in product(np.linspace(0.02, 0.98, 25), repeat=2):
        for order in (1.1, 1.5, 2.0, 4.0, 16.0):
            sums = p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)
            divergence = np.array([log(sums) / (order - 1)])
            for delta in (0.3, 0.05, 1e-3):
                epsilon = float(epsilons_at(np.array([order]), divergence, delta)[0])
                if epsilon < 0:
                    continue
                real = max(p - np.exp(epsilon) * q, 0) + max(1 - p - np.exp(epsilon) * (1 - q), 0)
                assert real <= delta + 1e-12
                closest = min(closest, 1 - real / delta)
    assert closest < 0.05  # and some order is nearly tight
