"""`predict`."""

from __future__ import annotations

from smoothboost import _validate
from smoothboost._show import progress
from smoothboost.cli import options
from smoothboost.cli.showing import out, say
from smoothboost.release.model import Model
from smoothboost.release.scored import write_scored
from smoothboost.table.files import PIPE, Reading, check_suffix, parts_of, reserved
from smoothboost.table.streams import n_rows_of
from smoothboost.table.writers import WRITTEN


def predict(
    model: options.ModelFile,
    data: options.Data,
    output: options.ScoredOutput,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    format: options.Format = None,
    decimal: options.Decimal = None,
    output_format: options.OutputFormat = None,
    force: options.Force = False,
) -> None:
    """Add a prediction and the probability of each class to rows, batch by batch."""
    released = Model.read(model)
    reading = Reading(separator, encoding, format, decimal)
    if str(output) == PIPE:
        written = _validate.one_of("output-format", output_format or "csv", WRITTEN)
        write_scored(released, parts_of(data, reading), None, f".{written}")
        return
    if output_format is not None:
        raise ValueError("Expected an --output-format with -o - only: a file's name says its own.")
    suffix = check_suffix(output)
    with reserved(output, force) as temporary:
        parts = parts_of(data, reading)
        with progress(1, "rows", n_rows_of(parts), leave=False) as on_rows:
            n_rows = write_scored(released, parts, temporary, suffix, on_rows)
    say(out, f"Wrote {output}: {n_rows:,} rows with their predictions.")
