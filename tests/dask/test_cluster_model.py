"""A cluster gives the local model, bit for bit, however rows are divided and whoever counts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from clusters import THREE, TWO, cluster, cut, fitted, people
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import MixedRule, OneRule, TopDown

N_ROWS = 300
MIXED = MixedRule(every=2)
LEARNERS = ["auto", "one_rule", "pair_rule", MIXED, TopDown(splits=2), OneRule("one_hot")]
CASES = st.tuples(st.sampled_from([TWO, THREE]), st.sampled_from(LEARNERS), st.integers(0, 2))
CUTS = st.lists(st.integers(0, N_ROWS), max_size=49)


@pytest.fixture(scope="module", params=[1, 2, 4])
def client(request):
    with cluster(request.param) as client:
        yield client


def options_of(schema, learner, seed):
    looks = {"calibrate": 0.2, "threshold": "balanced"}
    return {"schema": schema, "learner": learner, "random_state": seed, **looks}


@cache
def local_model(*case):
    return fitted(*people(N_ROWS, case[0]), **options_of(*case)).model_.to_json()


@settings(deadline=None, max_examples=5)
@given(CASES, CUTS, st.integers(0, 2**32 - 1))
def test_the_model_is_the_local_one_whatever_the_partitions(client, case, cuts, seed):
    frame, labels = people(N_ROWS, case[0])
    order = np.random.default_rng(seed).permutation(N_ROWS)
    X, y = cut(frame.iloc[order], labels[order], cuts)
    assert fitted(X, y, **options_of(*case)).model_.to_json() == local_model(*case)
