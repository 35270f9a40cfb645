"""Parquet files and folders of them, and Arrow files, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pa_parquet
from pyarrow.types import is_dictionary

from smoothboost.table.streams import Part, expecting, rows_at_once

_BUFFER = 1 << 20  # bytes of a column at once, however large its row groups are


def parquet_part(path: Path) -> Part:
    """Return the rows of a Parquet file, which says how many they are."""
    what = f"{path} to be Parquet"
    with expecting(what), pa_parquet.ParquetFile(path) as file:
        metadata, schema = file.metadata, file.schema_arrow

    def read(columns: list[str], n_threads: int) -> Iterator[pa.RecordBatch]:
        size = rows_at_once(len(columns))
        options = {
            "metadata": metadata,
            "buffer_size": _BUFFER,
            "pre_buffer": False,
            # Otherwise Arrow refuses dictionaries with a text that is not UTF-8.
            "read_dictionary": [field.name for field in schema if is_dictionary(field.type)],
        }
        with expecting(what), pa_parquet.ParquetFile(path, **options) as file:
            yield from file.iter_batches(size, columns=columns, use_threads=n_threads > 1)

    return Part(str(path), schema, read, metadata.num_rows)


def parquet_folder(folder: Path) -> tuple[Part, ...]:
    """Return the rows of the Parquet files in a folder, in the order of their names.

    Files whose names begin with "." or "_" are not looked at: programs that write such folders
    keep notes of their own in them.
    """
    paths = sorted(path for path in folder.iterdir() if path.name[0] not in "._")
    for path in paths:
        if path.is_dir() or path.suffix.lower() != ".parquet":
            raise ValueError(
                f"Expected only .parquet files in the folder {folder}, got {path.name}; pass a "
                "pyarrow.dataset for a folder of another shape."
            )
    if not paths:
        raise ValueError(f"Expected .parquet files in the folder {folder}, got none.")
    return tuple(map(parquet_part, paths))


def arrow_part(path: Path) -> Part:
    """Return the rows of an Arrow or Feather file."""
    what = f"{path} to be an Arrow file"
    with expecting(what), pa.OSFile(str(path)) as file:
        schema = pa.ipc.open_file(file).schema

    def read(columns: list[str], n_threads: int) -> Iterator[pa.RecordBatch]:
        fields = [at for at, name in enumerate(schema.names) if name in columns]
        options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=n_threads > 1)
        with expecting(what), pa.OSFile(str(path)) as file:
            reader = pa.ipc.open_file(file, options=options)
            for at in range(reader.num_record_batches):
                yield reader.get_batch(at)

    return Part(str(path), schema, read)
