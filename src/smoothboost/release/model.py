"""The released ensemble: rules, the schema they read, and what else the fit released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothboost._show import make_frame
from smoothboost.counting.threads import usual_count
from smoothboost.error_looks import ErrorLook as ErrorLook
from smoothboost.link import Link
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.release import model_file
from smoothboost.release.ballots import VoteCounter
from smoothboost.release.contributions import contribution_rows
from smoothboost.release.display import votes_text
from smoothboost.release.importances import importance_shares
from smoothboost.release.notebook import model_html
from smoothboost.release.report.evaluated import evaluation_of
from smoothboost.release.report.holdout import measure
from smoothboost.release.report.page import write_report
from smoothboost.release.scorecard import card_lines
from smoothboost.release.scored import by_batches, write_scored
from smoothboost.release.shapes import Shape, shapes_of
from smoothboost.release.vote_tables import LooseRules, VoteTable, vote_tables
from smoothboost.release.wording import condition_words, literal_words, shorter_test
from smoothboost.rules import LiteralRule, Members, Rule, Test
from smoothboost.rules import Path as Condition
from smoothboost.table.canonical import content_hash, read_text
from smoothboost.table.coded import DeclaredColumns, declared_columns
from smoothboost.table.files import check_suffix, parts_of, replacing
from smoothboost.table.schema import Schema


@dataclass(frozen=True)
class Model:
    """A released ensemble: every rule has one vote.

    Rules that test the same columns make one table of votes, so prediction is one look-up per
    column for 1-rules, and one per pair of columns for pair rules. What is predicted may be a
    frame, an array, or a file or stream as `SmoothBoostClassifier.fit` takes them.

    Parameters
    ----------
    schema : Schema
        The declared public facts.
    rules : tuple of LiteralRule and TreeRule
        The chosen rules, in order. With three classes or more each of them is about one class;
        none is in models of old, whose rules name classes.
    guarantee : Guarantee
        What the release protects.
    link : Link, optional
        How votes become probabilities and decisions; by default, as the number of rules says.
    errors : tuple of ErrorLook, default ()
        What the fit released about its training error along the way; after no rules, the share of
        the rarer class, or of each of several.

    Examples
    --------
    >>> from smoothboost import Model, SmoothBoostClassifier, datasets
    >>> demo = datasets.load_demo()
    >>> clf = SmoothBoostClassifier(schema=demo.schema).fit(demo.data, demo.target)
    >>> again = Model.from_json(clf.model_.to_json())  # Model.read reads a file
    >>> bool((again.predict(demo.test_data) == clf.predict(demo.test_data)).all())
    True
    """

    schema: Schema
    rules: tuple[Rule, ...]
    guarantee: Guarantee
    link: Link = None  # type: ignore[assignment]  # None is put right below
    errors: tuple[ErrorLook, ...] = ()

    def __post_init__(self) -> None:
        n_classes = len(self.schema.target)
        if self.link is None:
            plain = Link.plain(len(self.rules), (1.0,) * n_classes)
            object.__setattr__(self, "link", plain)
        if len(self.link.weights) != n_classes:
            raise ValueError(
                f"Expected a link with weights of {n_classes} classes, "
                f"got {len(self.link.weights)}."
            )
        self.link.check_silent(self.unheard)
        about = {rule.about for rule in self.rules}
        if about - {None} and (None in about or n_classes == 2):
            raise ValueError(
                "Expected rules that are all about one class each, of three or more, or none."
            )

    @property
    def classes(self) -> NDArray[Any]:
        """The declared classes."""
        return np.array(self.schema.target)

    @cached_property
    def is_additive(self) -> bool:
        """Whether all rules are 1-rules, so that the votes are a sum over columns."""
        return all(isinstance(rule, LiteralRule) for rule in self.rules)

    @cached_property
    def columns_used(self) -> tuple[str, ...]:
        """The columns that matter: some rule tests them, and no other one undoes it."""
        used = {
            column
            for table in self._tables
            for axis, column in enumerate(table.columns)
            if table.matters(axis)
        }
        return tuple(self.schema.names[column] for column in sorted(used))

    @cached_property
    def _tables(self) -> list[VoteTable | LooseRules]:
        n_codes = [column.n_codes for column in self.schema.columns.values()]
        return vote_tables(self.rules, n_codes, len(self.schema.target))

    def vote_table(self, column: str) -> NDArray[np.int64]:
        """Return the votes that each code of a column gives each class, through 1-rules.

        Returns
        -------
        array of int64, shape (n_codes, n_classes)
        """
        alone = (self.schema.names.index(column),)
        for table in self._tables:
            if isinstance(table, VoteTable) and table.columns == alone:
                return table.votes
        return np.zeros((self.schema.columns[column].n_codes, len(self.schema.target)), np.int64)

    @by_batches
    def count_votes(self, X: Any) -> NDArray[np.int64]:
        """Return each row's votes for each class, shape (n_rows, n_classes).

        Only the columns that matter are read, and only they need to be in a frame.
        """
        return self._counter.count(self._read(X), usual_count())

    def count_coded(self, codes: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return the votes of rows that are codes already, as `Table.codes` has them."""
        return self._counter.count_coded(codes, usual_count())

    def _answer(self, X: Any, answer: Callable[[NDArray[np.int64]], NDArray[Any]]) -> NDArray[Any]:
        """Return what follows from the votes of each row."""
        return self._counter.answer(self._read(X), answer, usual_count())

    def _read(self, X: Any) -> DeclaredColumns:
        return declared_columns(self.schema, X, self.columns_used)

    @cached_property
    def _counter(self) -> VoteCounter:
        positions = [self.schema.names.index(name) for name in self.columns_used]
        return VoteCounter(self._tables, positions, len(self.schema.target))

    @cached_property
    def unheard(self) -> tuple[int, ...]:
        """The classes that no rule is about, if the others have some: they are not predicted."""
        heard = {rule.about for rule in self.rules}
        if heard <= {None}:
            return ()
        return tuple(at for at in range(len(self.schema.target)) if at not in heard)

    @by_batches
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that the link chooses, the first declared among equals.

        With equal class weights, it is the one with the largest probability.
        """
        return self._answer(X, lambda votes: self.classes[self.link.choose(votes, self.unheard)])

    @by_batches
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the votes beyond the threshold, or each class's votes.

        With two classes: the votes for the second minus those for the first, minus the link's
        threshold, never 0; the second one is predicted where this is above 0. Otherwise one column
        per class; the one with the largest value is predicted.
        """
        return self._answer(X, lambda votes: self.link.decision(votes, self.unheard))

    @by_batches
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities through the link, shape (n_rows, n_classes)."""
        return self._answer(X, lambda votes: self.link.probabilities(votes, self.unheard))

    def write_predictions(self, X: Any, path: str | PathLike[str]) -> int:
        """Write the rows of a file or stream with their predictions, and return how many.

        They are read and written batch by batch, so neither file has to fit into memory. The
        file is there once it is whole; an older one is replaced.

        Parameters
        ----------
        X : path or stream
            What `SmoothBoostClassifier.fit` takes.
        path : path
            A .csv or .parquet file: all columns of X, the prediction, and the probability of
            each class.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from smoothboost import SmoothBoostClassifier, datasets
        >>> demo = datasets.load_demo()
        >>> clf = SmoothBoostClassifier(schema=demo.schema).fit(demo.data, demo.target)
        >>> rows, scored = (Path(mkdtemp()) / name for name in ("new.csv", "scored.parquet"))
        >>> demo.test_data.to_csv(rows)
        >>> clf.model_.write_predictions(rows, scored)
        10000
        """
        path = Path(path)
        suffix = check_suffix(path)
        with replacing(path) as temporary:
            return write_scored(self, parts_of(X), temporary, suffix)

    def write_report(
        self, path: str | PathLike[str], X: Any = None, y: Any = None, evaluation: Any = None
    ) -> None:
        """Write the model as one HTML page to look at, made from the model alone.

        Parameters
        ----------
        path : path
            The file to write; an older one is replaced.
        X, y : frame or array, and labels, optional
            Public rows and their classes, to add how good the model is on them. That section
            is computed from the rows, without noise.
        evaluation : Evaluation or path, optional
            What `smoothboost.evaluate` returned for this model, or the command wrote, to show it.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from smoothboost import SmoothBoostClassifier, datasets
        >>> demo = datasets.load_demo()
        >>> clf = SmoothBoostClassifier(schema=demo.schema).fit(demo.data, demo.target)
        >>> clf.model_.write_report(Path(mkdtemp()) / "report.html")
        """
        holdout = None if X is None else measure(self, X, y, "the rows that were given")
        found = None if evaluation is None else evaluation_of(self, evaluation)
        if holdout is not None and found is not None:
            raise ValueError("Expected X and y (public rows) or an evaluation, got both.")
        write_report(self, path, holdout, found)

    def votes(self) -> Any:
        """Return the votes as a frame: votes, column, literal, class.

        For 1-rules, votes are for `class` where the literal holds (negative: against it), and the
        other way round where it does not; with two classes, it is always the second. In models of
        old with more classes, `class` is voted for where the literal holds and `otherwise` where
        it does not. If some rule has several literals, each line is a condition, and how many
        votes `class` gets from the rows that meet it. The frame is a pandas one if pandas is
        installed, and an Arrow table otherwise.
        """
        return make_frame(self.vote_rows())

    def vote_rows(self) -> dict[str, list[Any]]:
        """Return what `votes` shows, as lists by column."""
        if not self.is_additive:
            return self._condition_rows()
        return self._named_rows() if self._names_classes else self._literal_rows()

    @property
    def _names_classes(self) -> bool:
        """Whether rules name classes, of which there are more than two."""
        return len(self.schema.target) > 2 and any(rule.about is None for rule in self.rules)

    def _literal_rows(self) -> dict[str, list[Any]]:
        """Add up votes for and against a class: a test's opposite has opposite votes."""
        counts: Counter[tuple[Test | None, int]] = Counter()
        for rule in self.rules:
            assert isinstance(rule, LiteralRule)
            sign = 1 if rule.if_true == 1 else -1
            test = None if rule.if_true == rule.if_false else rule.literal
            if test is not None:
                test, same = shorter_test(self.schema, test)
                sign = sign if same else -sign
            counts[test, 1 if rule.about is None else rule.about] += sign
        order = sorted(
            ((key, votes) for key, votes in counts.items() if votes),
            key=lambda item: (-abs(item[1]), _place(item[0][0]), item[0][1]),
        )
        return self._rows([(test, votes, label) for (test, label), votes in order])

    def _named_rows(self) -> dict[str, list[Any]]:
        """Count equal rules, each of which names a class and another one otherwise."""
        counts: Counter[tuple[Test | None, int, int]] = Counter()
        for rule in self.rules:
            assert isinstance(rule, LiteralRule)
            counts[rule.literal, rule.if_true, rule.if_false] += 1
        order = sorted(counts.items(), key=lambda item: (-item[1], _place(item[0][0]), item[0][1:]))
        rows = self._rows([(test, votes, label) for (test, label, _), votes in order])
        return {**rows, "otherwise": [self.schema.target[label] for (_, _, label), _ in order]}

    def _rows(self, lines: list[tuple[Test | None, int, int]]) -> dict[str, list[Any]]:
        return {
            "votes": [votes for _, votes, _ in lines],
            "column": [
                "" if test is None else self.schema.names[test.column] for test, _, _ in lines
            ],
            "literal": [
                "always" if test is None else literal_words(self.schema, test)
                for test, _, _ in lines
            ],
            "class": [self.schema.target[label] for _, _, label in lines],
        }

    def _condition_rows(self) -> dict[str, list[Any]]:
        counts: Counter[tuple[Condition, int]] = Counter()
        for rule in self.rules:
            for path, label in rule.leaves():
                if rule.about is None:
                    counts[path, label] += 1
                else:
                    counts[path, rule.about] += 1 if label else -1
        order = sorted(
            ((key, votes) for key, votes in counts.items() if votes),
            key=lambda item: (
                -abs(item[1]),
                [_place(test) for test, _ in item[0][0]] or [_place(None)],
                str(item[0]),
            ),
        )
        names = self.schema.names
        return {
            "votes": [votes for _, votes in order],
            "column": [
                ", ".join(dict.fromkeys(names[test.column] for test, _ in path))
                for (path, _), _ in order
            ],
            "literal": [condition_words(self.schema, path) for (path, _), _ in order],
            "class": [self.schema.target[label] for (_, label), _ in order],
        }

    def scorecard(self) -> Any:
        """Return the votes by value as a frame: column, value, points, and class if they are many.

        Whoever adds up the points of the value that holds in each column, and those to start with
        (whose column is empty), has the votes: with two classes, those for the second minus those
        for the first; with more, those of each class. The points of a column begin at 0. A rule on
        several columns counts as one more column; `rule` numbers them, and is 0 elsewhere. A model
        has a scorecard if most are 1-rules.
        """
        return make_frame(self.score_rows())

    def score_rows(self) -> dict[str, list[Any]]:
        """Return what `scorecard` shows, as lists by column."""
        lines = card_lines(self)
        rows: dict[str, list[Any]] = {
            "column": [line.column for line in lines],
            "value": [line.value for line in lines],
            "points": [line.points for line in lines],
        }
        if any(line.rule for line in lines):
            rows["rule"] = [line.rule for line in lines]
        if len(self.schema.target) > 2:
            rows["class"] = [self.schema.target[line.label] for line in lines]
        return rows

    def feature_use(self) -> Any:
        """Return how much each column is used, as a frame: column, rules, literals.

        `rules` counts the rules that test the column and `literals` its distinct tests; the sum
        of the latter is the paper's count of features, if literals are one-hot. Columns that no
        rule tests have zeros.
        """
        counts = self.use_counts()
        return make_frame(
            {
                "column": list(counts),
                "rules": [rules for rules, _ in counts.values()],
                "literals": [literals for _, literals in counts.values()],
            }
        )

    def use_counts(self) -> dict[str, tuple[int, int]]:
        """Return what `feature_use` shows: rules and literals by column."""
        rules = Counter(column for rule in self.rules for column in rule.columns)
        tested = {lit for rule in self.rules for path, _ in rule.leaves() for lit, _ in path}
        literals = Counter(literal.column for literal in tested)
        return {name: (rules[at], literals[at]) for at, name in enumerate(self.schema.names)}

    def importances(self) -> Any:
        """Return each column's share in moving the votes, as a frame: column, importance.

        A column moves as many votes as change, on average, when it alone goes from one declared
        value or bin to another one, all of them counting alike. That follows from the released
        rules, so it costs no privacy. It does not say how common values are, nor how much accuracy
        a column is worth, nor that it causes anything.

        Returns
        -------
        frame
            One line for each declared column. Importances sum to 1; a column without any has 0.

        Examples
        --------
        >>> from smoothboost import SmoothBoostClassifier, datasets
        >>> demo = datasets.load_demo()
        >>> clf = SmoothBoostClassifier(schema=demo.schema).fit(demo.data, demo.target)
        >>> float(clf.model_.importances()["importance"].sum().round(6))
        1.0
        """
        shares = self.importance_shares()
        return make_frame({"column": list(self.schema.names), "importance": shares.tolist()})

    def importance_shares(self) -> NDArray[np.float64]:
        """Return what `importances` shows, as an array in the order of the schema."""
        n_codes = [column.n_codes for column in self.schema.columns.values()]
        return importance_shares(self._tables, n_codes)

    def explain_row(self, row: Any) -> Any:
        """Return what each column adds to the decision on a row, as a frame.

        Parameters
        ----------
        row : mapping, series, sequence, or table of one row
            The row's cells: by the names of columns, or in the order of the schema. Columns that
            do not matter may be left out of what has names.

        Returns
        -------
        frame
            Its columns are column, value (what the row has there), votes and class. Votes add up
            to `decision_function`, of each class if there are more than two; of two, they are
            votes for the second one. Rules on several columns count for them together. Lines that
            belong to no column say what is always added, the threshold, and what else the link
            adds.

        Examples
        --------
        >>> from smoothboost import SmoothBoostClassifier, datasets
        >>> demo = datasets.load_demo()
        >>> clf = SmoothBoostClassifier(schema=demo.schema).fit(demo.data, demo.target)
        >>> person = demo.test_data.iloc[0]
        >>> votes = clf.model_.explain_row(person)["votes"].sum()
        >>> bool(abs(votes - clf.model_.decision_function(demo.test_data[:1])[0]) < 1e-9)
        True
        """
        return make_frame(self.contributions(row))

    def contributions(self, row: Any) -> dict[str, list[Any]]:
        """Return what `explain_row` shows, as lists by column."""
        return contribution_rows(self, self._tables, row)

    def shapes(self) -> tuple[list[Shape], int]:
        """Return what `ShapeDisplay` draws, and how many rules test too many columns for it."""
        return shapes_of(self, self._tables)

    def __str__(self) -> str:
        return votes_text(self)

    def _repr_html_(self) -> str:
        return model_html(self)

    @property
    def content_hash(self) -> str:
        """The SHA-256 of the model's bytes as `write` writes them, to cite the release by."""
        return content_hash(self.to_json())

    def to_json(self) -> str:
        """Write the model as JSON text; the same model always gives the same bytes."""
        return model_file.to_text(self)

    @classmethod
    def from_json(cls, text: str) -> Model:
        """Read a model from JSON text, refusing what it does not understand."""
        return cls(**model_file.from_text(text))

    def write(self, path: str | PathLike[str]) -> None:
        """Write the model to a JSON file: what may be released, and nothing else."""
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(self.to_json().encode())  # with the same line ends everywhere

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Model:
        """Read a model from a JSON file."""
        try:
            return cls.from_json(read_text(path, "model"))
        except ValueError as error:
            raise ValueError(f"{path} is not a model. {error}") from None


def _place(test: Test | None) -> tuple[float, int, int, tuple[int, ...]]:
    """Where a test stands: in the order of the schema, constants last."""
    if test is None:
        return inf, 0, 0, ()
    if isinstance(test, Members):
        return test.column, test.codes[0], test.codes[-1] + 1, test.codes
    return test.column, test.start, test.stop, ()
