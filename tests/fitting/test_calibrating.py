from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost.fitting.calibrating import LINK_RANGE, LOSS_BITS, LinkOptions, _gaps, _losses

ONE = 1 << LOSS_BITS
votes = st.integers(1, 12) | st.sampled_from([25, 49, 99])


# The twins, in floating point -----------------------------------------------------------------


def second_share(slope, offset, ahead):
    """The probability of the second class, given its votes minus the first one's."""
    return 1 / (1 + exp(-float(slope) * (ahead - float(offset))))


def naive_losses(options):
    """The squared error of each link for a row of each (class, level)."""
    n_votes, losses = options.n_votes, []
    for slope, offset in product(options.slopes, options.offsets):
        table = np.zeros((2, n_votes + 1))
        for label, level in np.ndindex(2, n_votes + 1):
            ahead = 2 * level - n_votes if label else n_votes - 2 * level
            table[label, level] = (label - second_share(slope, offset, ahead)) ** 2
        losses.append(table)
    return np.array(losses)


def naive_gaps(options):
    """What a row of each (class, level) adds to the two sums of each link, in units of a row.

    Offsets, and how near votes are to even ones, are about what makes up for a rare class.
    """
    n_votes, tables = options.n_votes, []
    root = sqrt(n_votes * options.at_once)
    for (slope, centre), offset in product(
        zip(options.slopes, options.centres, strict=True), options.offsets
    ):
        table = np.zeros((2, 2, n_votes + 1))
        for label, level in np.ndindex(2, n_votes + 1):
            ahead = 2 * level - n_votes if label else n_votes - 2 * level
            share = second_share(slope, centre + offset, ahead)
            gap = (share - label) / max(share, 1 - share) / 2
            near = (1 + exp(-(((ahead - centre) / root) ** 2) / 2)) / 2
            along = max(-1, min(1, ahead / root))
            table[:, label, level] = gap * near, gap * along
        tables.append(table)
    return np.stack(tables, axis=1)


def naive_lead_loss(slope, margins, label, others=0):
    odds = [exp(float(slope) * (own - max(margins))) for own in margins]
    leader = margins.index(max(margins))
    return ((leader == label) - (1 - float(others)) * max(odds) / sum(odds)) ** 2


# Two classes ----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(votes)
def test_losses_are_squared_errors_within_rounding_and_between_none_and_one(n_votes):
    options = LinkOptions(n_votes, 1)
    losses = _losses(options)
    assert losses.dtype == np.int64
    assert losses.min() >= 0
    assert losses.max() <= ONE
    # A share is off by less than two units, and its square by less than five.
    assert np.abs(losses - ONE * naive_losses(options)).max() < 5


@settings(deadline=None, max_examples=30)
@given(votes, st.integers(0, 2**32 - 1))
def test_scores_are_minus_the_sum_of_the_losses_of_all_rows(n_votes, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 50, (2, n_votes + 1))
    options = LinkOptions(n_votes, 1)
    scores = options.scores(counts)
    assert scores.shape == (len(options),)
    assert scores.dtype == np.int64
    losses = _losses(options)
    assert scores.tolist() == [
        -sum(int(each[group]) * int(counts[group]) for group in np.ndindex(counts.shape))
        for each in losses
    ]
    naive = -(naive_losses(options) * counts).sum(axis=(1, 2))
    assert np.abs(scores / ONE - naive).max() <= 5 * counts.sum() / ONE + 1e-9


def test_a_billion_rows_do_not_overflow():
    options = LinkOptions(3, 1)
    counts = np.full((2, 4), 2**29)
    expected = -(_losses(options).astype(object) * 2**29).sum(axis=(1, 2))
    assert options.scores(counts).tolist() == expected.tolist()


# Two classes, where the density follows the errors ---------------------------------------------


@settings(deadline=None, max_examples=30)
@given(votes, st.sampled_from([1, 3]), st.sampled_from([None, Fraction(1, 99), Fraction(9, 10)]))
def test_gaps_are_those_of_the_twin_within_rounding_and_at_most_half_a_row(
    n_votes, at_once, evened
):
    options = LinkOptions(n_votes, 1, at_once, follows=True, evened=evened)
    gaps = _gaps(options)
    assert gaps.dtype == np.int64
    assert np.abs(gaps).max() <= ONE // 2
    assert np.abs(gaps - ONE * naive_gaps(options)).max() < 5


@settings(deadline=None, max_examples=30)
@given(votes, st.integers(0, 2**32 - 1))
def test_scores_are_minus_the_larger_sum_of_the_gaps_of_all_rows(n_votes, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 50, (2, n_votes + 1))
    options = LinkOptions(n_votes, 1, follows=True)
    scores = options.scores(counts)
    assert scores.shape == (len(options),)
    assert scores.dtype == np.int64
    near, along = (_gaps(options) * counts).sum(axis=(2, 3)).tolist()
    assert scores.tolist() == [-max(abs(a), abs(b)) for a, b in zip(near, along, strict=True)]
    naive = -np.abs((naive_gaps(options) * counts).sum(axis=(2, 3))).max(axis=0)
    assert np.abs(scores / ONE - naive).max() <= 5 * counts.sum() / ONE + 1e-9


def test_links_after_even_weights_say_at_no_votes_what_was_released():
    options = LinkOptions(99, 1, 3, follows=True, evened=Fraction(1, 50))
    for at, slope in enumerate(options.slopes):
        link = options.link(at * len(options.offsets), (1.0, 1.0))  # the first offset is none
        assert link.offset == options.centres[at] > 0
        even_votes = float(link.probabilities(np.array([[0, 0]]))[0, 1])
        assert even_votes == pytest.approx(0.8 / 50, rel=float(slope))  # votes are whole numbers
        assert slope <= options.slopes[-1] < 2 / sqrt(99 * 3)  # no bolder than the plain link
    mirrored = LinkOptions(99, 1, 3, follows=True, evened=Fraction(49, 50))
    assert [-votes for votes in mirrored.centres] == list(options.centres)


@pytest.mark.parametrize(("at_once", "index"), [(1, 40), (1, 150), (3, 77), (3, 200)])
def test_the_best_link_is_the_one_that_the_rows_follow(at_once, index):
    """Rows whose classes have the probabilities of a link, at all votes: no sum is far from 0."""
    options = LinkOptions(99, 1, at_once, follows=True)
    link = options.link(index, (1.0, 1.0))
    ahead = np.arange(-99, 100, 2)
    rows = 1e9 * np.exp(-((ahead / 30) ** 2))
    second = rows / (1 + np.exp(-link.slope * (ahead - link.offset)))
    counts = np.stack([(rows - second)[::-1], second]).round().astype(np.int64)
    scores = options.scores(counts)
    assert scores.argmax() == index
    assert scores.max() > -1e-5 * ONE * counts.sum()


def test_sums_over_a_billion_rows_do_not_overflow():
    options = LinkOptions(3, 1, follows=True)
    counts = np.full((2, 4), 2**29)
    sums = (_gaps(options).astype(object) * 2**29).sum(axis=(2, 3))
    expected = -np.abs(sums).max(axis=0)
    assert options.scores(counts).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("follows", "flat", "least"), [(False, False, 0.45), (True, False, 0.95), (True, True, 0.9)]
)
def test_no_replaced_row_moves_scores_further_apart_than_the_range_and_one_comes_close(
    follows, flat, least
):
    """All tables of three rows, and all their neighbours, and with many rows beside them."""
    largest = 0
    for n_votes in (1, 2, 9):
        options = LinkOptions(n_votes, 1, follows=follows, flat=flat)
        places = [(label, level) for label in (0, 1) for level in (0, n_votes // 2, n_votes)]

        def scores(rows, n_votes=n_votes, options=options):
            counts = np.zeros((2, n_votes + 1), dtype=np.int64)
            counts[:, [0, -1]] = [[4, 63], [78, 5]] if len(rows) == 1 else 0
            for row in rows:
                counts[row] += 1
            return options.scores(counts)

        for others in ((), *combinations_with_replacement(places, 2)):
            each = np.stack([scores((*others, row)) for row in places])
            changes = each[:, None] - each[None]
            assert np.abs(changes).max() <= LINK_RANGE // 2
            largest = max(largest, int(np.ptp(changes, axis=2).max()))
    assert least * LINK_RANGE < largest <= LINK_RANGE


# Options --------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 10_000), st.sampled_from([1, 3, 10]), st.booleans())
def test_slopes_are_around_the_plain_one_and_offsets_both_ways(n_votes, n_problems, follows):
    options = LinkOptions(n_votes, n_problems, follows=follows)
    plain = 2 / sqrt(n_votes)
    assert list(options.slopes) == sorted(set(options.slopes))
    assert any(abs(float(slope) / plain - 1) < 1e-8 for slope in options.slopes)
    assert max(options.slopes) / min(options.slopes) > (
        7.9 if options.by_sums and n_votes < 100 else 20
    )
    assert len(set(options.offsets)) == len(options.offsets)
    assert options.offsets[0] == 0
    assert {-offset for offset in options.offsets} == set(options.offsets)
    assert all((2 * offset).denominator == 1 for offset in options.offsets)
    if n_problems > 1:
        assert options.offsets == (0,)
    else:
        assert len(options.offsets) > 2
        farthest = float(max(options.offsets))
        assert 2.2 * sqrt(n_votes) - 0.51 < farthest < 2.2 * sqrt(n_votes) + 0.01
    assert len(options) == len(options.slopes) * len(options.offsets)


def test_flat_options_are_the_flatter_slopes_with_the_same_offsets():
    every, flat = (LinkOptions(99, 1, 3, follows=True, flat=each) for each in (False, True))
    assert flat.slopes == every.slopes[: len(flat.slopes)]
    assert 0 < len(flat.slopes) < len(every.slopes)
    assert max(flat.slopes) < Fraction(2) / Fraction(99 * 3) ** Fraction(1, 2)
    assert flat.offsets == every.offsets


@pytest.mark.parametrize(("n_votes", "n_problems"), [(1, 1), (25, 1), (99, 1), (25, 4)])
def test_options_are_exact_numbers_that_every_platform_makes_alike(n_votes, n_problems):
    one, two = (LinkOptions(n_votes, n_problems) for _ in range(2))
    assert (one.slopes, one.offsets) == (two.slopes, two.offsets)
    assert all(isinstance(each, Fraction) for each in (*one.slopes, *one.offsets))
    assert one == two
    assert hash(one) == hash(two)


def test_the_slopes_and_offsets_of_25_votes():
    """Written down: whoever changes them changes every calibrated model."""
    options = LinkOptions(25, 1)
    assert [round(float(slope), 4) for slope in options.slopes] == [
        0.05,
        0.0707,
        0.1,
        0.1414,
        0.2,
        0.2828,
        0.4,
        0.5656,
        0.8,
        1.1312,
    ]
    halves = [int(2 * offset) for offset in options.offsets if offset >= 0]
    assert halves == [0, 1, 2, 3, 4, 5, 7, 10, 13, 17, 22]
    follows = LinkOptions(25, 1, follows=True)
    slopes = [round(float(slope), 3) for slope in follows.slopes]
    assert slopes[:6] == [0.141, 0.168, 0.2, 0.238, 0.283, 0.336]
    assert slopes[6:] == [0.4, 0.476, 0.566, 0.673, 0.8, 0.951, 1.131]
    halves = [int(2 * offset) for offset in follows.offsets if offset >= 0]
    assert halves == [0, 1, 2, 3, 4, 6, 9, 14, 22]
    plain = {n_votes: 2 / sqrt(3 * n_votes) for n_votes in (297, 300)}
    flattest = {n: float(LinkOptions(n, 1, 3, True).slopes[0]) / plain[n] for n in plain}
    assert flattest == pytest.approx({297: 2**-1.5, 300: 2**-3}, rel=1e-3)


@settings(deadline=None, max_examples=30)
@given(votes, st.data())
def test_the_chosen_link_has_the_probabilities_that_were_scored(n_votes, data):
    options = LinkOptions(n_votes, 1)
    index = data.draw(st.integers(0, len(options) - 1))
    link = options.link(index, (1.0, 1.0))
    assert link.calibrated
    losses = _losses(options)[index] / ONE
    levels = np.arange(n_votes + 1)
    for label in (0, 1):
        own = np.stack([n_votes - levels, levels] if label else [levels, n_votes - levels], axis=1)
        share = link.probabilities(own)[:, label]
        assert np.abs((1 - share) ** 2 - losses[label]).max() < 1e-4


@settings(deadline=None, max_examples=30)
@given(votes, st.data())
def test_the_chosen_link_has_the_odds_that_were_summed(n_votes, data):
    options = LinkOptions(n_votes, 1, follows=True)
    index = data.draw(st.integers(0, len(options) - 1))
    link = options.link(index, (1.0, 1.0))
    assert link.calibrated
    levels = np.arange(n_votes + 1)
    for label in (0, 1):
        own = np.stack([n_votes - levels, levels] if label else [levels, n_votes - levels], axis=1)
        share = link.probabilities(own)[:, label]
        ahead = np.abs(2 * levels - n_votes)
        near = (1 + np.exp(-(ahead**2) / (2 * n_votes))) / 2
        gap = np.minimum(1, 1 / share - 1) / 2 * near
        assert np.abs(gap - np.abs(_gaps(options)[0, index, label] / ONE)).max() < 1e-4


# More classes ---------------------------------------------------------------------------------


@st.composite
def elections(draw):
    n_votes, n_classes = draw(st.sampled_from([1, 2, 5, 25])), draw(st.integers(3, 6))
    one = st.integers(0, n_votes).map(lambda level: 2 * level - n_votes)
    row = st.tuples(st.tuples(*[one] * n_classes), st.integers(0, n_classes - 1))
    return n_votes, n_classes, draw(st.lists(row, min_size=1, max_size=20))


@settings(deadline=None)
@given(elections(), st.just(Fraction(0)) | st.fractions(0, 1))
def test_lead_scores_are_the_squared_errors_of_the_leaders_probability(case, others):
    n_votes, n_classes, rows = case
    options = LinkOptions(n_votes, n_classes, heard=tuple(range(n_classes)), others=others)
    margins = np.array([row for row, _ in rows], dtype=np.int64)
    labels = np.array([label for _, label in rows])
    scores = options.lead_scores(margins, labels)
    assert scores.shape == (len(options),)
    assert scores.dtype == np.int64
    naive = [
        -sum(naive_lead_loss(slope, list(row), label, others) for row, label in rows)
        for slope in options.slopes
    ]
    assert np.abs(scores / ONE - naive).max() <= 5 * len(rows) / ONE
    parts = [
        options.lead_scores(margins[at : at + 1], labels[at : at + 1]) for at in range(len(rows))
    ]
    assert np.array_equal(sum(parts), scores)
    assert all(part.min() >= -ONE and part.max() <= 0 for part in parts)


@settings(deadline=None)
@given(elections(), st.data())
def test_the_chosen_link_gives_the_leader_the_probability_that_was_scored(case, data):
    n_votes, n_classes, rows = case
    options = LinkOptions(n_votes, n_classes)
    index = data.draw(st.integers(0, len(options) - 1))
    margins = np.array([row for row, _ in rows], dtype=np.int64)
    found = options.link(index, (1.0,) * n_classes).probabilities(margins)
    for (row, label), shares in zip(rows, found, strict=True):
        leader = row.index(max(row))
        loss = naive_lead_loss(options.slopes[index], list(row), label)
        assert ((leader == label) - shares[leader]) ** 2 == pytest.approx(loss, abs=1e-4)


@settings(deadline=None, max_examples=50)
@given(elections(), st.data())
def test_a_class_for_everybody_competes_by_rows_that_are_right_too(case, data):
    n_votes, n_classes, rows = case
    at, share = data.draw(st.integers(0, n_classes - 1)), data.draw(st.fractions(0, 1))
    heard = tuple(sorted(data.draw(st.sets(st.integers(0, n_classes - 1), min_size=1))))
    options = LinkOptions(n_votes, n_classes, 1, True, heard, (at, share, Fraction(1, 3)))
    margins = np.array([row for row, _ in rows], dtype=np.int64)
    scores = options.lead_scores(margins, np.array([label for _, label in rows]))
    assert scores.shape == (len(options),)
    naive = []
    for slope in options.slopes:
        worth = 0.0
        for row, label in rows:
            own = [row[each] for each in heard]
            place = heard.index(label) if label in heard else None
            right = own.index(max(own)) == place
            worth += right - naive_lead_loss(slope, own, place)
        naive.append(worth / 2)
    constant = sum((label == at) - ((label == at) - float(share)) ** 2 for _, label in rows) / 2
    n_slopes = len(options.slopes)
    assert np.abs(scores / ONE - [*naive, *[constant] * n_slopes]).max() <= 5 * len(rows) / ONE
    assert [options.is_constant(index) for index in range(len(options))] == (
        [False] * n_slopes + [True] * n_slopes  # before a row is looked at, as likely as all links
    )
    chosen = options.link(len(options) - 1, (1.0,) * n_classes)
    assert (chosen.slope, chosen.offset) == (1 / 3, 0.0)


@pytest.mark.parametrize(
    ("heard", "constant", "others"),
    [
        ((0, 1, 2), None, 0),
        ((0, 1, 2), (1, Fraction(1, 3), Fraction(1)), 0),
        ((0, 1), (1, Fraction(1, 3), Fraction(1)), Fraction(1, 5)),
    ],
)
def test_no_replaced_row_moves_lead_scores_further_apart_than_the_range(heard, constant, others):
    options = LinkOptions(9, 3, heard=heard, constant=constant, others=Fraction(others))
    margins = np.array(list(product((-9, -1, 3, 9), repeat=3)))
    each = np.concatenate(
        [
            [options.lead_scores(row[None], np.array([label])) for row in margins]
            for label in range(3)
        ]
    )
    changes = each[:, None] - each[None]
    assert np.abs(changes).max() <= LINK_RANGE // 2
    assert (
        (0.45 if constant is None or others else 0.6) * LINK_RANGE
        < np.ptp(changes, axis=2).max()
        <= LINK_RANGE
    )
