"""Private boosted trees: the arithmetic, the budget, and which sensitivities hold."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

from experiments.baselines import DPBoost
from experiments.baselines.dp_boost import random_subsets, tree_budgets
from experiments.baselines.private_tree import (
    candidate_splits,
    gains,
    grow,
    leaf_sensitivity,
    leaf_values,
)
from experiments.tables import n_codes, split

SIZES = [4, 1, 3]


def squares(n_rows=3000, seed=0):
    """Return codes and labels where the class is an exclusive or: one split is not enough."""
    random = np.random.RandomState(seed)
    codes = np.stack([random.randint(size, size=n_rows) for size in SIZES], axis=1)
    return codes.astype(np.uint8), np.where((codes[:, 0] > 1) ^ (codes[:, 2] > 0), "yes", "no")


def model(**options):
    defaults = {"n_codes": SIZES, "epsilon": 5.0, "n_trees": 8, "trees_per_ensemble": 4, "depth": 3}
    return DPBoost(**defaults | {"random_state": 0} | options)


def naive_gains(codes, gradients, nodes, n_nodes, sizes, lam):
    """Return the gain of every candidate at every node, row by row."""
    table = []
    for node in range(n_nodes):
        line = []
        for column, size in enumerate(sizes):
            for cut in range(size - 1):
                sides = {True: [], False: []}
                for row, gradient, place in zip(codes, gradients, nodes, strict=True):
                    if place == node:
                        sides[bool(row[column] <= cut)].append(gradient)
                line.append(sum(sum(side) ** 2 / (len(side) + lam) for side in sides.values()))
        table.append(line)
    return np.array(table)


@pytest.mark.parametrize("n_rows", [0, 1, 60])
def test_gains_equal_their_naive_twin(n_rows):
    random = np.random.RandomState(n_rows)
    codes = squares(n_rows)[0]
    gradients = random.uniform(-1, 1, n_rows)
    nodes = random.randint(3, size=n_rows)  # of four: the last one is empty
    fast = gains(codes, gradients, nodes, 4, SIZES, 0.1)
    assert fast.shape == (4, 5)
    np.testing.assert_allclose(fast, naive_gains(codes, gradients, nodes, 4, SIZES, 0.1), atol=1e-9)


def test_candidates_are_all_cuts_of_all_columns():
    columns, cuts = candidate_splits(SIZES)
    assert list(zip(columns, cuts, strict=True)) == [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1)]


def test_leaf_values_by_hand():
    gradients, leaves = np.array([1.0, 1.0, -0.5, -1.0]), np.array([0, 0, 0, 2])
    np.testing.assert_allclose(
        leaf_values(gradients, leaves, 4, 0.1, 1.0), [-1.5 / 3.1, 0, 1 / 1.1, 0]
    )
    np.testing.assert_allclose(leaf_values(gradients, leaves, 4, 0.1, 0.3), [-0.3, 0, 0.3, 0])


def test_leaf_noise_follows_the_clip():
    assert leaf_sensitivity(0.1, 1.0) == pytest.approx(1 / 1.1)
    assert leaf_sensitivity(0.1, 0.01) == 0.02


def test_rows_with_large_gradients_skip_the_tree():
    codes, _ = squares(200)
    gradients = np.where(codes[:, 0] > 1, 0.5, -0.5)
    outliers = codes[:50], np.full(50, 1.5)
    options = {"depth": 2, "lam": 0.1, "clip": 1.0, "epsilon": 1e9}
    trees = [
        grow(*rows, SIZES, random=np.random.RandomState(0), **options)
        for rows in [
            (codes, gradients),
            (np.append(codes, outliers[0], 0), np.append(gradients, outliers[1])),
        ]
    ]
    np.testing.assert_array_equal(trees[0].values, trees[1].values)


def test_the_exponential_mechanism_has_its_probabilities():
    """One root split on a column of three codes: frequencies against exp(ε/(2·2·depth·3)·G)."""
    codes = np.repeat([0, 1, 2], [6, 3, 4])[:, None]
    gradients = np.repeat([1.0, -1.0, 0.5], [6, 3, 4])
    scores = gains(codes, gradients, np.zeros(13, dtype=int), 1, [3], 0.1)[0]
    random = np.random.RandomState(0)
    epsilon = 6.0
    options = {"depth": 1, "lam": 0.1, "clip": 1.0, "epsilon": epsilon, "random": random}
    cuts = [grow(codes, gradients, [3], **options).cuts[0][0] for _ in range(4000)]
    expected = 1 / (1 + np.exp((epsilon / 2) / 6 * (scores[1] - scores[0])))
    assert 0.05 < expected < 0.95
    assert np.mean(np.array(cuts) == 0) == pytest.approx(expected, abs=0.03)


def test_leaf_noise_has_its_scale():
    random = np.random.RandomState(0)
    options = {"depth": 10, "lam": 0.1, "clip": 1.0, "epsilon": 2.0, "random": random}
    values = grow(np.zeros((0, 1), dtype=int), np.zeros(0), [2], **options).values
    assert np.abs(values).mean() == pytest.approx((1 / 1.1) / 1.0, rel=0.1)


@pytest.mark.parametrize(("n_trees", "per_ensemble"), [(50, 50), (8, 4), (7, 3), (3, 1), (2, 50)])
def test_what_is_spent_is_epsilon(n_trees, per_ensemble):
    budgets = tree_budgets(5.0, n_trees, per_ensemble)
    ensembles = [budgets[at : at + per_ensemble] for at in range(0, n_trees, per_ensemble)]
    assert len(budgets) == n_trees
    assert sum(max(ensemble) for ensemble in ensembles) == pytest.approx(5.0)


def test_subsets_are_disjoint_cover_all_rows_and_shrink():
    subsets = random_subsets(10_000, 20, 0.1, np.random.RandomState(0))
    assert sorted(np.concatenate(subsets)) == list(range(10_000))
    sizes = np.array([len(subset) for subset in subsets])
    shares = 0.1 * 0.9 ** np.arange(20)
    np.testing.assert_allclose(sizes, 10_000 * shares / shares.sum(), atol=1)


def test_trees_use_their_subsets_budgets_and_gradients(monkeypatch):
    codes, y = squares(500)
    calls, trees = [], []

    def spy(rows, gradients, sizes, **options):
        calls.append((len(rows), options["epsilon"], options["clip"]))
        score = 0.1 * sum((tree.predict(rows) for tree in trees), np.zeros(len(rows)))
        np.testing.assert_allclose(np.abs(gradients - score), 1)  # g = score - label
        trees.append(grow(rows, gradients, sizes, **options))
        return trees[-1]

    monkeypatch.setattr("experiments.baselines.dp_boost.grow", spy)
    model(n_trees=6, trees_per_ensemble=3, epsilon=4.0).fit(codes, y)
    sizes, budgets, clips = zip(*calls, strict=True)
    assert sum(sizes[:3]) == sum(sizes[3:]) == 500
    assert set(budgets) == {2.0}
    np.testing.assert_allclose(clips, 0.9 ** np.arange(6))


# Which sensitivities hold. The gain of a side depends on its number of rows k and its sum S, which
# for gradients in [-1, 1] is any number in [-k, k]; changes are largest at the ends or where the
# convex square turns, so a grid with the ends in it finds the worst.

LARGEST = 40


def sums(count):
    return np.linspace(-count, count, 8 * count + 1)


def side(count, total, lam):
    return total**2 / (count + lam)


def leaf(count, total, lam):
    return -total / (count + lam)


def worst_add(value, lam, largest=LARGEST):
    """Return the largest change of a side or a leaf when one gradient comes, or goes."""
    return max(
        np.abs(value(k + 1, sums(k) + g, lam) - value(k, sums(k), lam)).max()
        for k, g in product(range(largest + 1), np.linspace(-1, 1, 9))
    )


def worst_replace(value, lam, largest=LARGEST):
    """Return the largest change when one of k gradients is replaced, on the same side."""
    return max(
        np.abs(value(k, sums(k - 1) + new, lam) - value(k, sums(k - 1) + old, lam)).max()
        for k, old, new in product(range(1, largest + 1), np.linspace(-1, 1, 5), [-1.0, 1.0])
    )


@pytest.mark.parametrize("lam", [0.01, 0.1, 1.0, 10.0])
def test_published_sensitivities_hold_for_adding_or_removing_a_row(lam):
    assert worst_add(side, lam) < 3
    assert worst_add(leaf, lam) <= 1 / (1 + lam) + 1e-12


def test_published_sensitivities_are_approached():
    assert worst_add(side, 0.1, largest=400) > 2.97
    assert worst_add(leaf, 0.1) == pytest.approx(1 / 1.1)


def test_published_sensitivities_fail_for_replacing_a_row():
    """Five gradients 1, one of which turns into -1; and a leaf of the single gradient 1."""
    assert abs(side(5, 3.0, 0.1) - side(5, 5.0, 0.1)) == pytest.approx(16 / 5.1)
    assert 16 / 5.1 > 3
    assert worst_replace(side, 0.1) > 3.8
    assert abs(leaf(1, -1.0, 0.1) - leaf(1, 1.0, 0.1)) == pytest.approx(2 / 1.1)


@pytest.mark.parametrize("lam", [0.01, 0.1, 1.0])
def test_replacing_costs_at_most_twice_the_published_sensitivity(lam):
    assert worst_replace(side, lam) <= 4
    assert worst_replace(leaf, lam) <= 2 / (1 + lam) + 1e-12
    # from one side to the other: a side loses a gradient, and the other gets one
    assert 2 * worst_add(side, lam) <= 6


def test_the_search_speaks_of_the_gains_that_are_used():
    """Real tables, all candidates at once: up to four rows of two codes, gradients ±1, ±1/2."""
    rows = list(product([0, 1], [-1.0, -0.5, 0.5, 1.0]))
    added = replaced = 0.0

    def gain(table):
        codes = np.array([[code] for code, _ in table], dtype=int).reshape(-1, 1)
        gradients = np.array([gradient for _, gradient in table])
        return gains(codes, gradients, np.zeros(len(table), dtype=int), 1, [2], 0.1)[0, 0]

    for size in range(4):
        for table in product(rows, repeat=size):
            if list(table) != sorted(table):
                continue
            values = [gain([*table, row]) for row in rows]
            added = max(added, *(abs(value - gain(table)) for value in values))
            replaced = max(replaced, max(values) - min(values))
    assert added < 3
    assert added < replaced < 4


# The estimator.


def test_accuracy_goes_from_chance_to_separable():
    codes, y = squares()
    good = model(epsilon=1e6).fit(codes, y)
    assert good.score(codes, y) > 0.99
    assert list(good.classes_) == ["no", "yes"]
    poor = [model(epsilon=1e-4, random_state=s).fit(codes, y).score(codes, y) for s in range(30)]
    assert 0.35 < np.mean(poor) < 0.65


def test_the_score_is_what_was_boosted():
    codes, y = squares(400)
    fitted = model().fit(codes, y)
    by_hand = np.zeros(400)
    for tree in fitted.trees_:
        for row, code in enumerate(codes):
            node = 0
            for columns, cuts in zip(tree.columns, tree.cuts, strict=True):
                node = 2 * node + int(code[columns[node]] > cuts[node])
            by_hand[row] += 0.1 * tree.values[node]
    np.testing.assert_allclose(fitted.decision_function(codes), by_hand)
    np.testing.assert_array_equal(fitted.predict(codes) == "yes", by_hand > 0)


def test_the_seed_decides_subsets_and_noise():
    codes, y = squares(400)
    base = model()
    first = base.fit(codes, y).decision_function(codes)
    np.testing.assert_array_equal(first, clone(base).fit(codes, y).decision_function(codes))
    other = clone(base).set_params(random_state=1).fit(codes, y).decision_function(codes)
    assert not np.allclose(first, other)
    assert clone(base).get_params() == base.get_params()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0}, "Expected epsilon > 0, got 0."),
        ({"learning_rate": 1.0}, r"Expected learning_rate in \(0, 1\), got 1.0."),
        ({"lam": 0}, "Expected lam > 0, got 0."),
        ({"n_trees": 0}, "Expected n_trees to be a whole number >= 1, got 0."),
        ({"trees_per_ensemble": 0}, "Expected trees_per_ensemble to be a whole number >= 1"),
        ({"depth": 17}, "Expected depth to be a whole number from 1 to 16, got 17."),
        ({"n_codes": None}, "Expected n_codes to be the number of codes per column, got None."),
        ({"n_codes": [2, 0]}, "Expected each of n_codes to be a whole number >= 1, got 0."),
        ({"n_codes": [1, 1]}, "Expected a column with two codes or more in n_codes, got none."),
    ],
)
def test_bad_declarations_are_refused_before_the_data(options, message):
    with pytest.raises(ValueError, match=message):
        model(**options).fit(None, None)


def test_bad_data_is_refused():
    codes, y = squares(50)
    with pytest.raises(ValueError, match="Expected 3 columns, got 2"):
        model().fit(codes[:, :2], y)
    with pytest.raises(ValueError, match="Expected whole numbers as codes, got float64"):
        model().fit(codes.astype(float), y)
    with pytest.raises(ValueError, match="Expected codes from 0 to n_codes - 1, got one outside"):
        model(n_codes=[3, 1, 3]).fit(codes, y)
    fitted = model().fit(codes, y)
    with pytest.raises(ValueError, match="Expected codes from 0 to n_codes - 1, got one outside"):
        fitted.predict(codes + np.uint8(1))


def mean_on_adult(schema, **options):
    rows = split("adult", schema, None)
    scores = [
        DPBoost(n_codes(rows.train), random_state=seed, **options)
        .fit(rows.train.codes.T, rows.train.labels)
        .score(rows.test.codes.T, rows.test.labels)
        for seed in range(5)
    ]
    return np.mean(scores)


def test_adult_without_noise_beats_the_majority(majority):
    """Measured 0.838 over three seeds: trees, filtering, clipping and subsets work."""
    assert mean_on_adult("paper", epsilon=1e7) > majority + 0.06


def test_adult_beats_the_majority(majority):
    """Measured at ε = 5 over seeds 0 to 9: 0.822 ± 0.019 with Adult's own public bins.

    With the paper's ten equal bins a number, which put most of capital-gain into one, it is
    0.787 ± 0.036.
    """
    assert mean_on_adult("own", epsilon=5.0) > majority + 0.03
