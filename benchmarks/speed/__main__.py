"""Run the benchmark and print its page.

Machines are shared and noisy, so what counts are ratios of medians from one run. Needs lightgbm,
xgboost and interpret-core for these peers and, for Adult, SMOOTHBOOST_DATA.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from joblib import cpu_count
from threadpoolctl import threadpool_limits

from .contestants import (
    AS_THEY_COME,
    EBM,
    N_ROUNDS,
    OURS,
    Contestant,
    Fit,
    dp_ebm,
    installed,
    private,
    private_as_it_comes,
    scikit_learn,
)
from .memory import peak_of
from .page import MANY, Found, Page
from .tables import SHAPES, Rows, adult, generated
from .timing import Times, in_turns


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed")
    parser.add_argument("--rows", type=int, nargs="*", default=[10**5, 10**6, 10**7])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--many-repeats", type=int, default=5, help=f"from {MANY:,} rows on")
    parser.add_argument("--cores", type=int, default=cpu_count())
    parser.add_argument("--shape-rows", type=int, default=10**6, help="of three shapes of tables")
    parser.add_argument("--memory-rows", type=int, default=10**6)
    parser.add_argument("--no-adult", action="store_true")
    return parser.parse_args(arguments)


def say(text: str) -> None:
    """Tell who waits what is being measured."""
    print(text, file=sys.stderr, flush=True)


def lined_up(rows: Rows, cores: int) -> Iterator[tuple[str, int, dict[str, Contestant]]]:
    """Yield each of our learners, and everybody that it is compared with."""
    for name, (learner, leaves) in OURS.items():
        peers = {peer: make(leaves, rows, cores) for peer, make in installed().items()}
        yield name, leaves, {name: private(learner, rows, cores)} | peers


def fits_and_predictions(
    title: str, rows: Rows, repeats: int, cores: int
) -> tuple[Found, dict[str, Found]]:
    """Time fits, each learner beside its peers, and what their models predict.

    Predictions are for a frame and an array, with as many rules as trees. Tables of many rows come
    after others, so that nobody has to warm up.
    """
    fitted: Found = {}
    predicted: dict[str, Found] = {"frame": {}, "array": {}}
    warm = len(rows.places) >= MANY
    array = rows.numbers.to_numpy()
    for name, leaves, all_of in lined_up(rows, cores):
        say(f"{title}: {name} beside trees of {leaves} leaves")
        models: dict[str, Any] = {}
        runs = {who: partial(_keep, models, who, each.fit) for who, each in all_of.items()}
        fitted[name] = in_turns(runs, repeats, warm)
        for held, X in (("frame", rows.frame), ("array", array)):
            looks = {who: partial(each.predict, models[who], X) for who, each in all_of.items()}
            predicted[held][name] = in_turns(looks, repeats, warm)
    return fitted, predicted


def _keep(models: dict[str, Any], who: str, fit: Fit) -> None:
    models[who] = fit()


def fits(title: str, rows: Rows, repeats: int, cores: int) -> Found:
    """Time fits, each learner beside its peers."""
    found = {}
    for name, leaves, all_of in lined_up(rows, cores):
        say(f"{title}: {name} beside trees of {leaves} leaves")
        found[name] = in_turns({who: each.fit for who, each in all_of.items()}, repeats)
    return found


def shapes(n_rows: int, repeats: int, cores: int) -> dict[tuple[str, int], dict[str, Times]]:
    """Time 1-rules and HistGradientBoosting on arrays of three shapes, on one core and on all."""
    found = {}
    for shape, make in SHAPES.items():
        X, y, schema = make(n_rows)
        rows = Rows(schema, X, y, X, y)
        for count in sorted({1, cores}):
            say(f"{shape}, {count} cores")
            with threadpool_limits(count):
                runs = {
                    "1-rules": private("one_rule", rows, count).fit,
                    "HistGradientBoosting": scikit_learn(2, rows, count).fit,
                }
                found[shape, count] = in_turns(runs, repeats)
    return found


def private_peers(rows: Rows, repeats: int, cores: int) -> dict[str, Times]:
    """Time our learners, as they come and with as many rounds, beside DP-EBM."""
    runs = {f"{N_ROUNDS} 1-rules": private("one_rule", rows, cores).fit}
    for name, learner in AS_THEY_COME.items():
        runs[f"{name}, defaults"] = private_as_it_comes(learner, rows, cores).fit
    if find_spec("interpret"):
        runs[EBM] = dp_ebm(rows).fit
        runs[f"DP-EBM, {N_ROUNDS} rounds"] = dp_ebm(rows, max_rounds=N_ROUNDS).fit
    say("Adult: private peers")
    return in_turns(runs, repeats)


def main(arguments: Sequence[str]) -> None:
    """Measure everything, then print the page."""
    asked = options(arguments)
    page = Page(asked.cores, asked.repeats, asked.many_repeats)
    with threadpool_limits(asked.cores):
        for n_rows in asked.rows:
            rows, title = generated(n_rows), f"{n_rows:,} rows"
            repeats = asked.repeats if n_rows < MANY else asked.many_repeats
            found = fits_and_predictions(title, rows, repeats, asked.cores)
            page.fits[title], page.predictions[title] = found
        if not asked.no_adult:
            rows = adult()
            page.fits["Adult"] = fits("Adult", rows, asked.repeats, asked.cores)
            page.private_peers = private_peers(rows, asked.repeats, asked.cores)
    if asked.shape_rows:
        page.shape_rows = asked.shape_rows
        page.shapes = shapes(asked.shape_rows, asked.repeats, asked.cores)
    if asked.memory_rows:
        page.memory_rows = asked.memory_rows
        page.memory = {name: peak_of(name, asked.memory_rows, asked.cores) for name in OURS}
    print(page)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
