"""Probabilities, decisions and predictions are three views of the same votes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smoothboost.link import Link

SLOPES = st.sampled_from([5e-324, 1e-300, 1e-17, 0.05, 1.0, 30.0, 1e17, 1e308])
OFFSETS = st.sampled_from([0.0, 0.5, -3.0, 1e-17, 2.0, 1e9, -1e300, 1.7e308])
WEIGHTS = st.sampled_from([1.0, 0.1, 3.0, 5e-324, 1e308])


def votes_of(n_classes):
    row = st.lists(st.integers(-40, 40), min_size=n_classes, max_size=n_classes)
    return st.lists(row, max_size=5).map(lambda rows: np.array(rows, int).reshape(-1, n_classes))


TWO = votes_of(2)
MANY = st.integers(3, 5).flatmap(votes_of)


class TestTwoClasses:
    def test_probability_is_logistic_in_the_votes_beyond_the_offset(self):
        link = Link(0.5, 1.0, (1.0, 1.0))
        votes = np.array([[3, 0], [0, 1], [0, 7]])
        expected = 1 / (1 + np.exp(-0.5 * np.array([-4, 0, 6])))
        np.testing.assert_allclose(link.probabilities(votes)[:, 1], expected, rtol=1e-14)

    def test_a_small_probability_keeps_its_digits(self):
        first = Link(1.0, 0.0, (1.0, 1.0)).probabilities(np.array([[0, 100]]))[0, 0]
        assert first == pytest.approx(np.exp(-100), rel=1e-12, abs=0)

    @given(TWO, SLOPES, OFFSETS, WEIGHTS)
    @example(np.array([[1, 2]]), 1e-17, 0.0, 1.0)  # log odds too small to see
    @example(np.array([[0, 2]]), 1.0, 2.0, 1.0)  # even odds
    def test_the_likelier_class_is_predicted_if_weights_are_equal(self, votes, slope, offset, w):
        link = Link(slope, offset, (w, w))
        chances = link.probabilities(votes)
        assert chances.shape == votes.shape
        assert (chances > 0).all()
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert chances.argmax(axis=1).tolist() == link.choose(votes).tolist()

    @given(TWO, SLOPES, OFFSETS, WEIGHTS, WEIGHTS)
    def test_the_sign_of_the_decision_is_the_prediction_both_ways(self, votes, slope, offset, v, w):
        link = Link(slope, offset, (v, w))
        decision = link.decision(votes)
        assert np.isfinite(decision).all()
        assert ((decision > 0) == (link.choose(votes) == 1)).all()
        assert ((-decision > 0) == (link.choose(votes) == 0)).all()

    def test_ties_go_to_the_first_class_and_stand_between_the_votes_around_them(self):
        link = Link(1.0, 2.0, (1.0, 1.0))
        votes = np.array([[0, 1], [0, 2], [0, 3]])
        assert link.choose(votes).tolist() == [0, 0, 1]
        assert (np.diff(link.decision(votes)) > 0).all()

    def test_a_heavier_class_is_predicted_earlier(self):
        link = Link(0.5, 1.0, (1.0, math.e))
        assert link.threshold == pytest.approx(1 - 2)
        assert Link(0.5, 1.0, (math.e, 1.0)).threshold == pytest.approx(1 + 2)
        votes = np.array([[2, 0], [0, 0]])
        assert link.choose(votes).tolist() == [0, 1]
        heavier = link.probabilities(votes) * link.weights
        assert heavier.argmax(axis=1).tolist() == [0, 1]


class TestManyClasses:
    def test_probabilities_are_a_softmax_of_the_votes(self):
        votes = np.array([[1, -1, 3], [0, 0, 0]])
        odds = np.exp(0.5 * votes)
        expected = odds / odds.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(Link(0.5, 0.0, (1.0,) * 3).probabilities(votes), expected)

    @given(MANY, SLOPES, WEIGHTS)
    @example(np.array([[1, 2, 0]]), 1e-17, 0.1)
    def test_the_likeliest_class_is_predicted_if_weights_are_equal(self, votes, slope, weight):
        link = Link(slope, 0.0, (weight,) * votes.shape[1])
        chances = link.probabilities(votes)
        assert (chances > 0).all()
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert chances.argmax(axis=1).tolist() == votes.argmax(axis=1).tolist()
        assert link.choose(votes).tolist() == votes.argmax(axis=1).tolist()

    @given(MANY, SLOPES, WEIGHTS, WEIGHTS, st.data())
    def test_unheard_classes_are_never_predicted(self, votes, slope, v, w, data):
        n_classes = votes.shape[1]
        unheard = sorted(data.draw(st.sets(st.integers(0, n_classes - 1), max_size=n_classes - 1)))
        link = Link(slope, 0.0, (v,) * (n_classes - 1) + (w,))
        decision, chances = link.decision(votes, unheard), link.probabilities(votes, unheard)
        heard = [at for at in range(n_classes) if at not in unheard]
        assert np.isfinite(decision).all()
        assert (chances > 0).all()
        for scores in (decision, chances):
            for at in unheard:
                assert (scores[:, [at]] < scores[:, heard]).all()
        assert not set(link.choose(votes, unheard)) & set(unheard)

    @given(MANY, SLOPES, st.data())
    def test_unheard_classes_have_their_shares_whatever_the_votes(self, votes, slope, data):
        n_classes = votes.shape[1]
        n_unheard = data.draw(st.integers(1, n_classes - 1))
        unheard = data.draw(st.permutations(range(n_classes)))[:n_unheard]
        share = st.floats(1e-6, 1 / n_classes, exclude_max=True)
        shares = [data.draw(share) if at in unheard else 0.0 for at in range(n_classes)]
        link = Link(slope, 0.0, (1.0,) * n_classes, shares=tuple(shares))
        heard = [at for at in range(n_classes) if at not in unheard]
        chances = link.probabilities(votes, sorted(unheard))
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert (chances[:, sorted(unheard)] == [shares[at] for at in sorted(unheard)]).all()
        own = Link(slope, 0.0, (1.0,) * n_classes).probabilities(votes, sorted(unheard))
        own = own[:, heard] / own[:, heard].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(chances[:, heard], own * (1 - sum(shares)))
        assert (chances.argmax(axis=1) == link.choose(votes, unheard)).all()

    def test_weights_give_a_head_start_in_votes(self):
        link = Link(0.5, 0.0, (2.0, 2.0, 2.0 * math.e))
        assert link.head_starts == pytest.approx((0, 0, 2))
        assert link.decision(np.array([[1, 0, 0]]))[0] == pytest.approx([1, 0, 2])
        assert link.choose(np.array([[1, 0, 0], [3, 0, 0]])).tolist() == [2, 0]


def test_the_plain_slope_falls_with_the_root_of_the_rules_of_a_problem():
    assert Link.plain(16, (1.0, 1.0)) == Link(0.5, 0.0, (1.0, 1.0))
    assert Link.plain(48, (1.0, 1.0, 2.0)) == Link(0.5, 0.0, (1.0, 1.0, 2.0))
    assert Link.plain(2, (1.0, 1.0, 1.0)).slope == 2
    assert not Link.plain(1, (1.0, 1.0)).calibrated


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 0.0, (1.0, 1.0)), "slope > 0, got 0.0"),
        ((np.nan, 0.0, (1.0, 1.0)), "slope > 0, got nan"),
        ((np.inf, 0.0, (1.0, 1.0)), "slope > 0, got inf"),
        ((1.0, np.inf, (1.0, 1.0)), "offset to be a number, got inf"),
        ((1.0, 0.0, (1.0, 0.0)), "weights > 0, got 0.0"),
        ((1.0, 0.0, (1.0,)), "at least two classes, got 1"),
        ((1.0, 0.5, (1.0, 1.0, 1.0)), "offset 0 with 3 classes, got 0.5"),
        ((1.0, 0.0, (1.0,) * 3, True, (0.0, 0.0, 0.4)), "shares from 0 to less than 1/3, got 0.4"),
        ((1.0, 0.0, (1.0,) * 3, True, (0.0, 0.0, -0.1)), "shares from 0 to less than 1/3"),
        ((1.0, 0.0, (1.0,) * 3, True, (0.0, 0.1)), "each of more than two classes"),
        ((1.0, 0.0, (1.0, 1.0), True, (0.0, 0.1)), "each of more than two classes"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Link(*arguments)


def test_a_link_is_read_back_as_it_was_written():
    link = Link(0.3, -1.5, (1.0, 7.0), calibrated=True)
    assert Link.from_dict(link.to_dict(), 2) == link
    silent = Link(0.3, 0.0, (1.0,) * 3, shares=(0.0, 0.2, 0.125))
    assert Link.from_dict(silent.to_dict(), 3) == silent
    with pytest.raises(ValueError, match="shares are one number for each class"):
        Link.from_dict({**silent.to_dict(), "shares": []}, 3)
