"""A schema and a frame to immutable codes: one byte per cell, one class position per row.

Each cell's code depends on that cell and the schema alone. The work goes through the frame in
slices of rows, so that beyond the codes only a slice is ever copied.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from smoothboost._validate import counted
from smoothboost.table._encoding import NumberColumns
from smoothboost.table.cells import Codes, codes_of_values, encoder, grid_of, objects
from smoothboost.table.columns import Column, Date, Numeric
from smoothboost.table.declared import text_of
from smoothboost.table.sources import Source, read_slice, source_of

if TYPE_CHECKING:
    from smoothboost.table.schema import Schema

_SLICE = 32768  # rows

MAX_ROWS = 1 << 32
"""The engine numbers rows in 32 bits; more than this calls for a cluster anyway."""


@dataclass(frozen=True, eq=False)
class Table:
    """A frame as the declared codes: what the engines count.

    Parameters
    ----------
    schema : Schema
        The declared public facts.
    codes : array of uint8, shape (n_columns, n_rows)
        The code of every cell.
    labels : array of uint8, shape (n_rows,)
        The position of every row's class among the declared ones.

    Examples
    --------
    >>> import numpy as np
    >>> from smoothboost import Numeric, Schema
    >>> schema = Schema({"age": Numeric(edges=[30, 60])}, target=["no", "yes"])
    >>> table = Table.from_frame(schema, np.array([[25.0], [61.0], [30.0]]), ["no", "yes", "no"])
    >>> table.codes, table.labels
    (array([[0, 2, 0]], dtype=uint8), array([0, 1, 0], dtype=uint8))
    """

    schema: Schema
    codes: Codes
    labels: Codes

    def __post_init__(self) -> None:
        self.codes.setflags(write=False)
        self.labels.setflags(write=False)

    @property
    def n_rows(self) -> int:
        """The number of rows; public."""
        return len(self.labels)

    @classmethod
    def from_frame(cls, schema: Schema, frame: Any, labels: Any, n_threads: int = 1) -> Table:
        """Encode a frame (or an array, by position) and its labels."""
        columns = declared_columns(schema, frame)
        classes = encode_labels(schema, labels, n_threads)
        if columns.n_rows != len(classes):
            raise ValueError(
                f"Expected as many labels as rows, got {counted(len(classes), 'label')} "
                f"and {counted(columns.n_rows, 'row')}."
            )
        if columns.n_rows >= MAX_ROWS:
            raise ValueError(f"Expected fewer than {MAX_ROWS:,} rows, got {columns.n_rows:,}.")
        if not columns.n_rows:
            raise ValueError("Expected at least one row, got an empty table (0 sample(s)).")
        return cls(schema, columns.encode(range(len(schema.columns)), n_threads), classes)


@dataclass(frozen=True)
class DeclaredColumns:
    """The declared columns of a frame, checked but not yet read.

    `sources` holds each column's cells by its position: a NumPy array of all of them, or what
    reads a slice, from one row up to another.
    """

    columns: Sequence[Column]
    n_rows: int
    sources: Mapping[int, Source]

    def encode(self, positions: Sequence[int], n_threads: int = 1) -> Codes:
        """Return the codes of some columns, one row of the result per column."""
        codes = np.empty((len(positions), self.n_rows), dtype=np.uint8)
        write = self.writer(positions)
        in_slices(
            self.n_rows, n_threads, lambda start, stop: write(start, stop, codes[:, start:stop])
        )
        return codes

    def writer(self, positions: Sequence[int]) -> Callable[[int, int, Codes], None]:
        """Return the function that writes the codes of some columns, from a row up to another."""
        floats, grids, places, others = [], [], [], []
        for place, position in enumerate(positions):
            column, source = self.columns[position], self.sources[position]
            array = source if isinstance(source, np.ndarray) else None
            if isinstance(column, Numeric) and array is not None and array.dtype == np.float64:
                floats.append(array)  # one kernel reads all of these
                grids.append(grid_of(column))
                places.append(place)
            else:
                others.append((place, encoder(column), source))
        numbers, at = NumberColumns(floats, grids), np.array(places, dtype=np.int64)

        def write(start: int, stop: int, codes: Codes) -> None:
            numbers.encode(start, at, codes)
            for place, encode, source in others:
                encode(read_slice(source, start, stop), codes[place])

        return write


def in_slices(n_rows: int, n_threads: int, work: Callable[[int, int], object]) -> None:
    """Do work(start, stop) on all rows, some at a time: few enough to stay in the caches."""
    starts = range(0, n_rows, _SLICE)
    stops = [min(start + _SLICE, n_rows) for start in starts]
    if n_threads == 1 or len(stops) == 1:
        for start, stop in zip(starts, stops, strict=True):
            work(start, stop)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(work, starts, stops))


def declared_columns(
    schema: Schema, frame: Any, needed: Collection[str] | None = None
) -> DeclaredColumns:
    """Find the declared columns in a frame by name, or in an array by position.

    A frame must have the `needed` ones, by default all; others are never read. Raises on a
    missing column, a repeated name, or a type that no cell could satisfy; never on a cell.
    """
    columns = tuple(schema.columns.values())
    if hasattr(frame, "todense"):
        raise TypeError("Expected a dense frame or array, got a sparse matrix; call .toarray().")
    native = as_frame(frame)
    if native is None:
        array = _as_array(frame, schema)
        by_column = {position: array[:, position] for position in range(len(columns))}
        return DeclaredColumns(columns, len(array), by_column)
    needed = schema.names if needed is None else needed
    _check_names(needed, native.columns)
    by_position = {at: native.get_column(n) for at, n in enumerate(schema.names) if n in needed}
    for position, series in by_position.items():
        _check_type(schema.names[position], columns[position], series.dtype)
    sources = {position: source_of(series) for position, series in by_position.items()}
    return DeclaredColumns(columns, len(native), sources)


def as_frame(data: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame of any library through narwhals, and None for anything else."""
    if isinstance(data, np.ndarray):
        return None  # at once: narwhals looks for its plugins first
    try:
        native = nw.from_native(data, eager_only=True, pass_through=True)
    except DuplicateError as error:
        raise ValueError(f"Expected each column name once in the frame. {error}") from None
    return native if isinstance(native, nw.DataFrame) else None


def encode_labels(schema: Schema, labels: Any, n_threads: int = 1) -> Codes:
    """Return the position of each label among the declared classes.

    A label that is not declared is the curator's mistake and raises; the message does not say
    which or where.
    """
    source, n_rows = labels_source(labels)
    classes = class_positions(schema)
    positions = np.empty(n_rows, dtype=np.uint8)
    undeclared = []  # how many there are in each slice

    def encode(start: int, stop: int) -> None:
        some = codes_of_values(read_slice(source, start, stop), classes, unknown=-1, missing=-1)
        undeclared.append(np.count_nonzero(some < 0))
        positions[start:stop] = some

    in_slices(n_rows, n_threads, encode)
    if any(undeclared):
        declared = ", ".join(repr(label) for label in schema.target)
        raise ValueError(
            f"Expected every label in the target column to be a declared class ({declared}); "
            "some are not. Declare them in the schema's target or remove those rows. "
            "A blank line of a file is a row without a label."
        )
    return positions


def labels_source(labels: Any) -> tuple[Source, int]:
    """Return where labels are, and how many."""
    if labels is None or isinstance(labels, str):
        raise TypeError(
            "Expected labels, one for each row, got "
            + ("None." if labels is None else "a text: only of files does it name a column.")
        )
    plain = isinstance(labels, np.ndarray)
    native = labels if plain else nw.from_native(labels, series_only=True, pass_through=True)
    if isinstance(native, nw.Series):
        return source_of(native), len(native)
    listed = isinstance(labels, list | tuple | range)
    array = objects(labels) if listed else np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"Expected labels in one dimension, got shape {array.shape}.")
    return array, len(array)


def class_positions(schema: Schema) -> dict[str, int]:
    """Return the position of each class by the texts that a label may have.

    Programs write True in other cases too, and all of them read it alike.
    """
    cases = {
        case(str(label)): at
        for at, label in enumerate(schema.target)
        if isinstance(label, bool)
        for case in (str.lower, str.upper)
    }
    return {**cases, **{text_of(label): at for at, label in enumerate(schema.target)}}


def _as_array(frame: Any, schema: Schema) -> NDArray[Any]:
    if isinstance(frame, np.ma.MaskedArray):
        raise TypeError("Expected a plain array, got a masked one; call .filled(np.nan).")
    _check_kind(frame)
    array = _listed_array(frame) if isinstance(frame, list | tuple) else np.asarray(frame)
    if array.ndim != 2:
        raise ValueError(
            f"Expected a frame or a 2D array, got {type(frame).__name__} with "
            f"{counted(array.ndim, 'dimension')}. Reshape your data: .reshape(-1, 1) for "
            "a single column, .reshape(1, -1) for a single row."
        )
    if array.shape[1] != len(schema.columns):
        raise ValueError(
            f"Expected {counted(len(schema.columns), 'column')} as the schema declares, "
            f"got {array.shape[1]}."
        )
    dates = [isinstance(column, Date) for column in schema.columns.values()]
    if array.dtype.kind == "M" and all(dates):
        return array
    if array.dtype.kind not in "biufOUS":
        raise ValueError(f"Expected an array of numbers or text, got dtype {array.dtype}.")
    if array.dtype.kind in "biu" and any(dates):
        name = schema.names[dates.index(True)]
        raise ValueError(f"Expected dates in column {name!r}, got an array of {array.dtype}.")
    return array


def _check_kind(data: Any) -> None:
    """Raise on what is no frame and no array, and say how to make one of it."""
    name = type(data).__name__
    advice = None
    if isinstance(data, Mapping):
        advice = "make a frame of it, such as pandas.DataFrame(...)"
    elif isinstance(data, list | tuple) and any(isinstance(row, Mapping) for row in data):
        name, advice = f"{name} of mappings", "make a frame of it, such as pandas.DataFrame(...)"
    elif hasattr(data, "collect"):
        advice = "call .collect() first"
    elif hasattr(data, "compute"):
        advice = "call .compute() first, or take smoothboost.dask"
    if advice is not None:
        raise TypeError(f"Expected a frame or a 2D array, got a {name}: {advice}.")


def _listed_array(rows: list[Any] | tuple[Any, ...]) -> NDArray[np.object_]:
    """Put listed rows into an array cell by cell, so that each keeps its type.

    NumPy would turn numbers beside a text into texts.
    """
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return objects(rows)
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise ValueError("Expected rows of equal length, got a list of unequal ones.")
    array = np.empty((len(rows), *widths), dtype=object)
    for at, row in enumerate(rows):
        array[at] = objects(row)
    return array


def _check_names(needed: Collection[str], names: list[Any]) -> None:
    if missing := [name for name in needed if name not in names]:
        raise ValueError(
            f"Expected the declared columns {', '.join(needed)}; missing are {', '.join(missing)}."
        )


def _check_type(name: str, column: Column, dtype: Any) -> None:
    if isinstance(column, Date):  # floats may be a column of nothing but NaN
        fits = dtype in (nw.Date, nw.Datetime) if dtype.is_temporal() else True
        fits = fits and not dtype.is_integer() and dtype != nw.Boolean
    else:
        fits = column.kind == "categorical" or not dtype.is_temporal()
    if not fits or dtype.is_nested() or dtype == nw.Binary:
        raise ValueError(
            f"Expected column {name!r} to be {column.kind}, got type {dtype}, "
            "which no cell could satisfy."
        )
