"""A fitted estimator as plain data: what skops has to trust, and what pickles hold."""

from __future__ import annotations

import pickle
import pickletools

import pytest
import skops.io
from people import FRAME, LEARNERS, SCHEMA, fitted

from smoothboost import OneRule, Schema, SmoothBoostClassifier
from smoothboost.release.plain_state import from_plain, to_plain

ESTIMATOR = "smoothboost.classifier.SmoothBoostClassifier"


@pytest.mark.parametrize("learner", LEARNERS)
def test_skops_has_to_trust_the_estimator_and_nothing_else_of_ours(learner):
    estimator = fitted(learner=learner)
    data = skops.io.dumps(estimator)
    assert skops.io.get_untrusted_types(data=data) == [ESTIMATOR]
    again = skops.io.loads(data, trusted=[ESTIMATOR])
    assert again.model_ == estimator.model_
    assert again.privacy_ == estimator.privacy_
    assert again.get_params() == estimator.get_params()
    assert (again.predict(FRAME) == estimator.predict(FRAME)).all()
    assert (again.predict_proba(FRAME) == estimator.predict_proba(FRAME)).all()


def test_skops_refuses_what_is_not_trusted():
    data = skops.io.dumps(fitted())
    with pytest.raises(skops.io.exceptions.UntrustedTypesFoundException, match=ESTIMATOR):
        skops.io.loads(data, trusted=[])


def test_a_learner_that_was_passed_has_to_be_trusted_too():
    data = skops.io.dumps(SmoothBoostClassifier(schema=SCHEMA, learner=OneRule(literals="sets")))
    types = skops.io.get_untrusted_types(data=data)
    assert types == [ESTIMATOR, "smoothboost.learners.one_rule.OneRule"]
    assert skops.io.loads(data, trusted=types).learner == OneRule(literals="sets")


def test_a_pickle_names_no_other_class_of_ours():
    text = pickle.dumps(fitted(), protocol=0)
    named = {str(at) for op, at, _ in pickletools.genops(text) if op.name == "GLOBAL"}
    ours = {name for name in named if name.startswith("smoothboost")}
    assert ours == {"smoothboost.classifier SmoothBoostClassifier"}


def test_pickles_from_before_the_state_was_plain_are_read():
    estimator = fitted()
    again = SmoothBoostClassifier.__new__(SmoothBoostClassifier)
    again.__setstate__(dict(vars(estimator)))
    assert again.model_ is estimator.model_
    assert (again.predict(FRAME) == estimator.predict(FRAME)).all()


def test_a_schema_keeps_the_cuts_that_a_file_said():
    cuts = {"age": [float(at) for at in range(1, 10)]}
    schema = Schema(SCHEMA.columns, SCHEMA.target).with_cuts(cuts)
    assert schema != SCHEMA
    assert from_plain(to_plain(schema)) == schema
