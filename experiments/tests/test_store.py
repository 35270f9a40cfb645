"""Results are kept once, wholly, and by everything that they depend on."""

from __future__ import annotations

import sqlite3

import pytest

from experiments import methods
from experiments.fit import Fit
from experiments.store import Store


def test_a_result_is_kept_once(tmp_path):
    store = Store(tmp_path / "results.sqlite")
    store.put([("a", {"accuracy": 0.5}), ("b", {"rounds": [1, 2]})])
    store.put([("a", {"accuracy": 0.9})])
    assert store.get(["b", "a", "c"]) == {"a": {"accuracy": 0.5}, "b": {"rounds": [1, 2]}}
    rows = sqlite3.connect(tmp_path / "results.sqlite").execute("SELECT key FROM results")
    assert sorted(key for (key,) in rows) == ["a", "b"]


def test_results_survive_the_process(tmp_path):
    Store(tmp_path / "new" / "results.sqlite").put([("a", {"accuracy": 0.1 + 0.2})])
    again = Store(tmp_path / "new" / "results.sqlite")
    assert again.get(["a"]) == {"a": {"accuracy": 0.1 + 0.2}}


def test_a_batch_is_kept_wholly_or_not_at_all(tmp_path):
    store = Store(tmp_path / "results.sqlite")
    with pytest.raises(TypeError):
        store.put([("a", {"accuracy": 0.5}), ("b", {"not": object()})])
    assert store.get(["a", "b"]) == {}


def test_the_speed_is_that_of_the_largest_run(tmp_path):
    store = Store(tmp_path / "results.sqlite")
    assert store.times("grid") is None
    for n_fits, seconds in ((10, 5.0), (100, 2.0), (3, 9.0)):
        store.put_time("grid", n_fits, seconds, n_jobs=2)
    assert store.times("grid") == (100, 2.0, 2)


FIT = {"table": "adult", "method": "one_rule", "fold": 0, "epsilon": 1.0}


@pytest.mark.parametrize(
    "change",
    [
        {"table": "mushroom"},
        {"method": "top_down"},
        {"fold": 1},
        {"fold": None},
        {"repeat": 1},
        {"epsilon": 0.5},
        {"epsilon": None},
        {"delta": 1e-5},
        {"schema": "own"},
        {"options": {"n_rounds": 5}},
    ],
    ids=str,
)
def test_everything_that_matters_is_in_the_key_and_in_the_seed(change):
    one, other = Fit(**FIT), Fit(**FIT | change)
    assert methods.key(one) != methods.key(other)
    assert one.seed != other.seed


def test_the_order_of_options_does_not_matter():
    one = Fit(**FIT, options={"n_rounds": 5, "density": 0.5})
    other = Fit(**FIT, options={"density": 0.5, "n_rounds": 5})
    assert methods.key(one) == methods.key(other)


def test_code_changes_the_key_but_words_do_not():
    code = '"""Words."""\n\n\ndef f(x):\n    """More words."""\n    return x + 1  # and more\n'
    reworded = 'def f(x):\n    """Other words."""\n    return x + 1\n'
    assert methods._without_words(code) == methods._without_words(reworded)
    assert methods._without_words(code) != methods._without_words(code.replace("+ 1", "+ 2"))


def test_results_of_lazy_bb_and_of_peers_depend_on_different_code():
    lazy, peer = (methods.key(Fit(**FIT | {"method": name})) for name in ("one_rule", "dp_boost"))
    assert lazy.split()[0] != peer.split()[0]
