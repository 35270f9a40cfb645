"""What can be fitted, and which code a result depends on."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path

import diffprivlib
import numpy
import sklearn

from experiments import lazy_bb, peers
from experiments.fit import Fit
from experiments.store import Result

METHODS: dict[str, Callable[[Fit], Result]] = {
    "one_rule": lazy_bb.lazy_bb,
    "pair_rule": lazy_bb.lazy_bb,
    "top_down": lazy_bb.lazy_bb,
    "one_rule_trace": lazy_bb.traced,
    "rademacher": lazy_bb.rademacher,
    "dp_lr": peers.dp_lr,
    "dp_bag": peers.dp_bag,
    "dp_boost": peers.dp_boost,
    "gradient_boosting": peers.gradient_boosting,
}
ROOT = Path(__file__).resolve().parents[1]
TALK = [
    "classifier",
    "cli",
    "datasets",
    "display",
    "draft",
    "files",
    "model",
    "theory",
    "vote_tables",
    "wording",
]
"""Modules of smoothboost that no number comes from here; tables are checked by their checksums."""


def run(fit: Fit) -> Result:
    """Fit, test, and return the numbers."""
    return METHODS[fit.method](fit)


def key(fit: Fit) -> str:
    """Return what a result is kept by: the fit's full configuration, and the code that made it."""
    return f"{_edition(METHODS[fit.method].__module__)} {fit.configuration}"


@cache
def _edition(module: str) -> str:
    """Return a fingerprint of all code that can change a fit's numbers.

    It changes with the code and the libraries, but not with comments and docstrings.
    """
    ours, theirs = ROOT / "src", ROOT / "experiments" / "baselines"
    files = [ROOT / "experiments" / "tables.py", ROOT / f"{module.replace('.', '/')}.py"]
    files += [*ours.rglob("*.pyx"), *ours.rglob("*.schema.json")]
    code = ours if module == lazy_bb.__name__ else theirs
    files += [path for path in code.rglob("*.py") if path.stem not in TALK]
    digest = sha256()
    for path in sorted(files):
        text = path.read_text(encoding="utf-8")
        digest.update((_without_words(text) if path.suffix == ".py" else text).encode())
    if module != lazy_bb.__name__:  # LazyBB computes in integers, whatever the libraries
        for library in (numpy, sklearn, diffprivlib):
            digest.update(f"{library.__name__} {library.__version__}\n".encode())
    return digest.hexdigest()[:16]


def _without_words(source: str) -> str:
    """Return a program without its docstrings and comments."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not _is_text(line)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(line: ast.stmt) -> bool:
    return (
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
    )
