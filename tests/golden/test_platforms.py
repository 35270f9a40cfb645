"""What every platform has to agree on: the bytes of models."""

from __future__ import annotations

import json

import numpy as np
import pytest
from golden_models import CASES, RECORDED, hash_of

from smoothboost.fitting.plan import make_plan
from smoothboost.link import nearest_exp
from smoothboost.privacy import accountant

HASHES = json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_models_have_the_bytes_that_every_platform_gives_them(name):
    assert hash_of(name) == HASHES[name]


def test_the_recorded_models_all_differ():
    assert HASHES.keys() == CASES.keys()
    assert len(set(HASHES.values())) == len(CASES)


@pytest.mark.parametrize("towards", [-np.inf, np.inf])
@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(("auto, 2", "three"))])
def test_no_model_depends_on_the_last_digits_of_logarithms(name, towards, monkeypatch):
    """They differ from processor to processor, even with the same libraries."""
    for curve in ("bounded_range_curve", "pure_curve"):
        own = getattr(accountant, curve)
        monkeypatch.setattr(
            accountant, curve, lambda *given, own=own: np.nextafter(own(*given), towards)
        )
    make_plan.cache_clear()
    try:
        assert hash_of(name) == HASHES[name]
    finally:
        make_plan.cache_clear()


def test_exponentials_in_models_are_rounded_correctly():
    assert nearest_exp(0.0) == 1
    # glibc's gives ...aa, and other libraries give other bits elsewhere.
    assert nearest_exp(float.fromhex("-0x1.2ec2cb643a9c0p-2")).hex() == "0x1.7cf25fddc23abp-1"
