"""Coverage-guided fuzzing of what reads files: `python fuzz/parsers.py model -runs=1000000`.

A text is refused by a ValueError, or read. What is read is written and read again, equal to the
byte, and a model that is read predicts. All else is a crash. Options are those of libFuzzer;
`make fuzz` gives them.
"""

from __future__ import annotations

import json
import sys
import time
from random import Random

import atheris
import numpy as np

with atheris.instrument_imports(include=["smoothboost"]):
    from smoothboost import Model, Schema

from mutations import mutated, text_of

SECONDS = 1.0
"""What an input may take of a processor: libFuzzer's clock runs on while others compute."""
SHARE_OF_BYTES = 0.2
"""How often bytes are changed, and not the document that they stand for."""


def try_schema(text: str) -> None:
    """Read a schema, and write what was read."""
    try:
        schema = Schema.from_json(text)
    except ValueError:
        return
    written = schema.to_json()
    again = Schema.from_json(written)
    assert again == schema
    assert again.to_json() == written
    assert len(schema.content_hash) == 64


def try_model(text: str) -> None:
    """Read a model, write what was read, and predict with it."""
    try:
        model = Model.from_json(text)
    except ValueError:
        return
    written = model.to_json()
    again = Model.from_json(written)
    assert again == model
    assert again.to_json() == written
    n_codes = [column.n_codes for column in model.schema.columns.values()]
    codes = np.array([[0, most - 1] for most in n_codes], dtype=np.uint8)
    votes = model.count_coded(codes)
    assert np.isfinite(model.link.probabilities(votes, model.unheard)).all()
    assert model.link.choose(votes, model.unheard).shape == (2,)
    assert str(model.guarantee)


TRIED = {"schema": try_schema, "model": try_model}


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change the document that bytes stand for, or the bytes if they stand for none."""
    random = Random(seed)
    if random.random() >= SHARE_OF_BYTES:
        try:
            changed = text_of(mutated(json.loads(data), random)).encode()
        except (ValueError, RecursionError):
            changed = b""
        if 0 < len(changed) <= max_size:
            return changed
    return bytes(atheris.Mutate(data, max_size))


def main() -> None:
    """Fuzz the parser that is named first."""
    parser, *options = sys.argv[1:]
    tried = TRIED[parser]
    slowest = 0.0

    def try_bytes(data: bytes) -> None:
        nonlocal slowest
        start = time.process_time()
        tried(data.decode("utf-8", "replace"))
        taken = time.process_time() - start
        if taken > slowest:
            slowest = taken
            print(f"slowest: {taken:.3f}", file=sys.stderr)
        assert taken < SECONDS, "a hang"

    atheris.Setup([sys.argv[0], *options], try_bytes, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
