"""Which kinds of files there are, by name: light to import, for the command line's help."""

from __future__ import annotations

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")
"""What a file may be."""
TEXTS = ("csv", "tsv", "jsonl")
"""Those that may be compressed, and come through a pipe."""
WRITTEN = ("csv", "tsv", "jsonl", "parquet")
"""What can be written."""
ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
"""What the end of a name says."""
PIPE = "-"
"""Stands for standard input or output in place of a file."""
