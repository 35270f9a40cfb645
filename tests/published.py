"""The published JSON Schemas of the two file formats, for tests that write files."""

from __future__ import annotations

import json
from importlib.resources import files

from jsonschema import Draft202012Validator
from referencing import Registry, Resource


def _published(name):
    return json.loads(files("smoothboost").joinpath(f"data/{name}").read_text("utf-8"))


SCHEMA = Draft202012Validator(_published("schema.schema.json"))
MODEL = Draft202012Validator(
    _published("model.schema.json"),
    registry=Registry().with_resources(
        [(SCHEMA.schema["$id"], Resource.from_contents(SCHEMA.schema))]
    ),
)
