"""Files that mean harm: what each of them is, and what is said when it is read.

`make fuzz` reads each of them in a process of its own, to see what that takes.
"""

from __future__ import annotations

import json
import resource
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from smoothboost import Boolean, Ledger, Model, Numeric, Schema
from smoothboost.privacy import ledger_file
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.privacy.ledger_check import check
from smoothboost.rules import Literal, LiteralRule

SCHEMA = Schema({"a": Numeric(low=0, high=4, bins=4), "b": Boolean()}, target=["no", "yes"])
GUARANTEE = Guarantee(1.0, 0.0, 1.0, 1, 100, "exponential", "tight", False, False)
MODEL = Model(SCHEMA, (LiteralRule(Literal.at_most(0, 1), 1, 0),), GUARANTEE)
RULE = {"column": "a", "codes": [0, 2], "if_true": 1, "if_false": 0}


class Hostile(NamedTuple):
    """A file that means harm."""

    read: Callable[[Path], Any]
    write: Callable[[Path], Any]
    words: str


def schema_with(**changes: Any) -> str:
    return json.dumps({**SCHEMA.to_dict(), **changes})


def model_with(**changes: Any) -> str:
    return json.dumps({**json.loads(MODEL.to_json()), **changes})


def link_with(**changes: Any) -> str:
    return model_with(link={**MODEL.link.to_dict(), **changes})


def guarantee_with(**changes: Any) -> str:
    return model_with(guarantee={**GUARANTEE.to_dict(), **changes})


def numeric(**changes: Any) -> str:
    return schema_with(columns={"a": {"kind": "numeric", "low": 0, "high": 1, **changes}})


def schema_of_group(name: str) -> str:
    groups = [{"name": name, "values": ["x"]}]
    return schema_with(columns={"a": {"kind": "categorical", "groups": groups}})


def nested(depth: int) -> Any:
    """Return a list in a list in a list."""
    inner: Any = []
    for _ in range(depth):
        inner = [inner]
    return inner


def chain_of_tests(depth: int) -> dict[str, Any]:
    """Return a tree that is as deep as it has tests."""
    rule: dict[str, Any] = dict(RULE)
    for _ in range(depth):
        rule = {**RULE, "if_false": rule}
    return rule


def of_text(read: Callable[[Path], Any], text: str | Callable[[], str], words: str) -> Hostile:
    def write(path: Path) -> None:
        path.write_text(text if isinstance(text, str) else text(), encoding="utf-8")

    return Hostile(read, write, words)


def sparse(path: Path) -> None:
    """Write 4 GB that take no disk."""
    with path.open("wb") as file:
        file.write(b'{"format": "')
        file.truncate(4 * 2**30)


def documents(read: Callable[[Path], Any], what: str) -> Iterator[tuple[str, Hostile]]:
    """List what is no document at all, whatever it should have been."""
    yield "4 GB", Hostile(read, sparse, f"Expected a {what} of at most 32 MB, got a larger one")
    for name, text, words in (
        ("nothing", "", f"Expected a {what} in JSON"),
        ("half a file", '{"format": "smoothboost-', f"Expected a {what} in JSON"),
        ("lists in lists", "[" * 100_000, "nested too deeply"),
        ("objects in objects", '{"a":' * 100_000, "nested too deeply"),
        ("lists in lists that end", "[" * 900 + "]" * 900, "."),
        ("a million objects", lambda: "[" + "{}," * 10**6 + "{}]", f"Expected a {what} with"),
        ("a million names", lambda: many_names(10**6), "at most 500,000 names"),
        ("so many names", lambda: many_names(499_999), f"Expected a {what} with"),
        (
            "the same name often",
            lambda: '{"a":0' + ',"a":0' * 200_000 + "}",
            "each name once, got 'a'",
        ),
        (
            "four million numbers",
            lambda: "[0" + ",0" * (4 * 10**6) + "]",
            "at most 3,000,000 values",
        ),
        ("as many numbers as may be", lambda: "[0" + ",0" * (3 * 10**6 - 1) + "]", "got a list"),
        ("10,000 digits", '{"version": 1' + "0" * 10_000 + "}", "at most 500 digits, got one of"),
        ("another document", lambda: '{"format": "' + "x" * 10**7 + '"}', "[...]"),
    ):
        yield name, of_text(read, text, words)
    yield "bytes", Hostile(read, lambda path: path.write_bytes(b"\xff\xfe{}"), "text in UTF-8")


def many_names(number: int) -> str:
    return "{" + ",".join(f'"name{at}":0' for at in range(number)) + "}"


SCHEMAS: dict[str, Hostile] = {
    **dict(documents(Schema.read, "schema")),
    **{
        name: of_text(Schema.read, text, words)
        for name, text, words in (
            (
                "too many columns",
                lambda: schema_with(columns={str(at): {"kind": "boolean"} for at in range(10**5)}),
                "at most 32,768 columns, got 100,000",
            ),
            ("NaN", numeric(low=float("nan")), "low to be a finite number, got nan"),
            ("1e400", numeric(high=1).replace('"high": 1', '"high": 1e400'), "high to be a finite"),
            ("10**400", numeric(high=10**400), "high to be a finite number"),
            ("edges out of order", numeric(low=None, high=None, edges=[2, 1]), "edges to increase"),
            (
                "edges without end",
                lambda: numeric(low=None, high=None, edges=[0] * 10**6),
                "at most 256",
            ),
            (
                "a million classes",
                lambda: schema_with(target=list(range(10**6))),
                "2 to 256 classes",
            ),
            ("half a character", schema_with(target=["\ud800", "yes"]), "whole characters"),
            ("half a column", schema_with(columns={"\udc00": {"kind": "boolean"}}), "whole char"),
            ("half a group", schema_of_group("\ud800"), "groups to be text of whole"),
            ("a column that is a list", schema_with(columns={"a": []}), "to have a kind of"),
            ("an unknown field", numeric(**{"\x1b[31m": 1}), r"'\x1b[31m'"),
            ("classes in classes", schema_with(target=nested(900)), "Expected"),
        )
    },
}
MODELS: dict[str, Hostile] = {
    **dict(documents(Model.read, "model")),
    **{
        name: of_text(Model.read, text, words)
        for name, text, words in (
            ("no rules", model_with(rules=[]), "at least one rule"),
            (
                "too many rules",
                lambda: model_with(rules=[{"always": 1}] * 10**5 + [0]),
                "at most 100,000",
            ),
            ("a deep tree", model_with(rules=[chain_of_tests(300)]), "at most 255 literals"),
            ("codes in codes", model_with(rules=[{**RULE, "codes": nested(900)}]), "Expected"),
            (
                "codes without end",
                lambda: model_with(rules=[{**RULE, "codes": [0] * 10**6}]),
                "[...]",
            ),
            ("a class that is not there", model_with(rules=[{"always": 10**300}]), "declared"),
            ("cuts out of order", model_with(cuts={"a": [3, 2, 1]}), "cuts to increase"),
            ("cuts that are no numbers", model_with(cuts={"a": [float("inf")]}), "finite number"),
            ("cuts without end", lambda: model_with(cuts={"a": [0] * 10**6}), "at most 256 codes"),
            ("a slope beyond floats", link_with(slope=10**400), "slope > 0"),
            ("weights in words", link_with(weights=["1", {}]), "weights > 0, got '1'"),
            ("an offset of NaN", link_with(offset=float("nan")), "offset to be a number"),
            ("epsilon of 10**400", guarantee_with(epsilon=10**400), "guarantee's epsilon"),
            ("epsilon below 0", guarantee_with(epsilon=-1), "guarantee's epsilon"),
            ("epsilon in words", guarantee_with(epsilon="1"), "guarantee's epsilon"),
            ("delta of true", guarantee_with(delta=True), "guarantee's delta"),
            ("rows in lists", guarantee_with(n_rows=nested(900)), "guarantee's n_rows"),
            ("a mechanism in markup", guarantee_with(mechanism="<b>"), "guarantee's mechanism"),
            ("seeded in words", guarantee_with(seeded="no"), "guarantee's seeded"),
        )
    },
}


def changed(statement: str) -> Callable[[Path], None]:
    """Return how to make a ledger, and to change it past us."""

    def write(path: Path) -> None:
        small_ledger(path)
        with sqlite3.connect(path) as connection:
            connection.executescript(statement)
        connection.close()

    return write


def forged(number: int, text: Callable[[dict[str, Any]], str]) -> Callable[[Path], None]:
    """Return how to make a ledger, and to write another entry, with hashes that are right."""

    def write(path: Path) -> None:
        small_ledger(path)
        connection = sqlite3.connect(path)
        connection.executescript("DROP TRIGGER no_change; DROP TRIGGER no_removal")
        before = ""
        for at, found in connection.execute("SELECT number, body FROM entries").fetchall():
            body = text(json.loads(found)) if at == number else found
            before = ledger_file._hash(before, body)
            values = (body, before, at)
            connection.execute("UPDATE entries SET body = ?, hash = ? WHERE number = ?", values)
        connection.commit()
        connection.close()

    return write


def saying(**changes: Any) -> Callable[[dict[str, Any]], str]:
    return lambda body: json.dumps({**body, **changes})


def small_ledger(path: Path) -> Ledger:
    ledger = Ledger.create(path, table="people", epsilon=1.0, delta=1e-6)
    ledger.record("a count", 0.25)
    return ledger


def damaged(path: Path) -> None:
    small_ledger(path)
    data = bytearray(path.read_bytes())
    data[4096 + 8 : 4096 + 64] = b"\xff" * 56  # where the second page says what it holds
    path.write_bytes(data)


def with_long_entry(path: Path) -> None:
    small_ledger(path)
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO entries VALUES (3, ?, ?)", ("[" * 2**22, ""))
    connection.close()


def verify(path: Path) -> None:
    check(Ledger(path))
    Ledger.open(path)


SCHEMA_ENTRY = json.dumps({"kind": "schema", "schema": "5", "when": "2026", "who": "Ada"})
OTHERS = "to hold the table of a ledger and nothing else"
LEDGERS: dict[str, Hostile] = {
    name: Hostile(verify, write, words)
    for name, write, words in (
        ("4 GB", sparse, "Expected a ledger of at most 64 MB"),
        ("text", lambda path: path.write_text("{}" * 4096), "file is not a database"),
        ("nothing", lambda path: path.write_text(""), "another SQLite file"),
        ("a folder", lambda path: path.mkdir(), "something that is no file"),
        (
            "a view that is called as our table",
            changed(
                "DROP TABLE entries; CREATE TABLE other (number, body, hash);"
                "CREATE VIEW entries AS SELECT * FROM other"
            ),
            OTHERS,
        ),
        (
            "a view without end",
            changed(
                "DROP TABLE entries; CREATE VIEW entries AS WITH RECURSIVE t(number, body, hash)"
                " AS (SELECT 1, 'x', 'y' UNION ALL SELECT number + 1, body, hash FROM t)"
                " SELECT * FROM t"
            ),
            OTHERS,
        ),
        (
            "a trigger that forgets",
            changed(
                "DROP TRIGGER no_removal; CREATE TRIGGER forget AFTER INSERT ON entries "
                "BEGIN DELETE FROM entries WHERE number = new.number; END"
            ),
            OTHERS,
        ),
        ("another table", changed("CREATE TABLE people (name)"), OTHERS),
        (
            "the table with other columns",
            changed("DROP TABLE entries; CREATE TABLE entries (number, body, hash)"),
            OTHERS,
        ),
        (
            "bytes for a text",
            changed(
                "DROP TRIGGER no_change; UPDATE entries SET body = CAST(body AS BLOB) "
                "WHERE number = 2"
            ),
            "Expected entry 2 of",
        ),
        ("a long entry", with_long_entry, "too big"),
        ("a damaged page", damaged, "Expected"),
        ("an entry that is a list", forged(2, lambda _: "[1, 2]"), "kinds that are known"),
        ("an entry that is half", forged(2, lambda _: "{"), "an entry in JSON"),
        ("lists in lists", forged(2, lambda _: "[" * 10**5), "an entry in JSON"),
        ("an unknown kind", forged(2, saying(kind="gift")), "kinds that are known"),
        ("a kind that is a list", forged(2, saying(kind=[])), "kinds that are known"),
        ("an unknown field", forged(2, saying(gift=1)), "of the kind reserved with"),
        ("a field too few", forged(2, lambda _: '{"kind": "reserved"}'), "of the kind reserved"),
        ("a cost below 0", forged(2, saying(pure="-1")), "to say pure"),
        ("a cost by 0", forged(2, saying(pure="1/0")), "to say pure"),
        ("a cost as a number", forged(2, saying(renyi=1e300)), "to say renyi"),
        ("a cost with a power", forged(2, saying(pure="1e1000000000")), "to say pure"),
        ("a cost without end", forged(2, saying(epsilon="9" * 10**5)), "to say epsilon"),
        ("a cost beyond floats", forged(2, saying(pure="9" * 400)), "to say pure"),
        ("a budget of 0", forged(1, saying(epsilon="0")), "to say epsilon"),
        ("an order of 1", forged(1, saying(order="1")), "to say order"),
        ("a cap of 0", forged(1, saying(cap="0")), "a cap above 0"),
        ("rows below 1", forged(1, saying(rows_per_person=0)), "to say rows_per_person"),
        ("rows of true", forged(1, saying(rows_per_person=True)), "to say rows_per_person"),
        ("a time that is a number", forged(2, saying(when=3)), "to say when"),
        ("a first entry that is no budget", forged(1, lambda _: SCHEMA_ENTRY), "begin with its"),
    )
}
FILES = {"schema": SCHEMAS, "model": MODELS, "ledger": LEDGERS}


def measured(kind: str, name: str) -> tuple[float, float, str]:
    """Read one file; return the seconds of CPU, the megabytes of this process and the words."""
    hostile = FILES[kind][name]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        hostile.write(path)
        start = time.process_time()
        try:
            hostile.read(path)
            words = "it is read"
        except (ValueError, OSError) as error:
            words = str(error).replace(str(path), "file")
        seconds = time.process_time() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, words
