"""SQL says what the model says, in three databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from databases import NAMES, Database, connected, load_rows, make_table, records
from scored_rows import CASES, EVIL, N_ROWS, answers, fitted, model, rows, silent_shares

from smoothboost import Boolean, Categorical, Date, Model, Numeric, Schema
from smoothboost.link import Link
from smoothboost.release.exports import to_sql
from smoothboost.rules import Literal, LiteralRule


@pytest.fixture(scope="module", params=NAMES)
def people(request) -> Iterator[Database]:
    """A database with the odd rows in the table people."""
    with connected(request.param) as database:
        load_rows(database, "people")
        yield database


@pytest.mark.parametrize(("learner", "n_classes"), CASES)
def test_sql_predicts_what_the_model_predicts(people, learner, n_classes):
    released = fitted(learner, n_classes)
    expected = answers(released)
    names, found = records(people, f"{to_sql(released, table='people')} ORDER BY id")
    assert names[: n_classes + 1] == ["prediction", *(f"p({label})" for label in released.classes)]
    assert names[-len(rows().columns) :] == list(rows().columns)
    assert [row[0] for row in found] == expected.predictions
    probabilities = np.array([row[1 : n_classes + 1] for row in found], dtype=np.float64)
    np.testing.assert_allclose(probabilities, expected.probabilities, rtol=1e-12, atol=0)
    assert {type(row[1]) for row in found} == {float}


SCHEMA = Schema(
    {
        "amount": Numeric(edges=[0.1, 26.1, 2.0**53]),
        "job": Categorical([EVIL, "it's"], other=True),
        "day": Date(low="1999-12-30", high="2000-03-02", unit="day"),
    },
    target=[EVIL, 'the "other"'],
)


def by_code(column: int) -> list[LiteralRule]:
    """Rules that give every code of a column votes of its own: the k-th, k rules for."""
    n_codes = SCHEMA.columns[SCHEMA.names[column]].n_codes
    tests = [Literal(column, code, n_codes) for code in range(1, n_codes)]
    return [LiteralRule(test, 1, 0) for test in tests]


def told_apart(database: Database, column: int, kind: str, cells: list[Any]) -> list[Any]:
    """The votes that SQL gives cells, each in a row of its own, beside the model's."""
    name = SCHEMA.names[column]
    released = model(by_code(column), SCHEMA)
    make_table(database, "cells", {"id": ("INTEGER", [*range(len(cells))]), name: (kind, cells)})
    _, found = records(database, f"{to_sql(released, table='cells')} ORDER BY id")
    database.execute('DROP TABLE "cells"')
    expected = released.count_votes(pd.DataFrame({name: cells}, dtype=object))
    lead = (expected[:, 1] - expected[:, 0]).tolist()
    return [
        (cell, row[3], votes)
        for cell, row, votes in zip(cells, found, lead, strict=True)
        if row[3] != votes
    ]


def test_a_number_is_read_as_the_nearest_float(people):
    cells = [Decimal("26.1"), Decimal("26.10000000000000000001"), Decimal("26.11"), None]
    if not isinstance(people, sqlite3.Connection):  # which has no decimals
        assert told_apart(people, 0, "DECIMAL(38, 20)", cells) == []
    wholes = [2**53 + 1, 2**53 + 2, 2**63 - 1, -(2**63), 0, 1, 27, None]
    assert told_apart(people, 0, "BIGINT", wholes) == []


def test_text_among_numbers_is_missing_in_sqlite():
    with connected("sqlite") as database:
        cells = ["", "abc", "12abc", "NA", "26.1", " 27 ", "1e3", None, -1.5]
        for kind in ("REAL", "TEXT", "INTEGER", ""):
            assert told_apart(database, 0, kind, cells) == []


def test_every_day_of_the_calendar_and_no_other_is_a_date(people):
    days = [f"{y}-{m:02}-{d:02}" for y in (1999, 2000) for m in range(14) for d in range(33)]
    times = ["2000-02-29T12:30", "2000-02-29 12:30:00+01:00", " 2000-02-29 "]
    others = ["1900-02-29", "2000-02-2x", "2000-1-01", "٢٠٠٠-01-01", "2000", "", None]
    assert told_apart(people, 2, "TEXT", [*days, *times, *others]) == []


def test_values_and_names_are_data_whatever_they_say(people):
    cells = [EVIL, EVIL.lower(), "it's", "", None, "x' OR '1'='1"]
    assert told_apart(people, 1, "TEXT", cells) == []
    assert records(people, "SELECT count(*) FROM people")[1] == [(N_ROWS,)]


def test_a_table_may_have_any_name(people):
    released = model(by_code(1), SCHEMA)
    for name in (EVIL, 'a "b"', "Upper", "two.parts"):
        quoted = '"' + name.replace('"', '""') + '"'
        people.execute(f"CREATE TABLE {quoted} (job TEXT)")
        people.execute(f"INSERT INTO {quoted} VALUES ('it''s')")
        _, found = records(people, to_sql(released, table=quoted))
        assert len(found) == 1
    assert 'FROM "main"."people" AS t' in to_sql(released, table="main.people")


@pytest.mark.parametrize("table", ["", "a.", ".a", '"a', 7, None])
def test_what_is_no_name_of_a_table_is_refused(table):
    with pytest.raises(ValueError, match="Expected table to be a name"):
        to_sql(model(by_code(1), SCHEMA), table=table)


@pytest.mark.parametrize(
    "link",
    [
        Link(1e-9, 0.5, (1.0, 1.0)),
        Link(400.0, -0.25, (1.0, 3.0)),
        Link(1e300, 2.0, (1.0, 1e-9)),
        Link(0.3, 1e300, (1.0, 1.0)),
    ],
)
def test_extreme_links_of_two_classes(people, link):
    assert_same(people, model(by_code(0) + by_code(1), SCHEMA, link=link))


@pytest.mark.parametrize("slope", [1e-9, 0.7, 500.0, 1e300])
@pytest.mark.parametrize("about", [(0, 1, 2), (0, 2), (1,)])
@pytest.mark.parametrize("share", [0, 0.2])
def test_extreme_links_of_three_classes_and_classes_without_rules(people, slope, about, share):
    three = Schema(SCHEMA.columns, target=["a", "b", "c"])
    rules = [replace(rule, about=about[at % len(about)]) for at, rule in enumerate(by_code(0) * 4)]
    link = Link(slope, 0.0, (1.0, 0.3, 2.0), shares=silent_shares(about, share))
    assert_same(people, model(rules, three, link=link))


def assert_same(database: Database, released: Model) -> None:
    """Compare SQL with a model on a few cells."""
    frame = pd.DataFrame(
        {"amount": [0.0, 0.1, 1.0, 27.0, 1e17, None], "job": ["it's", EVIL, "", "x", None, "it's"]},
        dtype=object,
    )
    cells = {
        "id": ("INTEGER", [*range(len(frame))]),
        "amount": ("DOUBLE PRECISION", frame["amount"].tolist()),
        "job": ("TEXT", frame["job"].tolist()),
    }
    make_table(database, "few", cells)
    try:
        _, found = records(database, f"{to_sql(released, table='few')} ORDER BY id")
    finally:
        database.execute('DROP TABLE "few"')
    assert [row[0] for row in found] == released.predict(frame).tolist()
    n_classes = len(released.classes)
    probabilities = [row[1 : n_classes + 1] for row in found]
    np.testing.assert_allclose(probabilities, released.predict_proba(frame), rtol=1e-12, atol=1e-15)


def test_many_rules_do_not_make_the_expression_too_deep_for_sqlite():
    schema = Schema({f"c{at}": Boolean() for at in range(600)}, target=["no", "yes"])
    rules = [LiteralRule(Literal.equals(at, 1), 1, 0) for at in range(600)]
    with connected("sqlite") as database:
        cells = {name: ("INTEGER", [1, 0]) for name in schema.names}
        make_table(database, "few", cells)
        _, found = records(database, to_sql(model(rules, schema), table="few"))
    assert [row[3] for row in found] == [600, -600]


def test_a_model_that_reads_no_column_scores_too(people):
    always = model([LiteralRule(None, 1, 1)], SCHEMA)
    _, found = records(people, f"SELECT DISTINCT prediction FROM ({to_sql(always, 'people')}) AS s")
    assert found == [('the "other"',)]


def test_sql_says_what_is_guaranteed_and_no_time():
    released = fitted("thresholds", 2)
    comments = [line for line in to_sql(released).splitlines() if line.startswith("--")]
    assert f"-- Guarantee: {released.guarantee}." in comments
    assert any(released.content_hash in line for line in comments)
    assert to_sql(released) == to_sql(released)


def test_equal_neighbours_are_one_branch():
    rules = [LiteralRule(Literal.at_most(0, 1), 1, 0)] * 3
    text = to_sql(model(rules, SCHEMA), table="people")
    assert text.count("WHEN CAST") == 1
    assert 'WHEN CAST(t."amount" AS DOUBLE PRECISION) <= 26.1 THEN 3' in text


def test_a_name_that_sql_cannot_hold_is_refused():
    schema = Schema({"a\0b": Boolean()}, target=["no", "yes"])
    with pytest.raises(ValueError, match="NUL"):
        to_sql(model([LiteralRule(Literal.equals(0, 1), 1, 0)], schema))


def test_classes_that_differ_in_case_only_are_told_apart(people):
    schema = Schema({"job": Categorical(["p", "q", "r"])}, target=["a", "A", "b"])
    votes = [LiteralRule(Literal(0, code, code + 1), 1, 0, about=code) for code in range(3)]
    released = model(votes, schema)
    make_table(people, "jobs", {"job": ("TEXT", ["p", "q", "r"])})
    names, found = records(people, f"{to_sql(released, table='jobs')} ORDER BY job")
    assert [row[0] for row in found] == ["a", "A", "b"]
    assert names[1:4] == ["p(a, class 1)", "p(A, class 2)", "p(b)"]


def test_columns_that_differ_in_case_only_are_refused_if_one_is_used():
    columns = {name: Boolean() for name in ("na", "NA", "other")}
    schema = Schema(columns, target=["no", "yes"])
    assert '"other"' in to_sql(model([LiteralRule(Literal(2, 0, 1), 0, 1)], schema))
    with pytest.raises(ValueError, match=r"capital letters.*'na', 'NA'.*rename them"):
        to_sql(model([LiteralRule(Literal(1, 0, 1), 0, 1)], schema))
