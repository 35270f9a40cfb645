from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from smoothboost import (
    Boolean,
    Categorical,
    MixedRule,
    Numeric,
    OneRule,
    PairRule,
    Schema,
    SmoothBoostClassifier,
    TopDown,
)
from smoothboost.counting.count_table import CountTable
from smoothboost.counting.engine import LocalEngine, Needs
from smoothboost.fitting.problems import (
    candidates_of,
    engines_of,
    make_engine,
    supposed_shares,
)
from smoothboost.learners.literals import Constraints
from smoothboost.table.coded import Table
from smoothboost.table.columns import Column

COLUMNS: dict[str, Column] = {
    "n": Numeric(edges=[1, 2, 3], missing=False),
    "m": Numeric(edges=[1, 2], missing=True),
    "c": Categorical(list("wxyz"), other=False, missing=False),
    "b": Boolean(missing=False),
}


def schema_of(n_classes, **options):
    return Schema(COLUMNS, target=list(range(n_classes)), **options)


def make_table(n_classes, n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    schema = schema_of(n_classes)
    sizes = [column.n_codes for column in schema.columns.values()]
    codes = np.stack([rng.integers(size, size=n_rows).astype(np.uint8) for size in sizes])
    return Table(schema, codes, rng.integers(n_classes, size=n_rows).astype(np.uint8))


def rules_of(candidates):
    return [candidates[at] for at in range(len(candidates))]


# Candidates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "learner", [OneRule(), OneRule("one_hot"), OneRule("sets"), PairRule(), TopDown()], ids=str
)
def test_two_classes_are_one_problem_with_the_learners_own_rules(learner):
    (only,) = candidates_of(learner, schema_of(2), Constraints())
    assert only is learner.compete(schema_of(2), Constraints())


@pytest.mark.parametrize("n_classes", [3, 4, 10])
@pytest.mark.parametrize("learner", [OneRule(), OneRule("sets"), PairRule()], ids=str)
def test_more_classes_are_one_problem_each_with_the_rules_of_two(learner, n_classes):
    candidates: Any = candidates_of(learner, schema_of(n_classes), Constraints())
    expected = learner.compete(schema_of(2), Constraints())
    assert len(candidates) == n_classes
    for each in candidates:
        assert len(each) == len(expected)
        assert each[0] == expected[0]
        assert {rule.if_true for rule in rules_of(each) if hasattr(rule, "if_true")} == {0, 1}


@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_columns_bind_the_first_and_the_last_class_and_bar_the_others(sign):
    bound = Constraints(frozenset({"b"}), frozenset({("n", sign)}))
    first, *middle, last = candidates_of(OneRule(), schema_of(5), bound)
    alone = schema_of(2)
    away = Constraints(bound.forbidden, frozenset({("n", -sign)}))
    barred = Constraints(frozenset({"b", "n"}))
    assert rules_of(last) == rules_of(OneRule().compete(alone, bound))
    assert rules_of(first) == rules_of(OneRule().compete(alone, away))
    assert rules_of(first) != rules_of(last)
    for each in middle:
        assert rules_of(each) == rules_of(OneRule().compete(alone, barred))


def test_constraints_are_checked_before_problems_are_made():
    with pytest.raises(ValueError, match="numeric or Boolean, got 'c'"):
        candidates_of(OneRule(), schema_of(4), Constraints(monotone=frozenset({("c", 1)})))
    with pytest.raises(ValueError, match="declared columns, got 'age'"):
        candidates_of(OneRule(), schema_of(4), Constraints(frozenset({"age"})))


def ordered_frame(n_rows, rng):
    """Three classes of which later ones are likelier as n grows, but noisily and with a dent."""
    n = rng.uniform(0, 4, n_rows)
    c = rng.integers(4, size=n_rows)
    b = rng.integers(2, size=n_rows)
    dented = np.where((n > 1) & (n < 2), 3.5, n)  # the second bin looks like the last
    points = dented + (c == 1) + rng.normal(0, 1, n_rows)
    labels = np.digitize(points, [1.2, 2.8])
    frame = pd.DataFrame({"n": n, "m": rng.uniform(0, 3, n_rows), "c": c, "b": b})
    frame["c"] = frame["c"].map(dict(enumerate("wxyz")))
    return frame, labels


def every_row():
    """All combinations of cells, the column n growing fastest."""
    n, m, c, b = np.meshgrid(
        [0.5, 1.5, 2.5, 3.5], [0.5, 1.5, 2.5], np.arange(4), [0, 1], indexing="ij"
    )
    frame = pd.DataFrame({"n": n.ravel(), "m": m.ravel(), "c": c.ravel(), "b": b.ravel()})
    frame["c"] = frame["c"].map(dict(enumerate("wxyz")))
    return frame


@pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")
@pytest.mark.parametrize("learner", ["auto", "one_rule", "pair_rule"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("epsilon", [1.0, None])
def test_as_a_monotone_value_grows_no_prediction_moves_to_an_earlier_class(learner, sign, epsilon):
    moved = 0
    for seed in range(4):
        frame, labels = ordered_frame(1500, np.random.default_rng(seed))
        clf = SmoothBoostClassifier(
            schema_of(3),
            epsilon=epsilon,
            learner=learner,
            n_rounds=21,
            monotone_columns={"n": sign},
            random_state=seed,
        ).fit(frame, labels if sign > 0 else 2 - labels)
        predicted = clf.predict(every_row()).reshape(4, -1)
        assert (sign * np.diff(predicted, axis=0) >= 0).all()
        moved += int(np.ptp(predicted, axis=0).any())
    assert moved  # it is not that the column was ignored


def test_without_the_constraint_the_dent_shows():
    """The test above can fail."""
    frame, labels = ordered_frame(1500, np.random.default_rng(0))
    clf = SmoothBoostClassifier(schema_of(3), epsilon=None, learner="pair_rule", n_rounds=21)
    predicted = clf.fit(frame, labels).predict(every_row()).reshape(4, -1)
    assert (np.diff(predicted, axis=0) < 0).any()


# Engines --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_classes", [3, 10])
@pytest.mark.parametrize(
    ("learner", "kind"), [(OneRule("sets"), CountTable), (PairRule(), LocalEngine)], ids=str
)
def test_engines_share_codes_and_ask_about_one_class_each(learner, kind, n_classes, n_threads):
    table = make_table(n_classes)
    candidates = candidates_of(learner, table.schema, Constraints())
    engines: Any = engines_of(table, candidates, 5, n_threads)
    assert [type(engine) for engine in engines] == [kind] * n_classes
    assert len({id(engine._rows.codes) for engine in engines}) == 1
    for at, engine in enumerate(engines):
        inside = int((table.labels == at).sum())
        assert engine.level_counts().tolist() == [[table.n_rows - inside], [inside]]
        assert np.array_equal(engine.margins(0, table.n_rows)[1], table.labels == at)


def test_two_classes_have_one_engine_with_the_tables_own_labels():
    table = make_table(2)
    (engine,) = engines_of(table, candidates_of(OneRule(), table.schema, Constraints()), 5)
    assert np.array_equal(engine.level_counts()[:, 0], np.bincount(table.labels))


def test_an_engine_for_pairs_serves_problems_that_are_left_with_1_rules():
    """The middle class may not test the monotone column: one literal is left to it."""
    schema = Schema(
        {"n": Numeric(edges=[1, 2], missing=False), "b": Boolean(missing=False)}, target=[0, 1, 2]
    )
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(3, size=90), rng.integers(2, size=90)]).astype(np.uint8)
    table = Table(schema, codes, rng.integers(3, size=90).astype(np.uint8))
    candidates = candidates_of(PairRule(), schema, Constraints(monotone=frozenset({("n", 1)})))
    assert [each.needs.pairs for each in candidates] == [True, False, True]
    for engine, each in zip(engines_of(table, candidates, 3), candidates, strict=True):
        assert type(engine) is LocalEngine
        scores = each.start(engine, np.full((2, 1), 1000)).scores
        assert (scores.flat() if each.needs.pairs else scores).max() >= 30_000


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_factory_can_be_handed_another_engine(n_classes):
    """It is told what all problems together need."""
    table = make_table(n_classes)
    told = []

    def make(table, needs, max_votes, n_threads):
        told.append((needs, max_votes, n_threads))
        return LocalEngine(table, max_votes, n_threads)

    candidates = candidates_of(OneRule(), table.schema, Constraints())
    engines = engines_of(table, candidates, 5, 2, make)
    assert {type(engine) for engine in engines} == {LocalEngine}
    assert told == [(Needs(), 5, 2)]


def test_needs_add_up():
    assert Needs() | Needs() == Needs()
    assert Needs(pairs=True) | Needs(regions=True) == Needs(regions=True, pairs=True)


def test_a_schema_for_one_class_has_the_same_columns_and_two_classes():
    for at in range(3):
        alone = schema_of(3).for_class(at)
        assert alone.columns == COLUMNS
        assert len(alone.target) == 2


# What is supposed before the first look -------------------------------------------------------


@pytest.mark.parametrize(
    ("n_classes", "rates", "expected"),
    [
        (2, None, ["1/2"]),
        (2, [0.25, 0.75], ["1/4"]),
        (2, [0.9, 0.1], ["1/10"]),
        (3, None, ["1/3"] * 3),
        (10, None, ["1/10"] * 10),
        (3, [0.7, 0.2, 0.1], ["7/10", "1/5", "1/10"]),
    ],
)
def test_supposed_shares_are_declared_or_all_alike(n_classes, rates, expected):
    declared = None if rates is None else dict(enumerate(rates))
    schema = schema_of(n_classes, base_rates=declared)
    assert supposed_shares(schema) == tuple(map(Fraction, expected))


@pytest.mark.parametrize(
    ("learner", "n_rows", "engine"),
    [
        (OneRule(), 50, CountTable),
        (OneRule("sets"), 50, CountTable),
        (OneRule("sets", cuts=3), 50, CountTable),
        (OneRule("sets", cuts=3), 100_000, CountTable),
        (PairRule(), 50, LocalEngine),
        (MixedRule(), 50, CountTable),  # most rounds ask for sums by code only
        (TopDown(), 50, CountTable),
    ],
    ids=str,
)
def test_the_engine_is_chosen_by_what_candidates_ask_for(learner, n_rows, engine):
    schema = Schema(
        {"a": Numeric(low=0, high=9, bins=9, missing=False), "b": Boolean(missing=False)},
        target=[0, 1],
    )
    table = Table(schema, np.zeros((2, n_rows), np.uint8), np.zeros(n_rows, np.uint8))
    assert type(make_engine(table, learner.compete(schema).needs, 3)) is engine
