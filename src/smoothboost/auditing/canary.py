"""Canary checks: rows are drawn by coins, a model is fitted once, and the coins are guessed.

In the manner of Steinke, Nasr and Jagielski, "Privacy Auditing with One (1) Training Run" (2023).
Neighbours here have a row replaced, so a canary is one of two rows and a fair coin says which.
"""

from __future__ import annotations

import warnings
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from smoothboost.auditing.checks import Check
from smoothboost.auditing.statistical import ALARM, CONFIDENCE, bounded
from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.exceptions import BudgetTooSmallWarning, WeakPrivacyWarning
from smoothboost.parameters import bit_source
from smoothboost.table.coded import Table
from smoothboost.table.schema import Categorical, Schema

N_CANARIES = 250
"""Each has a category of its own, and a column has at most 256 codes."""


def chance_of(right: int, n_guesses: int, n_canaries: int, epsilon: float, delta: float) -> float:
    """Return how likely so many right guesses are at most, if (epsilon, delta) holds.

    Given the model and all other coins, one coin's odds are e**epsilon at most (Bayes, and the
    two rows that it chooses between make neighbours). So with delta = 0 the number of right guesses
    is at most binomial with success probability e**epsilon / (1 + e**epsilon), in the order of
    stochastic dominance. For delta > 0, Theorem 5.2 of Steinke, Nasr and Jagielski adds
    2 * n_canaries * delta * max over i of P[right - i <= B < right] / i, with B that binomial.

    Examples
    --------
    >>> round(chance_of(60, 100, 100, 0.0, 0.0), 4)  # sixty heads of a hundred, or more
    0.0284
    """
    success = 1 / (1 + exp(-epsilon))
    tail = float(binom.sf(right - 1, n_guesses, success))
    if not delta:
        return tail
    steps = np.arange(1, right + 1)
    near = (binom.sf(right - steps - 1, n_guesses, success) - tail) / steps
    return min(1.0, tail + 2 * n_canaries * delta * float(near.max(initial=0.0)))


def guessed_bound(right: int, n_guesses: int, n_canaries: int, delta: float, error: float) -> float:
    """Return the largest epsilon that so many right guesses rule out, with this error.

    Examples
    --------
    >>> round(guessed_bound(180, 250, 250, 0.0, 0.05), 2)
    0.71
    >>> guessed_bound(125, 250, 250, 0.0, 0.05)
    0.0
    """
    if chance_of(right, n_guesses, n_canaries, 0.0, delta) > error:
        return 0.0
    low, high = 0.0, 1.0
    while high < 64 and chance_of(right, n_guesses, n_canaries, high, delta) <= error:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        if chance_of(right, n_guesses, n_canaries, middle, delta) <= error:
            low = middle
        else:
            high = middle
    return low


def guesses_from(votes: NDArray[np.float64]) -> NDArray[np.intp]:
    """Guess each canary's coin from its votes alone: 1, 0, or -1 for no guess.

    Votes that two thirds of the canaries share were not chosen for any of them, so these are not
    guessed, and the others by which side they are on; else all are, by the mean.

    Examples
    --------
    >>> guesses_from(np.array([2.0, -1.0, -1.0, -1.0, -1.0, -3.0])).tolist()
    [1, -1, -1, -1, -1, 0]
    """
    values, counts = np.unique(votes, return_counts=True)
    common = values[counts.argmax()]
    if 3 * counts.max() < 2 * len(votes):
        return np.where(votes > votes.mean(), 1, 0)
    return np.where(votes == common, -1, np.where(votes > common, 1, 0))


def canary_check(what: str, epsilon: float, delta: float, **parameters: Any) -> Check:
    """Fit a model to canaries, guess their coins from its votes, and bound epsilon from below.

    Every row is a canary: alone in its category, of a class that a coin of the operating system
    says.

    Parameters
    ----------
    what : str
        What is fitted, in words.
    epsilon, delta : float
        The claim.
    **parameters : Any
        Further parameters of the `SmoothBoostClassifier`.
    """
    names = [f"person {at}" for at in range(N_CANARIES)]
    column = Categorical(names, other=False, missing=False)
    schema = Schema({"who": column}, target=["tails", "heads"])
    packed = np.frombuffer(bit_source(None, private=True).take(-(-N_CANARIES // 8)), np.uint8)
    coins = np.unpackbits(packed)[:N_CANARIES]
    table = Table(schema, np.arange(N_CANARIES, dtype=np.uint8)[None, :], coins)
    clf = SmoothBoostClassifier(schema, epsilon=epsilon, delta=delta, **parameters)
    with warnings.catch_warnings():
        for expected in (BudgetTooSmallWarning, WeakPrivacyWarning):
            warnings.simplefilter("ignore", expected)
        model = clf.fit(table, None).model_
    votes = model.decision_function(np.array(names, dtype=object)[:, None])
    guesses = guesses_from(votes)
    made = guesses >= 0
    right, n_guesses = int((guesses[made] == coins[made]).sum()), int(made.sum())
    counts = (right, n_guesses, N_CANARIES, delta)
    bound, sure = guessed_bound(*counts, 1 - CONFIDENCE), guessed_bound(*counts, ALARM)
    words = (
        f"one fit to {N_CANARIES} canaries, rules chosen: {len(model.rules)}; {right} of "
        f"{n_guesses} guesses were right"
    )
    return bounded("canary", what, float(epsilon), bound, sure, words)
