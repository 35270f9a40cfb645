"""Speed and memory beside peers, in turns in one run: `make bench` prints docs/results/speed.md."""

from .tables import N_BINS, N_COLUMNS, N_ROWS, normal_schema, normal_table

__all__ = ["N_BINS", "N_COLUMNS", "N_ROWS", "normal_schema", "normal_table"]
