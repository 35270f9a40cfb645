"""Tables of few rows that are counted as more than a hundred million are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from smoothboost.counting import measure
from smoothboost.fitting.plan import make_plan


@contextmanager
def wide_sums(total_bits: int) -> Iterator[None]:
    """Make every measure wide, its sums below 2**total_bits: few bits make rounding matter."""
    make_plan.cache_clear()
    with (
        mock.patch.object(measure, "WIDE_ROWS", 0),
        mock.patch.object(measure, "_TOTAL_BITS", total_bits),
    ):
        yield
    make_plan.cache_clear()
