"""`predict`."""

from __future__ import annotations

from smoothboost._show import progress
from smoothboost.cli import options
from smoothboost.cli.showing import out, say
from smoothboost.release.model import Model
from smoothboost.release.scored import write_scored
from smoothboost.table.files import check_suffix, parts_of, reserved
from smoothboost.table.streams import n_rows_of


def predict(
    model: options.ModelFile,
    data: options.Data,
    output: options.Output,
    separator: options.Separator = None,
    force: options.Force = False,
) -> None:
    """Add a prediction and the probability of each class to rows, batch by batch."""
    released = Model.read(model)
    suffix = check_suffix(output)
    with reserved(output, force) as temporary:
        parts = parts_of(data, separator)
        with progress(1, "rows", n_rows_of(parts), leave=False) as on_rows:
            n_rows = write_scored(released, parts, temporary, suffix, on_rows)
    say(out, f"Wrote {output}: {n_rows:,} rows with their predictions.")
