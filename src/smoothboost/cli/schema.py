"""`schema`: make the declared public facts."""

from __future__ import annotations

from smoothboost import _validate
from smoothboost.cli import options
from smoothboost.cli.showing import err, out, say, warn


def draft(
    data: options.Data,
    target: options.Target,
    output: options.Output,
    separator: options.Separator = None,
    force: options.Force = False,
) -> None:
    """Draft a schema from rows, for a person to edit. The draft is not private.

    All rows are read into memory: of a table that is too large for it, give a sample.

    Example: smoothboost schema draft people.csv --target income -o people.schema.json
    """
    from rich.text import Text

    from smoothboost.table.draft import draft_schema
    from smoothboost.table.files import read_table, reserved

    with reserved(output, force) as temporary:
        rows = read_table(data, separator=separator)
        if target not in rows.column_names:
            hint = _validate.near(target, rows.column_names)
            raise ValueError(
                f"Expected the target column {target!r} in {data}, got no such column.{hint}"
            )
        labels = rows[target]
        if labels.null_count:
            raise ValueError(f"Expected a class in every row of {target!r}; some have none.")
        drafted = draft_schema(rows.drop_columns([target]), labels.to_pylist())
        drafted.write(temporary)
    left_out = [n for n in rows.column_names if n not in drafted.columns and n != target]
    if left_out:
        warn(f"Left out, as their text hardly repeats: {', '.join(left_out)}.")
    note = (
        f"NOT PRIVATE: {output} was drafted from the rows. It shows every column's type, its "
        "smallest and largest value or its distinct values, and the classes. Keep it as private "
        "as the rows until a person has replaced what it read by what is publicly known."
    )
    err.print(Text(note, style="bold yellow"))
    say(out, f"Wrote {output}: {len(drafted.columns)} columns and the classes. Edit it, then:")
    say(out, f"  smoothboost plan {output} --rows {rows.num_rows} --epsilon 1")
