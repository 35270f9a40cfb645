"""Predictions for Dask collections: lazy, and what the local model predicts."""

from __future__ import annotations

import pickle

import dask.array as da
import numpy as np
import pytest
from clusters import THREE, TWO, cluster, cut, fitted, people
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from smoothboost.dask import SmoothBoostClassifier

METHODS = ["predict", "predict_proba", "decision_function"]
N_ROWS = 200


@pytest.fixture(scope="module")
def client():
    with cluster(2) as client:
        yield client


@pytest.fixture(scope="module", params=[TWO, THREE], ids=["two classes", "three classes"])
def case(request, client):
    frame, labels = people(N_ROWS, request.param)
    X, y = cut(frame, labels, [0, 50, 50, 120])
    return fitted(X, y, schema=request.param), X, y, frame, labels


@pytest.mark.parametrize("method", METHODS)
def test_partitions_of_a_frame_are_predicted_where_they_are(case, method):
    clf, X, _, frame, _ = case
    lazy, expected = getattr(clf, method)(X), getattr(clf, method)(frame)
    assert isinstance(lazy, da.Array)
    assert isinstance(expected, np.ndarray)
    assert lazy.npartitions == X.npartitions
    assert (lazy.ndim, lazy.dtype) == (expected.ndim, expected.dtype)
    assert np.array_equal(lazy.compute(), expected)


@pytest.mark.parametrize("method", METHODS)
def test_blocks_of_an_array_are_predicted_where_they_are(case, method):
    clf, _, _, frame, _ = case
    X = da.from_array(frame.to_numpy(), chunks=(70, 2))
    lazy, expected = getattr(clf, method)(X), getattr(clf, method)(frame)
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    assert np.array_equal(lazy.compute(), expected)


def test_arrays_are_fitted_by_position(case):
    clf, _, _, frame, labels = case
    X = da.from_array(frame.to_numpy(), chunks=(70, 2))
    by_position = fitted(X, da.from_array(labels, chunks=70), schema=clf.schema)
    assert by_position.model_.to_json() == clf.model_.to_json()
    assert not hasattr(by_position, "feature_names_in_")
    assert clf.feature_names_in_.tolist() == ["age", "colour", "member"]


def test_the_score_is_counted_by_partitions(case):
    clf, X, y, frame, labels = case
    assert clf.score(X, y) == clf.score(frame, labels) == np.mean(clf.predict(frame) == labels)
    with pytest.raises(ValueError, match="In partition 1: Expected every label"):
        clf.score(X, da.where(y == "no", "secret", y))
    with pytest.raises(ValueError, match="Expected no sample_weight"):
        clf.score(X, y, sample_weight=1)


def test_a_fitted_estimator_holds_nothing_of_the_cluster(case):
    clf, _, _, frame, _ = case
    again = pickle.loads(pickle.dumps(clf))
    assert np.array_equal(again.predict(frame), clf.predict(frame))
    assert clone(clf).get_params() == clf.get_params()


@pytest.mark.parametrize("method", METHODS)
def test_what_is_not_fitted_does_not_predict(method):
    X, _ = cut(*people(10), [])
    with pytest.raises(NotFittedError):
        getattr(SmoothBoostClassifier(schema=TWO), method)(X)
