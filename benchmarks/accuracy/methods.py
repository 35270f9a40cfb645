"""What can be fitted, and what a result is kept by."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from benchmarks.accuracy import ebm, logistic, ours, unprotected
from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.metrics import Prediction, Result, measured
from benchmarks.accuracy.sources import (
    Source,
    coded_split,
    digest_of_codes,
    digest_of_rows,
    load,
    split,
)
from experiments.methods import ROOT, _without_words

PACKAGE = ROOT / "src" / "smoothboost"
TALK = {"_show", "display", "plan_text", "draft", "files", "theory", "wording"}
"""Modules of smoothboost that no accuracy depends on."""
PURE, APPROXIMATE = 0.0, 1e-5
DELTAS = (PURE, APPROXIMATE)


@dataclass(frozen=True)
class Method:
    """Something to fit.

    Parameters
    ----------
    label : str
        What the page calls it.
    kind : {"ours", "private", "open"}
        Ours, a private peer, or a model without privacy.
    run : callable
        Fits, and predicts the test rows.
    module : str
        The file beside this one that holds its code.
    library : str
        The installed package whose version a result depends on.
    deltas : tuple of float
        The deltas it can be fitted with.
    two_classes : bool
        Whether it can tell two classes only.
    """

    label: str
    kind: str
    run: Callable[[Fit], Prediction]
    module: str
    library: str
    deltas: tuple[float, ...] = DELTAS
    two_classes: bool = False


def _ours(label: str, learner: str) -> Method:
    return Method(label, "ours", partial(ours.fitted, learner=learner), "ours", "numpy")


def _ebm(label: str, **options: float) -> Method:
    run = partial(ebm.fitted, options=options)
    return Method(label, "private", run, "ebm", "interpret-core", (APPROXIMATE,), True)


def _logistic(label: str, calibration: str) -> Method:
    run = partial(logistic.fitted, calibration=calibration)
    return Method(label, "private", run, "logistic", "diffprivlib", (PURE,), True)


def _open(label: str, run: Callable[[Fit], Prediction]) -> Method:
    return Method(label, "open", run, "unprotected", "scikit-learn", (PURE,))


METHODS = {
    "defaults": _ours("ours", "defaults"),
    "one_rule": _ours('ours, `"one_rule"`', "one_rule"),
    "pair_rule": _ours('ours, `"pair_rule"`', "pair_rule"),
    "top_down": _ours('ours, `"top_down"`', "top_down"),
    "ebm": _ebm("DP-EBM"),
    "ebm_fast": _ebm("DP-EBM, learning rate 0.1", learning_rate=0.1),
    "diffprivlib": _logistic("diffprivlib's LR ¹", "diffprivlib"),
    "dp_lr": _logistic("DP-LR", "proved"),
    "boosting": _open("gradient boosting, no privacy", partial(unprotected.boosted, depth=3)),
    "stumps": _open("boosted stumps, no privacy", partial(unprotected.boosted, depth=1)),
    "linear": _open("logistic regression, no privacy", unprotected.linear),
}
OURS = [name for name, method in METHODS.items() if method.kind == "ours"]
PRIVATE = [name for name, method in METHODS.items() if method.kind == "private"]
OPEN = [name for name, method in METHODS.items() if method.kind == "open"]
GROUPS = {"ours": OURS, "private": PRIVATE, "open": OPEN, "peers": PRIVATE + OPEN}


def run(fit: Fit) -> Result:
    """Fit, test, and return the numbers."""
    prediction = METHODS[fit.method].run(fit)
    if METHODS[fit.method].module in ("ours", "ebm"):
        return measured(prediction, split(fit.source, fit.fold).places)
    return measured(prediction, coded_split(fit.source, fit.fold)[1].labels)


def key(fit: Fit) -> str:
    """Return what a result is kept by: what was asked, what the method saw, and its code.

    Our results depend on the library's source. Peers' do not: they are kept by the peer's version
    and by a digest of the very cells it gets.
    """
    method = METHODS[fit.method]
    facts = {
        "table": fit.source.name,
        "method": fit.method,
        "options": getattr(method.run, "keywords", {}),
        "epsilon": fit.epsilon,
        "delta": fit.delta,
        "fold": fit.fold,
        "seed": fit.seed,
        "saw": _seen(fit.source, method.module),
        method.library: version(method.library),
    }
    return f"{EDITIONS[method.module]} {json.dumps(facts, sort_keys=True)}"


@cache
def n_classes(source: Source) -> int:
    """Return how many classes a table has."""
    return len(load(source).schema.target)


@cache
def _seen(source: Source, module: str) -> str:
    """Return a fingerprint of the cells and facts that a kind of method is given."""
    if module in ("logistic", "unprotected"):
        return digest_of_codes(source)
    schema = load(source).schema
    facts = schema.to_json() if module == "ours" else json.dumps(ebm.bounds(schema))
    return digest_of_rows(source) + sha256(facts.encode()).hexdigest()[:16]


def _edition(module: str) -> str:
    """Return a fingerprint of the code behind a result; comments and docstrings do not count."""
    here = Path(__file__).parent
    files = [here / "metrics.py", here / f"{module}.py"]
    if module == "ours":
        files += [
            path
            for path in PACKAGE.rglob("*.py")
            if path.stem not in TALK and path.parent.name != "cli"
        ]
        files += PACKAGE.rglob("*.pyx")
    if module == "logistic":
        files.append(ROOT / "experiments" / "baselines" / "dp_lr.py")
    digest = sha256()
    for path in sorted(files):
        text = path.read_text(encoding="utf-8")
        digest.update((_without_words(text) if path.suffix == ".py" else text).encode())
    return digest.hexdigest()[:16]


# Made at once: code that is edited while it runs must not be taken for what runs.
EDITIONS = {module: _edition(module) for module in {each.module for each in METHODS.values()}}
