"""What can be fitted, and which code a result depends on."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path

import diffprivlib
import numpy
import scipy
import sklearn

import smoothboost
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
TALK = {
    "_show",
    "options",
    "plan_text",
    "display",
    "draft",
    "files",
    "model",
    "theory",
    "vote_tables",
    "wording",
}
"""Modules of smoothboost that only show or store things."""


def run(fit: Fit) -> Result:
    """Fit, test, and return the numbers."""
    return METHODS[fit.method](fit)


def key(fit: Fit) -> str:
    """Return what a result is kept by: the fit's full configuration, and the code that made it."""
    return f"{EDITIONS[METHODS[fit.method].__module__]} {fit.configuration}"


def check_installed() -> None:
    """Raise if the package that runs is not the one whose fingerprint results are kept by."""
    installed, sources = Path(smoothboost.__file__).parent, ROOT / "src" / "smoothboost"
    stale = [
        path.name
        for path in sorted(sources.rglob("*.py"))
        if not _is_copy(path, installed / path.relative_to(sources))
    ]
    if stale:
        raise RuntimeError(
            f"Expected the installed smoothboost to be the one in src, got others of "
            f"{', '.join(stale)}. Run make paper, which installs it."
        )


def _is_copy(path: Path, other: Path) -> bool:
    return other.exists() and path.read_bytes() == other.read_bytes()


def _edition(module: str) -> str:
    """Return a fingerprint of all code that can change a fit's numbers.

    It changes with the code and the libraries, but not with comments and docstrings.
    """
    package, experiments = ROOT / "src" / "smoothboost", ROOT / "experiments"
    files = [
        path
        for path in package.rglob("*.py")
        if path.stem not in TALK and path.parent.name != "cli"
    ]
    files += [*package.rglob("*.pyx"), *package.rglob("*.schema.json")]
    files += [experiments / name for name in ("first_rule.py", "fit.py", "tables.py")]
    files.append(ROOT / f"{module.replace('.', '/')}.py")
    if module == peers.__name__:
        files += (experiments / "baselines").rglob("*.py")
    digest = sha256()
    for path in sorted(files):
        text = path.read_text(encoding="utf-8")
        digest.update((_without_words(text) if path.suffix == ".py" else text).encode())
    for library in (numpy, scipy, sklearn, diffprivlib):
        digest.update(f"{library.__name__} {library.__version__}\n".encode())
    return digest.hexdigest()[:16]


@cache
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


# Made at once: code that is edited while it runs must not be taken for what runs.
EDITIONS = {module.__name__: _edition(module.__name__) for module in (lazy_bb, peers)}
