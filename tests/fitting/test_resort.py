"""Where noise hides what rules say: the largest of several classes, and the larger of two."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Numeric, OneRule, Schema, SmoothBoostClassifier
from smoothboost.counting import engine
from smoothboost.fitting import automatic
from smoothboost.fitting.boost import Booster
from smoothboost.fitting.calibrating import LINK_RANGE, LOSS_BITS, LinkOptions
from smoothboost.fitting.noise import head_start, link_noise
from smoothboost.fitting.problems import engines_of
from smoothboost.fitting.resort import HALVINGS, Resort
from smoothboost.learners.literals import Constraints
from smoothboost.learners.set_rule import SetRuleCandidates
from smoothboost.link import Link
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
            {"class_weight": {2: 5.0}},
        ],
        ids=["shares", "density", "share of the look", "balanced", "costs", "class weights"],
    )
    def test_do_without_where_shares_were_not_looked_at_or_rows_that_are_right_are_not_all(
        self, options
    ):
        assert not plan_of(epsilon=0.2, **options).plain_link

    def test_take_class_weights_that_are_all_the_same_for_none(self):
        assert plan_of(epsilon=0.2, class_weight={0: 5.0, 1: 5.0, 2: 5.0}).plain_link

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


@settings(deadline=None, max_examples=30)
@given(st.integers(3, 5), st.data())
def test_scores_of_several_classes_add_up_however_rows_are_divided(n_classes, data):
    largest, likely = data.draw(st.integers(0, n_classes - 1)), Fraction(2, 5)
    plain = data.draw(st.booleans())
    heard, constant = tuple(range(n_classes)), (largest, likely, Fraction(1))
    options = LinkOptions(9, n_classes, 1, True, heard, constant, plain=plain)
    row = st.lists(st.integers(-9, 9), min_size=n_classes, max_size=n_classes)
    votes = np.array(data.draw(st.lists(row, min_size=2, max_size=9)))
    labels = np.array(data.draw(st.lists(st.integers(0, n_classes - 1), min_size=9, max_size=9)))
    labels = labels[: len(votes)]
    at = data.draw(st.integers(0, len(votes)))
    parts = [
        options.lead_scores(votes[some], labels[some]) for some in (slice(at), slice(at, None))
    ]
    whole = options.lead_scores(votes, labels)
    assert np.array_equal(sum(parts), whole)
    ahead = options.with_head_start(whole, 7) - whole
    assert not ahead[: options.n_links].any()
    assert (ahead[options.n_links :] == 7 << (LOSS_BITS - (not plain))).all()


@pytest.mark.parametrize("epsilon", [0.3, 20.0])
def test_one_of_several_classes_has_its_head_start_once_however_rows_are_divided(
    monkeypatch, epsilon
):
    """A part of the rows may be empty in one table and not in its neighbour."""
    rng, found = np.random.default_rng(3), []
    rows, labels = rng.random((400, 3)), rng.choice(3, size=400, p=SHARES)
    candidates, plan = settle(SmoothBoostClassifier(schema_of(), epsilon=epsilon), schema_of(), 400)
    for many in (1 << 16, 7):
        monkeypatch.setattr(engine, "_MANY", many)
        table = Table.from_frame(schema_of(), rows, labels)
        booster = Booster(engines_of(table, candidates, plan.measure.n_rounds), candidates, plan)
        bits = SeededBits(0)
        while booster._kind != "link":
            booster.accept(booster.propose().sample(bits))
        found.append(booster._link_scores())
        likely = booster._links.constant[1]
        assert head_start(plan, 1 - likely) > 5
    assert np.array_equal(found[0], found[1])


@pytest.mark.parametrize(
    ("wrong", "most"), [(0, 0), (Fraction(1, 100), 10), (Fraction(9, 20), 200)]
)
def test_a_head_start_is_no_more_than_half_of_what_naming_a_class_gets_wrong(wrong, most):
    plan = two_classes(2000, epsilon=1.0, delta=1e-5)
    assert head_start(plan, Fraction(wrong)) <= most
    # Rules of classes that are alike cost nothing if they learn nothing.
    assert head_start(plan, Fraction(3, 10)) > head_start(plan, Fraction(4, 10)) > 0
    assert head_start(plan, Fraction(1, 2)) == 0
    # Of many classes each has few rows, and chance gives fewer of them.
    several = plan_of(n_rows=2000, epsilon=1.0, delta=1e-5)
    assert head_start(several, Fraction(9, 10)) < head_start(several, Fraction(1, 2))


@pytest.mark.parametrize(("rare", "named"), [(0.5, False), (0.25, True)])
def test_neither_of_two_classes_is_named_for_everybody_where_they_are_alike(rare, named):
    """Columns tell nothing: it costs nothing to follow the rules if there is no larger class."""
    rng, found = np.random.default_rng(0), []
    for seed in range(10):
        X, y = rng.random((3000, 3)), (rng.random(3000) < rare).astype(int)
        clf = SmoothBoostClassifier(schema_of(2), epsilon=0.5, delta=1e-5, random_state=seed)
        model = clf.fit(X, y).model_
        assert clf.plan(3000).look("rarer") is not None
        found.append(model.link.only_answer(len(model.rules)) is not None)
    assert sum(found) == 0 if not named else sum(found) >= 8


@pytest.mark.parametrize("n_rows", [60, 200])
@pytest.mark.parametrize("epsilon", [None, 300.0])
def test_rules_that_tell_all_of_few_rows_are_not_given_up(n_rows, epsilon):
    rng = np.random.default_rng(0)
    X, y = rng.random((n_rows, 3)), (np.arange(n_rows) < n_rows // 20).astype(int)
    X[:, 0] = np.where(y, 0.97, 0.9 * X[:, 0])
    clf = SmoothBoostClassifier(schema_of(2), epsilon=epsilon, n_rounds=5, random_state=0)
    assert (clf.fit(X, y).predict(X) == y).all()


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_a_rare_class_that_rounds_asked_about_keeps_its_links(epsilon):
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.05).astype(int)
    X = rng.random((20_000, 3)) * (1 - 0.5 * y[:, None])
    schema = schema_of(2, base_rates={0: 0.95, 1: 0.05})
    clf = SmoothBoostClassifier(schema, epsilon=epsilon, delta=1e-5, random_state=0).fit(X, y)
    chance = clf.predict_proba(X)[:, 1]
    assert chance.mean() == pytest.approx(0.05, abs=0.03)
    assert chance[y == 1].mean() > 2 * chance[y == 0].mean()
    assert abs(clf.model_.link.offset) < 255


@pytest.mark.parametrize(("epsilon", "signal"), [(1.0, 0.0), (1.0, 1.0), (20.0, 0.0), (20.0, 1.0)])
def test_rules_have_to_beat_the_larger_class_where_they_tell_little(epsilon, signal):
    booster = booster_of_two(epsilon, signal)
    assert booster._plan.look("link") is not None
    assert not booster._plan.plain_link
    assert isinstance(booster._links, Resort) == (signal == 0)
    assert (link_noise(booster._plan) > automatic.LINK_NOISE_FLAT) == (epsilon == 1)


def two_classes(n_rows, **options):
    schema = schema_of(2)
    return settle(SmoothBoostClassifier(schema, **options), schema, n_rows)[1]


class TestPlansOfTwoClasses:
    @pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-5), (0.6, 0.0)])
    def test_ask_whether_rules_beat_one_class_where_a_look_at_links_would_not_pay(
        self, epsilon, delta
    ):
        plan = two_classes(2000, epsilon=epsilon, delta=delta)
        assert plan.plain_link
        assert plan.look("link").n_options == 3
        assert link_noise(plan) <= automatic.RESORT_NOISE_TWO
        assert total_epsilon(plan.spends, delta) <= epsilon * (1 + 1e-12)
        without = two_classes(2000, epsilon=epsilon, delta=delta, calibrate=0)
        assert plan.n_rounds <= without.n_rounds
        assert plan.stages[0].rate < without.stages[0].rate
        assert not two_classes(2000, epsilon=20.0, delta=delta).plain_link

    @pytest.mark.parametrize(
        "options",
        [
            {"n_rounds": 1},
            {"density": 0.3},
            {"calibrate": 0},
            {"threshold": "balanced"},
            {"threshold": {0: 1.0, 1: 3.0}},
            {"calibration": "paper"},
            {"class_weight": {1: 3.0}},
            {"epsilon": None},
        ],
        ids=str,
    )
    def test_do_without_where_nothing_follows_or_rows_that_are_right_are_not_all(self, options):
        assert two_classes(2000, epsilon=0.3, delta=1e-5).plain_link
        assert not two_classes(2000, **{"epsilon": 0.3, "delta": 1e-5, **options}).plain_link

    def test_leave_an_exact_budget_to_the_rules_of_many_rows(self):
        plans = {n: two_classes(n, epsilon=1200 / n) for n in (2000, 200_000)}
        assert [plan.n_rounds for plan in plans.values()] == [3, 3]
        assert [plan.plain_link for plan in plans.values()] == [True, False]
        assert two_classes(200_000, epsilon=600 / 200_000, delta=1e-5).plain_link

    def test_have_as_many_rounds_as_without_the_look(self):
        for epsilon in (0.3, 0.5, 0.8):
            plan = two_classes(2000, epsilon=epsilon, delta=1e-5)
            assert plan.plain_link
            limit = automatic.NOISE_APPROXIMATE if plan.n_rounds > 3 else automatic.NOISE_FEW
            assert plan.noise * float(plan.measure.density) <= 1.1 * limit


Options = tuple[tuple[Fraction, int], ...]


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_resorts_of_two_classes_are_scored_by_the_rows_that_are_right(data):
    """A naive twin, row by row, in real numbers."""
    n_votes = data.draw(st.integers(1, 9))
    offset = data.draw(st.integers(-3, 3))
    several = data.draw(st.booleans())
    says: Options = tuple(
        (Fraction(1, 2 ** (at + 1)), offset) for at in range(HALVINGS if several else 1)
    )
    head_start = data.draw(st.integers(0, 5))
    resort = Resort(n_votes, says, data.draw(st.fractions(0, Fraction(9, 20))), head_start)
    votes = st.integers(0, n_votes).map(lambda for_it: 2 * for_it - n_votes)
    rows = data.draw(st.lists(st.tuples(votes, st.integers(0, 1)), min_size=1, max_size=8))
    counts = np.zeros((2, n_votes + 1), dtype=np.int64)
    for ahead, label in rows:  # ahead: votes for the second class, minus those for the first
        counts[label, (n_votes + (ahead if label else -ahead)) // 2] += 1
    assert len(resort) == 3 * len(says)
    for index, score in enumerate(resort.scores(counts).tolist()):
        link = resort.link(index, (1.0, 1.0))
        split = np.array([[0, ahead] for ahead, _ in rows])
        labels = np.array([label for _, label in rows])
        right = int((link.choose(split) == labels).sum())
        right += head_start * resort.is_constant(index)
        missed = 1 - link.probabilities(split)[np.arange(len(rows)), labels]
        expected = (right - (missed**2).sum()) / 2 if several else right
        assert score / (1 << LOSS_BITS) == pytest.approx(expected, abs=1e-4)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_a_replaced_row_moves_resorts_of_two_classes_by_the_range_at_most(data):
    n_votes = data.draw(st.integers(1, 99))
    halvings = data.draw(st.sampled_from([1, HALVINGS]))
    says: Options = tuple((Fraction(1, 2**at), 0) for at in range(halvings))
    share = data.draw(st.fractions(0, Fraction(9, 20)))
    resort = Resort(n_votes, says, share, data.draw(st.integers(0, 50)))
    counts = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, 9), min_size=n_votes + 1, max_size=n_votes + 1),
                min_size=2,
                max_size=2,
            )
        )
    )
    cell = st.tuples(st.integers(0, 1), st.integers(0, n_votes))
    old, new = data.draw(cell), data.draw(cell)
    before, after = counts.copy(), counts.copy()
    before[old] += 1
    after[new] += 1
    assert np.ptp(resort.scores(after) - resort.scores(before)) <= LINK_RANGE


def test_resorts_of_two_classes_name_one_for_everybody_and_rank_as_rules_do():
    votes = np.array([[0, at] for at in range(-9, 10)])
    resort = Resort(9, ((Fraction(1, 2), 0),), Fraction(1, 5), 0)
    assert [resort.is_constant(at) for at in range(3)] == [False, True, True]
    for index, named in ((1, 0), (2, 1)):
        link = resort.link(index, (1.0, 1.0))
        assert (link.choose(votes) == named).all()
        assert link.only_answer(9) == named
        assert (np.diff(link.decision(votes)) > 0).all()
        even = link.probabilities(np.array([[0, 0]]))[0]
        assert even[1 - named] == pytest.approx(1 / 5, abs=1e-3)
        assert link.calibrated
    assert not resort.link(0, (1.0, 1.0)).calibrated


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.5, 1e-5), (10.0, 1e-5)])
@pytest.mark.parametrize("rare", [0.3, 0.4])
def test_noise_alone_seldom_names_the_rarer_of_two_classes(epsilon, delta, rare):
    rng = np.random.default_rng(0)
    schema, found = schema_of(2), []
    for seed in range(20):
        X, y = rng.random((1500, 3)), (rng.random(1500) < rare).astype(int)
        clf = SmoothBoostClassifier(schema, epsilon=epsilon, delta=delta, random_state=seed)
        found.append(float((clf.fit(X, y).predict(rng.random((500, 3))) == 1).mean()))
    assert np.mean(found) < 0.02


@pytest.mark.parametrize("signal", [0.0, 0.3, 1.0])
def test_slopes_that_no_look_chose_follow_the_errors_that_were_released(signal):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 3000)
    X = rng.random((3000, 3)) * (1 - signal * y[:, None])
    clf = SmoothBoostClassifier(
        schema_of(2), epsilon=0.5, n_rounds=3, calibrate=0, random_state=0
    ).fit(X, y)
    link, plain = clf.model_.link, Link.plain(len(clf.model_.rules), (1.0, 1.0))
    (look,) = clf.model_.errors
    odds = np.log((1 - look.share) / look.share)
    follows = min(1.0, float(automatic.SURE) * odds / 2)
    assert not link.calibrated
    assert link.slope == pytest.approx(plain.slope * follows, abs=2e-3)
    assert (look.share < 0.2) == (signal == 1)
    assert (link.slope == plain.slope) == (signal == 1)


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
