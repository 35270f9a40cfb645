"""Two neighbouring tables whose private choices fall alike: nothing that can be seen differs."""

from __future__ import annotations

import logging
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pytest
from commands import run
from distributed import Client, LocalCluster
from neighbours import ROWS, neighbour_of, schema_of, table_of, write
from observing import Seen, Tape, check_alike, observe

import smoothboost.dask
from smoothboost import Ledger, PrivateTuner, SmoothBoostClassifier, evaluate
from smoothboost import classifier as classifier_module
from smoothboost.release.model import Model
from smoothboost.table import batches, csv_files

neighbours = pytest.mark.parametrize("name", ROWS)


def parts(table):
    return table.drop(columns=["ill", "note"]), table["ill"]


def seen_alike(use, table, name, tmp_path, log_level=logging.DEBUG) -> Seen:
    """Use a table and its neighbour in folders of their own, and compare what is seen."""
    tape = Tape()
    seen = []
    for at, rows in enumerate((table, neighbour_of(table, name))):
        folder = tmp_path / str(at)
        folder.mkdir()
        with pytest.MonkeyPatch.context() as patched:
            patched.chdir(folder)
            seen.append(observe(partial(use, rows), tape, folder, log_level))
        tape.rewind()
    check_alike(*seen)
    assert len(tape.outcomes) > 1, seen[0].error
    return seen[0]


def fitted(rows, **options) -> Any:
    """Fit with everything that can be shown or kept, and write all that can be written."""
    book = Ledger.create("people.ledger", "people", epsilon=100, delta=0.1)
    options = {"schema": schema_of(rows["ill"].nunique()), "n_rounds": 6, **options}
    kind = options.pop("kind", SmoothBoostClassifier)
    source = options.pop("source", None) or parts(rows)
    clf = kind(epsilon=30, ledger=book, verbose=1, **options).fit(*source)
    clf.model_.write("model.json")
    clf.model_.write_report("report.html")
    print(clf.model_, clf.privacy_)
    return clf


LEARNERS = ["auto", "one_rule", "pair_rule", "top_down"]


WAYS = [{"n_jobs": 1}, {"n_jobs": 2, "delta": 1e-6}]
# Every learner meets every neighbour in both ways: with two classes in one of them, by turns, and
# with three in the other.
CASES = [
    (name, options, learner, 2 + (at + turn + way) % 2)
    for at, name in enumerate(ROWS)
    for turn, learner in enumerate(LEARNERS)
    for way, options in enumerate(WAYS)
]


@pytest.mark.parametrize(("name", "options", "learner", "n_classes"), CASES, ids=str)
def test_fit(tmp_path, monkeypatch, name, options, learner, n_classes):
    monkeypatch.setattr(classifier_module, "_SMALL", 0)  # threads for any table
    options = {"learner": learner, "calibrate": 0.2, "threshold": "balanced", **options}
    seen = seen_alike(lambda rows: fitted(rows, **options), table_of(n_classes), name, tmp_path)
    assert seen.error is None
    assert seen.told
    assert set(seen.files) == {"model.json", "report.html", "people.ledger"}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
@neighbours
def test_fit_of_a_file(tmp_path, monkeypatch, name, kind):
    monkeypatch.setattr(csv_files, "_BLOCK", 1 << 12)
    monkeypatch.setattr(batches, "_TOLD_ROWS", 50)

    def use(rows):
        write(rows, Path(f"rows.{kind}"))
        return fitted(rows, source=(f"rows.{kind}", "ill"))

    seen = seen_alike(use, table_of(2), name, tmp_path)
    assert seen.error is None
    assert [(what, told["completed"]) for what, told in seen.told if what == "rows"] == [
        ("rows", n_rows) for n_rows in (50, 100, 150, 200, 240)
    ]


COMMANDS: dict[str, tuple[str, ...]] = {
    "shown": (),
    "quiet": ("--quiet",),
    "as JSON": ("--json",),
    "trees": ("--learner", "top_down", "--splits", "2"),
}


# Every neighbour is shown, and every way of showing meets the oddest and another one.
@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((name, "shown") for name in ROWS),
        *product(("another label", "odd cells"), [how for how in COMMANDS if how != "shown"]),
    ],
)
@pytest.mark.usefixtures("few_budgets")
def test_the_command_line(tmp_path, name, how):
    def use(rows):
        write(rows, Path("rows.csv"))
        schema_of(2).write("schema.json")
        book = ("--ledger", "people.ledger")
        shown = COMMANDS[how] if how != "trees" else ()
        asked = ("--schema", "schema.json", "--epsilon", "20", "--rounds", "6", *COMMANDS[how])
        results = [
            run("ledger", "create", "people.ledger", "--table", "people", "--epsilon", "50"),
            run("plan", "schema.json", "--rows", len(rows), "--epsilon", "20"),
            run("fit", "rows.csv", "--target", "ill", *asked, *book, "-o", "model.json"),
            run("report", "model.json", "-o", "report.html", *shown),
            run("explain", "model.json"),
            run("evaluate", "model.json", "rows.csv", "--target", "ill", "--epsilon", "9", *book),
            run("ledger", "show", "people.ledger"),
        ]
        for result in results:
            print(result.exit_code, result.stdout, result.stderr)

    seen = seen_alike(use, table_of(2), name, tmp_path)
    assert seen.error is None
    assert {"model.json", "report.html", "people.ledger"} <= set(seen.files)


@neighbours
def test_evaluations_and_tuning(tmp_path, name):
    model = SmoothBoostClassifier(schema=schema_of(2), epsilon=9).fit(*parts(table_of(2))).model_

    def use(rows):
        X, y = parts(rows)
        estimator = SmoothBoostClassifier(schema=schema_of(2), n_rounds=3)
        tuner = PrivateTuner(estimator, {"learner": ["one_rule", "pair_rule"]}, 30, mean_runs=3)
        return evaluate(model, X, y, epsilon=5, by="colour"), tuner.fit(X, y)

    assert seen_alike(use, table_of(2), name, tmp_path).error is None


def test_a_cluster(tmp_path):
    with (
        LocalCluster(
            n_workers=1, processes=False, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):

        def use(rows):
            X, y = parts(rows.astype(object))
            rows = dd.from_pandas(X, npartitions=2), dd.from_pandas(y, npartitions=2)
            kind = smoothboost.dask.SmoothBoostClassifier
            return fitted(table_of(2), kind=kind, source=rows).model_

        for name in ROWS:
            folder = tmp_path / name
            folder.mkdir()
            seen = seen_alike(use, table_of(2), name, folder, logging.WARNING)
            assert seen.error is None


def test_an_undeclared_label_is_told_in_the_same_words_wherever_it_is(tmp_path):
    def use(place, label):
        rows = table_of(2)
        rows.loc[place, "ill"] = label
        folder = tmp_path / f"{place}{len(str(label))}"
        folder.mkdir()
        with pytest.MonkeyPatch.context() as patched:
            patched.chdir(folder)
            return observe(lambda: fitted(rows, schema=schema_of(2)), Tape(), folder)

    first = use(3, "secret")
    assert first.error is not None
    for place, label in ((200, "secret"), (3, None), (17, "other")):
        check_alike(first, use(place, label))


# The comparison can fail


def leak_in_model(rows, clf):
    wrong = clf.predict(parts(rows)[0]) != rows["ill"]
    clf.model_.__dict__["training_error"] = float(wrong.mean())


def leak_in_words(rows, clf):
    print((rows["ill"] == "yes").sum())


def leak_in_logs(rows, clf):
    logging.getLogger("smoothboost").debug("%d rows", (rows["ill"] == "yes").sum())


def leak_in_a_file(rows, clf):
    Path("note.txt").write_text("x" * int((rows["ill"] == "yes").sum()))


def leak_in_a_warning(rows, clf):
    warnings.warn(f"{(rows['ill'] == 'yes').sum()} rows", UserWarning, stacklevel=1)


def leak_in_an_error(rows, clf):
    raise ValueError(f"Expected something, got {rows['ill'].iloc[17]}.")


LEAKS = [
    *(leak_in_model, leak_in_words, leak_in_logs),
    *(leak_in_a_file, leak_in_a_warning, leak_in_an_error),
]


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_seen(tmp_path, leak):
    def use(rows):
        clf = fitted(rows, n_rounds=2)
        leak(rows, clf)
        return clf

    with pytest.raises(AssertionError):
        seen_alike(use, table_of(2), "another label", tmp_path)


def test_the_report_of_a_model_is_made_of_the_model(tmp_path):
    SmoothBoostClassifier(schema=schema_of(2), epsilon=9).fit(*parts(table_of(2))).model_.write(
        tmp_path / "model.json"
    )
    for name in ("one.html", "two.html"):
        Model.read(tmp_path / "model.json").write_report(tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
