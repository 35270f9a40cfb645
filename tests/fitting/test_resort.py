"""Where noise hides what rules say: the largest of several classes, and the larger of two."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Numeric, OneRule, Schema, SmoothBoostClassifier
from smoothboost.fitting import automatic
from smoothboost.fitting.boost import Booster
from smoothboost.fitting.calibrating import LINK_RANGE, LOSS_BITS, LinkOptions
from smoothboost.fitting.noise import link_noise
from smoothboost.fitting.problems import engines_of
from smoothboost.learners.literals import Constraints
from smoothboost.learners.set_rule import SetRuleCandidates
from smoothboost.privacy.accountant import total_epsilon
from smoothboost.privacy.factored import FactoredExponential
from smoothboost.privacy.randomness import SeededBits
from smoothboost.settling import settle
from smoothboost.table.coded import Table

pytestmark = pytest.mark.filterwarnings(
    "ignore::smoothboost.SeededNoiseWarning",
    "ignore::smoothboost.BudgetTooSmallWarning",
    "ignore::smoothboost.WeakPrivacyWarning",
)
SHARES = (0.6, 0.3, 0.1)


def schema_of(n_classes=3, **options):
    columns = {f"x{at}": Numeric(0, 1, bins=16, missing=False) for at in range(3)}
    return Schema(columns, target=range(n_classes), **options)


def plan_of(n_rows=4000, rates=None, **options):
    schema = schema_of(base_rates=rates)
    return settle(SmoothBoostClassifier(schema, **options), schema, n_rows)[1]


def resort(n_classes=3, largest=0, heard=None):
    heard = tuple(range(n_classes)) if heard is None else heard
    constant = (largest, Fraction(1, 2), Fraction(1))
    return LinkOptions(9, n_classes, 1, True, heard, constant, plain=True)


class TestPlans:
    @pytest.mark.parametrize("delta", [0.0, 1e-5])
    def test_look_for_the_largest_class_only_where_a_look_at_links_would_not_pay(self, delta):
        small, large = (plan_of(epsilon=eps, delta=delta) for eps in (0.2, 20.0))
        assert small.plain_link
        assert not large.plain_link
        assert small.look("link").n_options == 1 + automatic.RESORT_TIMES
        assert large.look("link").n_options % 2 == 0  # links, and one class as often
        for plan in (small, large):
            assert total_epsilon(plan.spends, delta) <= float(plan.budget.epsilon) * (1 + 1e-12)

    def test_take_no_larger_share_than_noise_asks_for(self):
        shares = [plan_of(epsilon=eps).look("link").share for eps in (0.02, 0.2, 0.5, 1.0)]
        assert shares == sorted(shares, reverse=True)
        assert {shares[0], *shares} <= {*automatic.RESORT_SHARES, automatic.SHARES_PURE["link"]}
        assert len(set(shares)) > 1

    @pytest.mark.parametrize(
        "options",
        [
            {"rates": dict(enumerate(SHARES))},
            {"density": 0.3},
            {"calibrate": 0.1},
            {"threshold": "balanced"},
            {"threshold": {1: 3.0, 2: 5.0}},
        ],
        ids=["shares declared", "density given", "share of the look given", "balanced", "costs"],
    )
    def test_do_without_where_shares_were_not_looked_at_or_rows_that_are_right_are_not_all(
        self, options
    ):
        assert not plan_of(epsilon=0.2, **options).plain_link

    def test_say_what_the_look_is_for(self):
        assert "whether the rules beat naming the largest class" in " ".join(
            str(plan_of(epsilon=0.2)).split()
        )


@settings(deadline=None, max_examples=60)
@given(st.integers(3, 5), st.data())
def test_scores_count_the_rows_that_are_right(n_classes, data):
    """A naive twin: of the leaders among classes that rules speak of, and of the largest class."""
    largest = data.draw(st.integers(0, n_classes - 1))
    heard = tuple(sorted(data.draw(st.sets(st.integers(0, n_classes - 1), min_size=1))))
    row = st.tuples(
        st.lists(st.integers(-9, 9), min_size=n_classes, max_size=n_classes),
        st.integers(0, n_classes - 1),
    )
    rows = data.draw(st.lists(row, min_size=1, max_size=8))
    options = resort(n_classes, largest, heard)
    scores = options.lead_scores(
        np.array([votes for votes, _ in rows]), np.array([label for _, label in rows])
    )
    leaders = [max(heard, key=votes.__getitem__) for votes, _ in rows]
    right = sum(leader == label for leader, (_, label) in zip(leaders, rows, strict=True))
    named = sum(label == largest for _, label in rows)
    assert scores.tolist() == [
        count << LOSS_BITS for count in (right, *[named] * automatic.RESORT_TIMES)
    ]
    assert [options.is_constant(at) for at in range(len(options))] == [False, True, True, True]


def test_a_replaced_row_moves_the_scores_by_the_whole_range_and_no_further():
    options = resort()
    votes = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    each = np.array(
        [options.lead_scores(row[None], np.array([label])) for row in votes for label in range(3)]
    )
    changes = each[:, None] - each[None]
    assert np.ptp(changes, axis=2).max() == LINK_RANGE


def test_a_slope_that_was_not_chosen_is_not_called_chosen():
    links = [resort().link(index, (1.0,) * 3) for index in range(2)]
    assert [link.calibrated for link in links] == [False, True]  # the second by a released share
    assert links[0].slope == pytest.approx(2 / 3)


def accuracy_of_noise(seeds, **options):
    """Return how often fits are right of rows whose columns say nothing of their class."""
    rng = np.random.default_rng(0)
    X, y = rng.random((1500, 3)), rng.choice(3, size=1500, p=SHARES)
    found = []
    for seed in range(seeds):
        clf = SmoothBoostClassifier(schema_of(), random_state=seed, **options).fit(X, y)
        found.append(float((clf.predict(X) == y).mean()))
    return found, float((y == 0).mean())


@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 0.0), (0.2, 1e-5), (1.0, 0.0)])
def test_noise_alone_seldom_names_another_class_than_the_largest(epsilon, delta):
    found, largest = accuracy_of_noise(20, epsilon=epsilon, delta=delta)
    assert np.mean(found) > largest - 0.02


def booster_of_two(epsilon, signal):
    """Return a booster after its last round, of rows that differ by class as much as is said."""
    rng = np.random.default_rng(1)
    y = (rng.random(3000) < 0.25).astype(int)
    X = rng.random((3000, 3)) * (1 - signal * y[:, None])
    schema = Schema({f"x{at}": Numeric(0, 1, missing=False) for at in range(3)}, target=range(2))
    candidates, plan = settle(
        SmoothBoostClassifier(schema, epsilon=epsilon, delta=1e-5), schema, 3000
    )
    table = Table.from_frame(schema, X, y)
    booster = Booster(engines_of(table, candidates, plan.measure.n_rounds), candidates, plan)
    bits = SeededBits(0)
    while booster._kind != "link":
        booster.accept(booster.propose().sample(bits))
    return booster


@pytest.mark.parametrize(
    ("epsilon", "signal", "flat"), [(1.0, 0.0, True), (1.0, 1.0, False), (20.0, 0.0, False)]
)
def test_bold_links_compete_unless_noise_is_large_and_rules_tell_little(epsilon, signal, flat):
    booster = booster_of_two(epsilon, signal)
    assert booster._plan.look("link") is not None
    assert booster._links.flat == flat
    assert (link_noise(booster._plan) > automatic.LINK_NOISE_FLAT) == (epsilon == 1)


class TestConstants:
    @pytest.mark.parametrize("constants", [0.0, 0.25, 1.0])
    def test_are_as_likely_beforehand_as_is_said(self, constants):
        candidates = OneRule(literals="sets", constants=constants).compete(schema_of(2))
        assert isinstance(candidates, SetRuleCandidates)
        nothing = candidates.scores(np.zeros((candidates.layout.size, 2), dtype=np.int64))
        likely = FactoredExponential(nothing, Fraction(1)).probabilities()
        rules = [candidates[at] for at in range(len(candidates))]
        named = sum(p for p, rule in zip(likely, rules, strict=True) if rule.literal is None)
        copies = max(1, round(45 * constants))  # of 45 thresholds: three columns of 16 bins
        assert candidates.n_options == 2 * (45 + copies)
        assert named == pytest.approx(copies / (45 + copies))

    def test_are_more_likely_where_defaults_make_few_rules(self):
        few, many = (
            settle(SmoothBoostClassifier(schema_of(2), epsilon=eps), schema_of(2), 1000)[0][0]
            for eps in (0.2, 20.0)
        )
        plain = OneRule(literals="sets").compete(schema_of(2), Constraints())
        few_options, many_options = (each.choices[0].n_options for each in (few, many))
        assert few_options > plain.choices[0].n_options == many_options

    @pytest.mark.parametrize("wrong", [-0.1, 1.5, "many", None, True])
    def test_that_are_no_share_get_a_clear_error(self, wrong):
        with pytest.raises(ValueError, match=r"Expected constants in \[0, 1\], got"):
            OneRule(literals="sets", constants=wrong).compete(schema_of(2))

    def test_are_of_sets_alone(self):
        with pytest.raises(ValueError, match="Expected constants = 0 unless literals are"):
            OneRule(constants=0.5).compete(schema_of(2))


def test_trees_have_fewer_rounds_than_rules_where_nothing_is_noisy():
    trees, rules = (
        plan_of(n_rows=100_000, epsilon=None, learner=name) for name in ("top_down", "one_rule")
    )
    assert trees.n_votes <= rules.n_votes
    schema = schema_of(2)
    trees, rules = (
        settle(SmoothBoostClassifier(schema, epsilon=None, learner=name), schema, 100_000)[1]
        for name in ("top_down", "one_rule")
    )
    assert trees.n_rounds == automatic.TREE_VOTES < rules.n_rounds
