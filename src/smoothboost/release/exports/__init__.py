"""Models in other forms, to score rows where there is no SmoothBoost: SQL, ONNX, one Python file."""

from smoothboost.release.exports.sql import to_sql

__all__ = ["to_sql"]
