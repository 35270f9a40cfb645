"""A model as an ONNX graph, from plain operators that runtimes compute exactly."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smoothboost._version import __version__
from smoothboost.link import Link
from smoothboost.release.exports.parts import Tree, parts_of, provenance
from smoothboost.rules import Node, Split
from smoothboost.table.cells import MISSING_TEXTS
from smoothboost.table.columns import Boolean, Categorical, Column, Date, Numeric
from smoothboost.table.dates import UNITS, days_of

if TYPE_CHECKING:
    from smoothboost.release.model import Model

_OPSETS = {"": 17, "ai.onnx.ml": 3}
_IR_VERSION = 8  # what runtimes of 2022 read
_FARTHEST = 1 << 62  # votes, beyond those of any model
_FAINTEST, _NOT_ONE, _UNHEARD = -690.0, 1 - 2.0**-50, 1e-3


def to_onnx(model: Model) -> bytes:
    """Write a model as an ONNX file, to be run by onnxruntime and others.

    Every column that the model reads is an input of its name and of shape (rows, 1): text for
    categories, and double for numbers (NaN is missing), for true and false (1, 0, NaN) and for
    dates (days since the start of 1970, NaN). The outputs are `label`, shape (rows,), and
    `probabilities`, double, shape (rows, classes).

    Parameters
    ----------
    model : Model
        The released ensemble. It must read at least one column.

    Returns
    -------
    bytes
        What a .onnx file holds.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from smoothboost import Model, Numeric, Schema
    >>> from smoothboost.privacy.guarantee import Guarantee
    >>> from smoothboost.release.exports import to_onnx
    >>> from smoothboost.rules import Literal, LiteralRule
    >>> schema = Schema({"age": Numeric(edges=[30, 60])}, target=["no", "yes"])
    >>> guarantee = Guarantee(1.0, 0.0, 1.0, 1, 1000, "permute_and_flip", "tight", False, False)
    >>> model = Model(schema, (LiteralRule(Literal.at_most(0, 0), 0, 1),), guarantee)
    >>> session = onnxruntime.InferenceSession(to_onnx(model))
    >>> session.run(["label"], {"age": np.array([[25.0], [61.0]])})
    [array(['no', 'yes'], dtype=object)]
    """
    try:
        import onnx
    except ImportError:
        raise ValueError(
            'Expected the library onnx to write ONNX, got none; pip install "smoothboost[onnx]".'
        ) from None
    parts = parts_of(model)
    if not parts.columns:
        raise ValueError("Expected a model that reads some column; this one has no input.")
    if taken := {name for name, _ in parts.columns.values()} & {"label", "probabilities"}:
        raise ValueError(
            f"Expected no column named {taken.pop()!r}, which is how an output is called. Rename "
            "it in the schema, or use another export."
        )
    graph = _Graph(onnx)
    codes = {at: _codes(graph, *column) for at, column in parts.columns.items()}
    votes = graph.constant(parts.constant.reshape(1, -1))
    for table in parts.tables:
        place = codes[table.columns[0]]
        for axis, column in enumerate(table.columns[1:], start=1):
            width = graph.constant(np.int64(table.votes.shape[axis]))
            place = graph.add("Add", graph.add("Mul", place, width), codes[column])
        entries = graph.constant(table.votes.reshape(-1, table.votes.shape[-1]))
        votes = graph.add("Add", votes, graph.add("Gather", entries, place))
    for tree in parts.trees:
        votes = graph.add("Add", votes, _tree(graph, tree, tree.rule.root, codes))
    _answer(graph, model, votes)
    written = onnx.helper.make_model(
        graph.finished(model, list(parts.columns.values())),
        producer_name="smoothboost",
        producer_version=__version__,
        doc_string="\n".join(provenance(model)),
        opset_imports=[onnx.helper.make_opsetid(*opset) for opset in _OPSETS.items()],
        ir_version=_IR_VERSION,
    )
    onnx.checker.check_model(written)
    return bytes(written.SerializeToString(deterministic=True))


class _Graph:
    """The operators and constants so far; values are known by their names."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: Any) -> str:
        """Add a constant; whole numbers have 64 bits."""
        array = np.asarray(value)
        array = array.astype(np.int64) if array.dtype.kind == "i" else array
        name = f"/constant/{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, result: str | None = None, **options: Any) -> str:
        """Add an operator, and return the name of its result."""
        name = f"/value/{len(self._nodes)}" if result is None else result
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **options))
        return name

    def cast(self, value: str, dtype: Any) -> str:
        """Add a conversion to another type."""
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", value, to=kind)

    def sum_of_columns(self, value: str) -> str:
        """Add a sum over columns, shape (rows, 1)."""
        return self.add("ReduceSum", value, self.constant([1]), keepdims=1)

    def finished(self, model: Model, columns: list[tuple[str, Column]]) -> Any:
        """Return the whole graph."""
        helper, types = self._onnx.helper, self._onnx.TensorProto
        inputs = [
            helper.make_tensor_value_info(
                name, types.STRING if isinstance(column, Categorical) else types.DOUBLE, [None, 1]
            )
            for name, column in columns
        ]
        label = helper.np_dtype_to_tensor_dtype(_labels(model).dtype)
        outputs = [
            helper.make_tensor_value_info("label", label, [None]),
            helper.make_tensor_value_info(
                "probabilities", types.DOUBLE, [None, len(model.schema.target)]
            ),
        ]
        return helper.make_graph(
            self._nodes, "smoothboost", inputs, outputs, initializer=self._constants
        )


def _codes(graph: _Graph, name: str, column: Column) -> str:
    """Add what finds the codes of a column, shape (rows,)."""
    missing = graph.constant(np.int64(column.missing_code))
    if isinstance(column, Categorical):
        texts = {text: code for text, code in column.code_by_text.items() if text}
        blanks = dict.fromkeys(["", *sorted(MISSING_TEXTS - set(texts))], column.missing_code)
        found = graph.add(
            "LabelEncoder",
            name,
            domain="ai.onnx.ml",
            keys_strings=[*texts, *blanks],
            values_int64s=[*texts.values(), *blanks.values()],
            default_int64=column.unknown_code,
        )
    elif isinstance(column, Boolean):
        found = missing
        for code in (0, 1):
            same = graph.add("Equal", name, graph.constant(np.float64(code)))
            found = graph.add("Where", same, graph.constant(np.int64(code)), found)
    else:
        operator = "Greater" if isinstance(column, Numeric) else "GreaterOrEqual"
        above = graph.add(operator, name, graph.constant(_starts(column).reshape(1, -1)))
        counted = graph.sum_of_columns(graph.cast(above, np.int64))
        found = graph.add("Where", graph.add("IsNaN", name), missing, counted)
    return graph.add("Reshape", found, graph.constant([-1]))


def _starts(column: Numeric | Date) -> NDArray[np.float64]:
    """Return the cuts of a number; of dates, the first day of each bin but the first."""
    cuts = np.array(column.cuts, dtype=np.float64)
    if isinstance(column, Numeric):
        return cuts
    return days_of((cuts + 1).astype(np.int64).astype(f"datetime64[{UNITS[column.unit]}]"))


def _tree(graph: _Graph, tree: Tree, node: Node, codes: Mapping[int, str]) -> str:
    """Add what finds the votes of a tree's leaf, shape (rows, classes)."""
    if not isinstance(node, Split):
        return graph.constant([tree.votes_of(node)])
    holds = np.zeros((256, 1), dtype=np.bool_)
    for start, stop in node.literal.runs:
        holds[start:stop] = True
    held = graph.add("Gather", graph.constant(holds), codes[node.literal.column])
    sides = (_tree(graph, tree, child, codes) for child in (node.if_true, node.if_false))
    return graph.add("Where", held, *sides)


def _answer(graph: _Graph, model: Model, votes: str) -> None:
    """Add what follows from the votes: the outputs."""
    link, n_classes = model.link, len(model.schema.target)
    heard = [at for at in range(n_classes) if at not in model.unheard]
    some = graph.constant(heard)
    floats = graph.cast(votes, np.float64)
    if n_classes == 2:
        beyond, chosen = _two(graph, link, votes)
        behind = graph.add("Concat", graph.add("Neg", beyond), beyond, axis=1)
    else:
        own = graph.add("Gather", floats, some, axis=1)
        most = graph.add("ReduceMax", own, axes=[1], keepdims=1)
        behind = graph.add("Sub", floats, most)
        starts = graph.constant(np.array(link.head_starts)[heard].reshape(1, -1))
        largest = graph.add("ArgMax", graph.add("Add", own, starts), axis=1, keepdims=0)
        chosen = graph.add("Gather", some, largest)
    graph.add("Gather", graph.constant(_labels(model)), chosen, result="label")
    zero, one = graph.constant(np.float64(0)), graph.constant(np.float64(1))
    power = graph.add("Mul", graph.constant(np.float64(link.slope)), graph.add("Min", behind, zero))
    power = graph.add("Max", power, graph.constant(np.float64(_FAINTEST)))
    odds = graph.add("Min", graph.add("Exp", power), graph.constant(np.float64(_NOT_ONE)))
    odds = graph.add("Where", graph.add("Less", behind, zero), odds, one)
    if link.shares:
        none = graph.constant(np.array([[share > 0 for share in link.shares]]))
        odds = graph.add("Where", none, zero, odds)
        left = graph.constant(np.float64(1 - sum(link.shares)))
        odds = graph.add("Mul", graph.add("Div", odds, graph.sum_of_columns(odds)), left)
        shares = graph.constant(np.array([link.shares]))
        graph.add("Add", odds, shares, result="probabilities")
        return
    if model.unheard:
        least = graph.add(
            "ReduceMin", graph.add("Gather", odds, some, axis=1), axes=[1], keepdims=1
        )
        faint = graph.add("Mul", least, graph.constant(np.float64(_UNHEARD)))
        unheard = np.array([[at not in heard for at in range(n_classes)]])
        odds = graph.add("Where", graph.constant(unheard), faint, odds)
    graph.add("Div", odds, graph.sum_of_columns(odds), result="probabilities")


def _two(graph: _Graph, link: Link, votes: str) -> tuple[str, str]:
    """Add how far the votes of the second class lead beyond even odds, and which is chosen."""
    first, second = (graph.add("Gather", votes, graph.constant([at]), axis=1) for at in (0, 1))
    lead = graph.add("Sub", second, first)
    # Votes are whole: to be above a fraction is to be above the whole number below it.
    threshold = min(max(floor(link.threshold), -_FARTHEST), _FARTHEST)
    above = graph.add("Greater", lead, graph.constant(np.int64(threshold)))
    chosen = graph.add("Reshape", graph.cast(above, np.int64), graph.constant([-1]))
    offset = graph.constant(np.float64(link.offset))
    return graph.add("Sub", graph.cast(lead, np.float64), offset), chosen


def _labels(model: Model) -> NDArray[Any]:
    """Return the classes as ONNX holds them: text, or numbers, or true and false."""
    return model.classes.astype(object) if model.classes.dtype.kind == "U" else model.classes
