"""`export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smoothboost._output import standard_output
from smoothboost.cli import options
from smoothboost.cli.showing import out, say

OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="The file to write.", show_default="standard output, if not ONNX"
    ),
]


def export(
    model: options.ModelFile,
    sql: Annotated[
        bool, typer.Option("--sql", help="One SELECT, for DuckDB, SQLite and PostgreSQL.")
    ] = False,
    onnx: Annotated[
        bool, typer.Option("--onnx", help='An ONNX file; needs pip install "smoothboost[onnx]".')
    ] = False,
    python: Annotated[
        bool, typer.Option("--python", help="One Python file that needs no library.")
    ] = False,
    output: OutputOption = None,
    table: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --sql: the table to score.", show_default="rows"),
    ] = None,
    force: options.Force = False,
) -> None:
    """Write a model as SQL, ONNX or plain Python.

    It scores rows where there is no SmoothBoost.

    Example: smoothboost export income.model.json --sql --table people -o score.sql
    """
    from smoothboost._output import reserved
    from smoothboost.release.exports import to_onnx, to_python, to_sql
    from smoothboost.release.model import Model

    if sql + onnx + python != 1:
        asked = [name for name, on in (("sql", sql), ("onnx", onnx), ("python", python)) if on]
        got = " and ".join(f"--{name}" for name in asked) or "none of them"
        raise ValueError(f"Expected one of --sql, --onnx and --python, got {got}.")
    if table is not None and not sql:
        raise ValueError("Expected --table with --sql only, got it with another form.")
    if onnx and output is None and is_terminal():
        raise ValueError("Expected -o FILE with --onnx, as it is not text; or redirect it.")
    released = Model.read(model)
    if sql:
        content = to_sql(released, "rows" if table is None else table).encode()
    else:
        content = to_onnx(released) if onnx else to_python(released).encode()
    if output is None:
        to = standard_output()
        to.flush()
        to.buffer.write(content)
        return
    with reserved(output, force, model) as temporary:
        temporary.write_bytes(content)
    say(out, f"Wrote {output}: the model as {'SQL' if sql else 'ONNX' if onnx else 'Python'}.")


def is_terminal() -> bool:
    """Tell whether a person would see what is written."""
    return standard_output().isatty()
