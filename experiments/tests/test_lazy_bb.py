"""The experiments fit what the estimator fits, and measure what they say."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from experiments import lazy_bb, methods, printed, tables
from experiments.fit import Fit
from experiments.selection import as_published
from smoothboost import OneRule, SmoothBoostClassifier, TopDown

pytestmark = [
    pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning"),
    pytest.mark.filterwarnings("ignore::smoothboost.BudgetTooSmallWarning"),
]
SETTING = (0.35, 0.45, 9)


@pytest.mark.parametrize(
    ("method", "learner", "fold"),
    [
        ("one_rule", OneRule(literals="one_hot"), None),
        ("one_rule", OneRule(literals="one_hot"), 2),
        ("top_down", TopDown(splits=3, literals="one_hot"), None),
    ],
    ids=str,
)
def test_a_published_fit_is_the_estimators(method, learner, fold, folder):
    fit = Fit("adult", method, fold, 3, 1.0, options=as_published(method, SETTING))
    data = tables.loaded("adult")
    train, test = np.arange(len(data.target)), None
    if fold is not None:
        train, test = fold_of(len(data.target), fold)
    density, rate, rounds = SETTING
    estimator = SmoothBoostClassifier(
        schema=data.paper_schema,
        epsilon=1.0,
        learner=learner,
        density=density,
        learning_rate=rate,
        n_rounds=rounds,
        calibration="paper",
        random_state=fit.seed,
    ).fit(data.data.iloc[train], data.target[train])
    assert lazy_bb.rules_of(fit) == estimator.model_.rules
    expected = (
        estimator.score(data.test_data, data.test_target)
        if test is None
        else estimator.score(data.data.iloc[test], data.target[test])
    )
    result = methods.run(fit)
    assert result["accuracy"] == expected
    assert result["rounds"] == rounds
    assert result["features"] == sum(lits for _, lits in estimator.model_.use_counts().values())


def fold_of(n_rows: int, fold: int):
    from sklearn.model_selection import KFold

    return list(KFold(5, shuffle=True, random_state=0).split(np.empty(n_rows)))[fold]


def test_the_first_automatic_rule_is_the_estimator_with_its_numbers_given(folder):
    _, plan = lazy_bb.prepare(Fit("mushroom", "one_rule", 0, 0, 0.5, schema="own"))
    options = {
        "n_rounds": plan.n_rounds,
        "density": float(plan.measure.density),
        "learning_rate": float(plan.measure.learning_rate),
    }
    fit = Fit("mushroom", "one_rule", 0, 0, 0.5, schema="own", options=options)
    data = tables.loaded("mushroom")
    train, test = fold_of(len(data.target), 0)
    estimator = SmoothBoostClassifier(
        schema=data.schema,
        epsilon=0.5,
        learner="one_rule",
        calibrate=0,
        random_state=fit.seed,
        **options,
    ).fit(data.data.iloc[train], data.target[train])
    assert lazy_bb.rules_of(fit) == estimator.model_.rules
    assert methods.run(fit)["accuracy"] == estimator.score(data.data.iloc[test], data.target[test])


def test_a_trace_is_the_same_fit_with_its_advantages(folder):
    options = as_published("one_rule", SETTING)
    fit = Fit("mushroom", "one_rule_trace", 0, 0, 1.0, options=options)
    trace = methods.run(fit)
    rules = lazy_bb.rules_of(fit)
    assert len(trace["chosen"]) == len(trace["best"]) == len(rules)
    assert all(chosen <= best for chosen, best in zip(trace["chosen"], trace["best"], strict=True))
    # Before the first round all rows weigh the same.
    train = fit.rows.train
    assert trace["chosen"][0] == pytest.approx(
        (rules[0].predict(train.codes) == train.labels).mean() - 0.5, abs=1e-3
    )
    votes = sum((rule.predict(train.codes) == train.labels).astype(int) for rule in rules)
    assert trace["rows_by_right_votes"] == np.bincount(votes, minlength=len(rules) + 1).tolist()


def test_without_noise_the_best_rule_is_chosen(folder):
    options = as_published("one_rule", SETTING)
    trace = methods.run(Fit("mushroom", "one_rule_trace", 0, options=options))
    assert trace["chosen"] == trace["best"]


def test_rademacher_is_the_best_correlation_with_random_signs(folder):
    fit = Fit("mushroom", "rademacher", 0, 5)
    train = fit.rows.train
    signs = np.random.default_rng(fit.seed).choice([-1, 1], size=train.n_rows)
    features = 2 * tables.one_hot(train) - 1
    naive = max(abs(signs.mean()), np.abs(signs @ features).max() / train.n_rows)
    assert methods.run(fit)["complexity"] == pytest.approx(naive, rel=1e-12)


def test_one_hot_features_are_the_papers(folder):
    for name, expected in printed.N_FEATURES.items():
        table = tables.encoded(name, "paper", test=False)
        features = tables.one_hot(table)
        assert features.shape == (table.n_rows, expected)
        assert (features.sum(axis=1) == len(table.codes)).all()


def test_folds_part_the_rows(folder):
    splits = [tables.split("mushroom", "paper", fold) for fold in range(tables.N_FOLDS)]
    assert sum(split.test.n_rows for split in splits) == 8_124
    assert all(split.train.n_rows + split.test.n_rows == 8_124 for split in splits)


def test_a_table_without_test_rows_says_so(folder):
    with pytest.raises(ValueError, match="Expected a fold to test on: Mushroom has no test rows"):
        tables.split("mushroom", "paper", None)


def test_the_printed_grid_has_as_many_settings_as_the_paper():
    grid = printed.GRIDS["one_rule"].values()
    assert len(list(product(*grid))) * tables.N_FOLDS * len(printed.EPSILONS) == 35_035


@pytest.mark.parametrize("name", tables.TITLES)
def test_what_the_paper_selected_lies_on_its_grid(name):
    grid = printed.GRIDS["one_rule"]
    for density, rate, rounds in printed.SELECTED[name].values():
        assert density in grid["density"]
        assert rate in grid["learning_rate"]
        assert rounds in grid["n_rounds"]
