"""`predict`."""

from __future__ import annotations

from smoothboost import _validate
from smoothboost.cli import options
from smoothboost.cli.showing import err, say, show_json


@options.takes_options
def predict(
    model: options.ModelFile,
    data: options.Data,
    output: options.ScoredOutput,
    read: options.ReadOptions,
    output_format: options.OutputFormat = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Add predictions and probabilities to rows.

    They are read and written batch by batch, so they may be more than fit into memory.

    Example: smoothboost predict income.model.json newcomers.csv -o scored.csv
    """
    from smoothboost._show import progress
    from smoothboost.release.model import Model
    from smoothboost.release.scored import write_scored
    from smoothboost.table.files import PIPE, check_suffix, parts_of, reserved
    from smoothboost.table.streams import n_rows_of
    from smoothboost.table.writers import WRITTEN

    released = Model.read(model)
    reading = read.reading()
    if str(output) == PIPE:
        written = _validate.one_of("output-format", output_format or "csv", WRITTEN)
        write_scored(released, parts_of(data, reading), None, f".{written}")
        return
    if output_format is not None:
        raise ValueError("Expected an --output-format with -o - only: a file's name says its own.")
    suffix = check_suffix(output)
    with reserved(output, force, model) as temporary:
        parts = parts_of(data, reading)
        with progress(not quiet, "rows", n_rows_of(parts), leave=False) as on_rows:
            n_rows = write_scored(released, parts, temporary, suffix, on_rows)
    if as_json:
        show_json({"output": str(output), "rows": n_rows})
    elif not quiet:
        say(err, f"Wrote {output}: {_validate.counted(n_rows, 'row')} with their predictions.")
