"""Models are read back as they were written, and nothing else is read."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from hashlib import sha256

import numpy as np
import published
import pytest
from example_models import ABOUT, EXAMPLE, MIXED, N_CODES, SPENT, TREE
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import FRAME, SCHEMA, THREE, model
from trees import literals
from trees import rules as any_rules

from smoothboost import Model, Numeric, Schema
from smoothboost.link import Link
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.release.model import ErrorLook
from smoothboost.rules import Literal, LiteralRule


class TestJson:
    @pytest.mark.parametrize("released", [EXAMPLE, ABOUT], ids=["two", "three"])
    def test_round_trip_loses_nothing(self, released):
        again = Model.from_json(released.to_json())
        assert again == released
        assert again.to_json() == released.to_json()

    def test_holds_what_was_released_and_nothing_else(self):
        document = json.loads(EXAMPLE.to_json())
        assert set(document) == {
            "format", "version", "guarantee", "rules", "cuts", "schema", "link", "errors"
        }  # fmt: skip
        assert document["rules"] == [
            {"column": "age", "codes": [0, 2], "if_true": 0, "if_false": 1},
            {"column": "colour", "in": [0, 2], "if_true": 1, "if_false": 0},
            {"column": "member", "codes": [1, 2], "if_true": 1, "if_false": 0},
            {"always": 0},
        ]
        assert document["link"] == {
            "slope": 0.75, "offset": 1.5, "weights": [1.0, 2.0], "calibrated": True
        }  # fmt: skip
        assert document["errors"] == [{"after": 1, "share": 0.25}, {"after": 3, "share": 0.125}]

    def test_says_which_class_rules_and_looks_are_about(self):
        document = json.loads(ABOUT.to_json())
        assert [rule["about"] for rule in document["rules"]] == [2, 0, 1]
        assert document["rules"][0]["in"] == [1, 3]
        assert document["rules"][1] == {"always": 1, "about": 0}
        assert document["errors"] == [{"after": 2, "about": 1, "share": 0.5}]

    def test_equal_models_are_equal_bytes(self):
        whole = Link(2, -0.0, (1, 1))
        same = [
            model([TREE], link=whole, errors=(ErrorLook(1, None, -0.0),)),
            model([TREE], link=Link(2.0, 0.0, (1.0, 1.0)), errors=(ErrorLook(1, None, 0),)),
        ]
        assert same[0] == same[1]
        assert same[0].to_json() == same[1].to_json()
        assert pickle.loads(pickle.dumps(ABOUT)).to_json() == ABOUT.to_json()

    def test_file_round_trip(self, tmp_path):
        EXAMPLE.write(tmp_path / "m.json")
        assert Model.read(tmp_path / "m.json") == EXAMPLE

    @pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
    def test_a_truncated_file_is_refused(self, tmp_path, share):
        text = EXAMPLE.to_json()
        (tmp_path / "m.json").write_text(text[: int(len(text) * share)])
        with pytest.raises(ValueError, match=r"m\.json is not a model.*truncated"):
            Model.read(tmp_path / "m.json")

    def test_a_file_from_the_future_is_refused(self):
        document = {**json.loads(EXAMPLE.to_json()), "version": 5}
        with pytest.raises(ValueError, match="Expected model version 1, 2, 3 or 4, got 5; a newer"):
            Model.from_json(json.dumps(document))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"rules": []}, "at least one rule"),
            ({"rules": [{"always": 7}]}, "declared class, got 7"),
            ({"rules": [{"always": True}]}, "declared class, got True"),
            ({"rules": [{"column": "age"}]}, "Expected a rule with"),
            (
                {"rules": [{"column": "age", "codes": [0, 9], "if_true": 0, "if_false": 1}]},
                "lie in column 'age'",
            ),
            (
                {"rules": [{"column": "height", "codes": [0, 1], "if_true": 0, "if_false": 1}]},
                "declared column, got 'height'",
            ),
            ({"guarantee": {}}, "Expected a guarantee with"),
            ({"errors": {}}, "a list of looks"),
            ({"errors": [3]}, "Expected a look at the errors with"),
            ({"errors": [{"after": 1}]}, "Expected a look at the errors with"),
            ({"errors": [{"after": 1, "share": 0.1, "of": 2}]}, "Expected a look at the errors"),
            ({"errors": [{"after": -1, "share": 0.1}]}, "after a number of rules, got -1"),
            ({"errors": [{"after": 1.0, "share": 0.1}]}, "after a number of rules, got 1.0"),
            ({"errors": [{"after": True, "share": 0.1}]}, "after a number of rules, got True"),
            ({"errors": [{"after": 1, "share": "0.1"}]}, "share to be a number"),
            ({"errors": [{"after": 1, "share": float("nan")}]}, "share to be a number, got nan"),
            ({"errors": [{"after": 1, "share": 10**400}]}, "share to be a number"),
            ({"errors": [{"after": 1, "about": 1, "share": 0.1}]}, "about to be one of three"),
            ({"link": None}, "Expected a link with slope"),
            ({"link": {"slope": 1.0}}, "Expected a link with slope"),
            ({"version": True}, "Expected model version 1, 2, 3 or 4, got True"),
            ({"version": 1}, "Expected a model with the keys"),
            ({"training_error": 0.1}, "Expected a model with the keys"),
            ({"format": "another"}, "Expected a model with"),
        ],
    )
    def test_what_it_does_not_understand_is_refused(self, change, message):
        document = {**json.loads(EXAMPLE.to_json()), **change}
        with pytest.raises(ValueError, match=message):
            Model.from_json(json.dumps(document))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"slope": 0.0}, "slope > 0, got 0.0"),
            ({"slope": float("inf")}, "slope > 0, got inf"),
            ({"slope": True}, "slope > 0, got True"),
            ({"slope": None}, "slope > 0, got None"),
            ({"offset": float("nan")}, "offset to be a number, got nan"),
            ({"offset": 10**400}, "offset to be a number"),
            ({"offset": "0"}, "offset to be a number, got '0'"),
            ({"weights": [1.0]}, "weights of 2 classes"),
            ({"weights": 1.0}, "weights of 2 classes"),
            ({"weights": [1.0, -1.0]}, "weights > 0, got -1.0"),
            ({"weights": [1.0, "1"]}, "weights > 0, got '1'"),
            ({"calibrated": 1}, "true or false"),
            ({"bits": 3}, "Expected a link with slope"),
        ],
    )
    def test_a_link_that_makes_no_sense_is_refused(self, change, message):
        document = json.loads(EXAMPLE.to_json())
        document["link"].update(change)
        with pytest.raises(ValueError, match=message):
            Model.from_json(json.dumps(document))

    @pytest.mark.parametrize("text", ["[]", "3", '{"format": "smoothboost-schema"}'])
    def test_another_document_is_refused(self, text):
        with pytest.raises(ValueError, match='"format": "smoothboost-model"'):
            Model.from_json(text)


def first_version(rules, schema):
    document = json.loads(model(rules, schema).to_json())
    kept = {key: document[key] for key in ("format", "guarantee", "rules")}
    columns = {
        name: {key: value for key, value in column.items() if value is not False}
        for name, column in document["schema"]["columns"].items()
    }
    declared = {key: document["schema"][key] for key in ("format", "target")}
    declared = {**declared, "version": 1, "columns": columns}
    return json.dumps({**kept, "version": 1, "schema": declared})


class TestVersion4:
    """A link with shares of classes that no rule is about."""

    RELEASED = model(
        [LiteralRule(None, 0, 0, about=0), LiteralRule(Literal.at_most(0, 1), 1, 0, about=2)],
        THREE,
        link=Link(0.5, 0.0, (1.0,) * 3, shares=(0.0, 0.25, 0.0)),
    )

    @pytest.mark.parametrize("by_kind", [None, SPENT.guarantee.by_kind], ids=["tuned", "fitted"])
    def test_round_trip_loses_nothing_and_no_older_version_has_it(self, by_kind):
        released = replace(self.RELEASED, guarantee=replace(SPENT.guarantee, by_kind=by_kind))
        text = released.to_json()
        assert Model.from_json(text) == released
        document = json.loads(text)
        assert (document["version"], document["link"]["shares"]) == (4, [0.0, 0.25, 0.0])
        published.MODEL.validate(document)
        older = {**document, "version": 3 if by_kind else 2}
        with pytest.raises(ValueError, match="Expected no shares in a model of version"):
            Model.from_json(json.dumps(older))
        assert not published.MODEL.is_valid(older)
        del document["link"]["shares"]
        with pytest.raises(ValueError, match="Expected a link with shares in a model of version 4"):
            Model.from_json(json.dumps(document))
        assert not published.MODEL.is_valid(document)

    @pytest.mark.parametrize("shares", [(0.0, 0.25, 0.1), (0.0, 0.0, 0.0), (0.2, 0.0, 0.0)])
    def test_shares_of_classes_that_rules_are_about_are_refused(self, shares):
        with pytest.raises(ValueError, match="shares of the classes that no rule is about"):
            replace(self.RELEASED, link=replace(self.RELEASED.link, shares=shares))


class TestVersion1:
    """The files of the first release predict what they did."""

    @settings(deadline=None)
    @given(st.lists(any_rules(2, literals(N_CODES)), min_size=1, max_size=6))
    def test_of_two_classes(self, chosen):
        self.check(chosen, SCHEMA)

    @settings(deadline=None)
    @given(MIXED)
    def test_of_three_classes(self, chosen):
        self.check(chosen, THREE)

    def check(self, chosen, schema):
        released = Model.from_json(first_version(chosen, schema))
        assert released.rules == tuple(chosen)
        assert released.errors == ()
        votes = released.count_votes(FRAME).astype(float)
        n_classes = votes.shape[1]
        slope = n_classes / ((n_classes - 1) * np.sqrt(len(chosen)))
        odds = np.exp(slope * (votes - votes.max(axis=1, keepdims=True)))
        assert (released.predict_proba(FRAME) == odds / odds.sum(axis=1, keepdims=True)).all()
        assert (released.predict(FRAME) == released.classes[votes.argmax(axis=1)]).all()
        assert Model.from_json(released.to_json()) == released

    @pytest.mark.parametrize(
        "rule",
        [
            {"column": "colour", "in": [0, 2], "if_true": 1, "if_false": 0},
            {"always": 1, "about": 0},
            {"column": "age", "codes": [0, 2], "if_true": 1, "if_false": 0, "about": 1},
        ],
    )
    def test_knew_neither_sets_nor_rules_about_classes(self, rule):
        document = json.loads(first_version([TREE], THREE))
        with pytest.raises(ValueError, match=r"if_false, or always\.$"):
            Model.from_json(json.dumps({**document, "rules": [rule]}))


def changed(*path, to):
    """Return the example's document with one place changed, or taken out."""
    document = json.loads(EXAMPLE.to_json())
    place = document
    for key in path[:-1]:
        place = place[key]
    if to is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return document


class TestCuts:
    def test_are_read_from_the_file_whatever_the_recipe_gives(self):
        released = Model.from_json(json.dumps(changed("cuts", "age", to=[5, 7.5, 61])))
        assert released.schema.columns["age"].cuts == (5.0, 7.5, 61.0)
        assert released.count_votes(FRAME).tolist() != EXAMPLE.count_votes(FRAME).tolist()
        assert Model.from_json(released.to_json()) == released
        assert released != EXAMPLE
        assert pickle.loads(pickle.dumps(released)) == released
        assert "≤ 7.5" in str(released)

    @settings(deadline=None)
    @given(st.lists(st.floats(-1e308, 1e308), min_size=1, max_size=20, unique=True).map(sorted))
    def test_come_back_exactly(self, cuts):
        columns = {"x": Numeric(edges=cuts)}
        rule = LiteralRule(Literal.at_most(0, 0), 1, 0)
        released = model([rule], Schema(columns, target=["no", "yes"]))
        again = Model.from_json(released.to_json())
        assert again.schema.columns["x"].cuts == tuple(cuts)
        assert again.to_json() == released.to_json()

    @pytest.mark.parametrize(
        ("cuts", "message"),
        [
            ({}, "Expected cuts of the columns age, and of no other"),
            ({"age": [25], "member": [1]}, "Expected cuts of the columns age"),
            ([25], "Expected cuts of the columns age"),
            (None, "Expected cuts of the columns age"),
            ({"age": 25}, "Column 'age': Expected cuts to be a list"),
            ({"age": [50, 25]}, "Column 'age': Expected cuts to increase"),
            ({"age": [25, 25]}, "Expected cuts to increase"),
            ({"age": ["25"]}, "Expected cuts to be a finite number, got '25'"),
            ({"age": [float("inf")]}, "Expected cuts to be a finite number"),
            ({"age": [True]}, "Expected cuts to be a finite number, got True"),
            ({"age": list(range(256))}, "at most 256 codes"),
        ],
    )
    def test_that_make_no_sense_are_refused(self, cuts, message):
        with pytest.raises(ValueError, match=message):
            Model.from_json(json.dumps(changed("cuts", to=cuts)))

    def test_that_contradict_declared_edges_are_refused(self):
        schema = Schema({"x": Numeric(edges=[1, 2])}, target=["no", "yes"])
        text = model([LiteralRule(Literal.at_most(0, 0), 1, 0)], schema).to_json()
        assert '"cuts": {"x": [1, 2]}' in text
        with pytest.raises(ValueError, match="declared edges and the cuts to be the same"):
            Model.from_json(text.replace('"cuts": {"x": [1, 2]}', '"cuts": {"x": [1, 3]}'))


class TestWholeFiles:
    @pytest.mark.parametrize(
        ("path", "to"),
        [
            (("schema", "drafted"), ...),
            (("schema", "columns", "age", "missing"), ...),
            (("schema", "columns", "age", "bins"), ...),
            (("schema", "columns", "age", "scale"), ...),
            (("schema", "columns", "age", "integer"), ...),
            (("schema", "columns", "colour", "other"), ...),
            (("schema", "columns", "member", "missing"), ...),
            (("schema", "$schema"), "schema.schema.json"),
            (("cuts",), ...),
            (("link",), ...),
            (("errors",), ...),
            (("link", "calibrated"), ...),
            (("guarantee", "seeded"), ...),
            (("guarantee", "budget"), 3),
            (("schema", "columns", "age", "clip"), True),
            (("schema", "columns", "age", "kind"), "text"),
            (("schema", "version"), 1),
            (("schema", "version"), 3),
        ],
        ids=lambda value: ".".join(value) if isinstance(value, tuple) else repr(value),
    )
    def test_nothing_is_left_out_and_nothing_is_unknown(self, path, to):
        document = changed(*path, to=to)
        with pytest.raises(ValueError, match="Expected"):
            Model.from_json(json.dumps(document))
        assert not published.MODEL.is_valid(document)

    def test_a_name_that_stands_twice_is_refused(self):
        text = EXAMPLE.to_json().replace('"version": 2,', '"version": 2,\n  "version": 2,', 1)
        with pytest.raises(ValueError, match="each name once"):
            Model.from_json(text)

    def test_a_schema_of_today_does_not_stand_in_a_model_of_format_1(self):
        document = json.loads(first_version([TREE], SCHEMA))
        document["schema"] = SCHEMA.to_dict()
        with pytest.raises(ValueError, match="schema of version 1 in a model of version 1"):
            Model.from_json(json.dumps(document))
        assert not published.MODEL.is_valid(document)

    @settings(deadline=None)
    @given(MIXED)
    def test_satisfy_the_published_json_schema(self, chosen):
        published.MODEL.validate(json.loads(model(chosen, THREE).to_json()))
        published.MODEL.validate(json.loads(first_version(chosen, THREE)))

    @pytest.mark.parametrize("released", [EXAMPLE, ABOUT], ids=["two", "three"])
    def test_of_examples_satisfy_it_too(self, released):
        published.MODEL.validate(json.loads(released.to_json()))

    def test_the_published_json_schema_is_itself_valid(self):
        published.MODEL.check_schema(published.MODEL.schema)

    def test_whole_numbers_of_a_guarantee_are_written_in_one_way(self):
        said = [
            Guarantee(one, zero, one, 1, 9, None, "tight", False, False)
            for one, zero in ((1, 0), (1.0, 0.0))
        ]
        first, second = (Model(SCHEMA, (TREE,), guarantee) for guarantee in said)
        assert first.to_json() == second.to_json()

    def test_are_cited_by_their_hash(self, tmp_path):
        EXAMPLE.write(tmp_path / "m.json")
        digest = sha256((tmp_path / "m.json").read_bytes()).hexdigest()
        assert EXAMPLE.content_hash == digest
        assert Model.read(tmp_path / "m.json").content_hash == digest
        assert model([TREE]).content_hash != digest
