"""Models in other forms: SQL, ONNX and one Python file.

Each is written from the model alone, so it is as private as the model, and predicts the same.
"""

from smoothboost.release.exports.onnx_graph import to_onnx
from smoothboost.release.exports.python_file import to_python
from smoothboost.release.exports.sql import to_sql

__all__ = ["to_onnx", "to_python", "to_sql"]
