from __future__ import annotations

import hashlib
import os
import time

import numpy as np
import pytest

from smoothboost.privacy.randomness import SeededBits, SystemBits, uniform_below


def test_system_bits_come_from_the_operating_system(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: b"\x2a" * count)
    assert SystemBits().take(3) == b"***"


def test_system_bits_do_not_repeat():
    assert SystemBits().take(16) != SystemBits().take(16)


def test_seeded_bits_are_a_stream_that_depends_on_the_seed_alone(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 0.0)
    whole = SeededBits(5).take(10_000)
    parts = SeededBits(5)
    assert b"".join(parts.take(size) for size in (1, 4095, 2, 5902)) == whole
    assert SeededBits(6).take(100) != whole[:100]


def test_seeded_stream_is_the_same_forever():
    digest = hashlib.sha256(SeededBits(2026).take(10_000)).hexdigest()
    assert digest == "2b3a810a2514a3f6a33eac13533a6c26b7aad5ad15f64a58c39c0fa06f4bad6b"


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 256, 257])
def test_uniform_below_is_uniform(limit):
    bits = SeededBits(1)
    counts = np.bincount([uniform_below(limit, bits) for _ in range(200 * limit)], minlength=limit)
    assert len(counts) == limit
    assert np.abs(counts - 200).max() < 90  # six deviations


def test_uniform_below_one_takes_no_bits():
    class NoBits:
        def take(self, count):
            assert count == 0
            return b""

    assert uniform_below(1, NoBits()) == 0
