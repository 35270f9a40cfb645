"""The engine that asks workers answers as the local one does, question by question."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from clusters import TWO, cluster, cut, fitted, people

from smoothboost.counting.engine import LocalEngine, Needs
from smoothboost.dask.cluster import spread
from smoothboost.dask.counters import Counters
from smoothboost.dask.engine import ClusterEngine
from smoothboost.dask.partitions import partitions_of
from smoothboost.dask.workers import Setting
from smoothboost.rules import Literal, LiteralRule
from smoothboost.table.coded import Table

RULES = [LiteralRule(Literal.at_most(0, at), 1, 0) for at in range(4)]
PAIRS = np.array([(0, 1), (2, 0)])


@pytest.fixture(scope="module")
def client():
    with cluster(2) as client:
        yield client


FRAME, LABELS = people(200)
SETTING = Setting(Needs(regions=True, pairs=True), n_problems=1, max_votes=9, n_threads=None)


@pytest.fixture
def rows(client):
    return spread(client, TWO, partitions_of(*cut(FRAME, LABELS, [10, 150])))


@pytest.fixture
def engines(rows):
    """Return an engine on the cluster, and a local one on the same rows."""
    there = ClusterEngine(Counters(rows, SETTING), 0)
    return there, LocalEngine(Table.from_frame(TWO, FRAME, LABELS), 9)


def assert_equal(there, here):
    weights = np.arange(here.level_counts().size).reshape(2, -1)
    region = ((Literal.at_most(0, 3), True), (Literal.equals(1, 1), False))
    assert there.n_rows == here.n_rows
    assert np.array_equal(there.level_counts(), here.level_counts())
    assert np.array_equal(there.code_sums(weights), here.code_sums(weights))
    assert np.array_equal(there.code_sums(weights, region), here.code_sums(weights, region))
    assert np.array_equal(there.pair_sums(weights, PAIRS), here.pair_sums(weights, PAIRS))


def test_every_answer_is_the_local_one(engines):
    there, here = engines
    assert_equal(there, here)
    for rules in (RULES[:1], RULES[1:3]):
        there.add_votes(*rules)
        here.add_votes(*rules)
        assert_equal(there, here)


def test_a_fork_votes_on_its_own(engines):
    there, here = engines
    there.add_votes(RULES[0])
    here.add_votes(RULES[0])
    forks = there.fork(), here.fork()
    for one, other in [(RULES[1], RULES[3]), (RULES[2], RULES[2])]:
        for engine in engines:
            engine.add_votes(one)
        for fork in forks:
            fork.add_votes(other)
        assert_equal(there, here)
        assert_equal(*forks)


def test_an_engine_anew_has_none_of_the_votes(engines):
    for engine in engines:
        engine.add_votes(*RULES[:2])
    assert_equal(*engines)
    fresh = tuple(engine.anew() for engine in engines)
    assert_equal(*fresh)
    assert fresh[0].level_counts().shape == (2, 1)
    for engine in fresh:
        engine.add_votes(RULES[3])
    assert_equal(*fresh)


def test_rows_that_change_their_number_end_a_fit(rows):
    there = ClusterEngine(Counters(replace(rows, n_rows=201), SETTING), 0)
    with pytest.raises(RuntimeError, match="Expected partitions that have the same rows whenever"):
        there.level_counts()


def test_counts_of_levels_may_be_changed_by_whoever_asked(engines):
    there, here = engines
    there.level_counts()[:] = 0
    assert_equal(there, here)


@pytest.mark.usefixtures("client")
def test_two_fits_at_once_do_not_disturb_each_other():
    frame, labels = people(300)
    X, y = cut(frame, labels, [100, 200])
    seeds = range(4)
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(lambda seed: fitted(X, y, random_state=seed), seeds))
    for seed, fit in zip(seeds, fits, strict=True):
        here = fitted(frame, labels, random_state=seed)
        assert fit.model_.to_json() == here.model_.to_json()
