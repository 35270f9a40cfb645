"""What the paper promises about accuracy, as plain functions.

Everything here is computed from public numbers, before any row is read. The promises are worst
cases, and far from what is seen in practice: `rows_needed` says how far.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log, sqrt
from typing import Any

from smoothboost._validate import number, rational, whole
from smoothboost.privacy.accountant import advanced_composition

__all__ = [
    "advanced_composition",
    "learning_rate",
    "margin_bound",
    "paper_exponent",
    "remaining_advantage",
    "rounds_needed",
    "rows_needed",
    "selection_loss",
]


def rounds_needed(density: float, advantage: float) -> int:
    """Return the rounds after which all but a share of the rows have a good margin.

    Parameters
    ----------
    density : float
        The share kappa of the rows that may be left with a margin of `advantage` or less,
        in (0, 1).
    advantage : float
        The gamma by which every rule's weighted accuracy exceeds one half, in (0, 1/2].

    Returns
    -------
    int
        16 ln(1 / kappa) / gamma**2, rounded up.

    Examples
    --------
    The paper's own example, "approximately 4,000 rounds":

    >>> rounds_needed(density=1 / 2, advantage=1 / 20)
    4437
    """
    kappa = float(_share("density", density))
    return ceil(16 * log(1 / kappa) / float(_advantage(advantage)) ** 2)


def learning_rate(advantage: float) -> float:
    """Return the learning rate that goes with `rounds_needed`: gamma / 4.

    Parameters
    ----------
    advantage : float
        The weak learner's advantage gamma over guessing.

    Examples
    --------
    >>> learning_rate(advantage=1 / 20)
    0.0125
    """
    return float(_advantage(advantage) / 4)


def paper_exponent(
    epsilon: float, density: float, n_rows: int, n_rounds: int, n_splits: int | None = None
) -> float:
    """Return the paper's eta: log odds per share of the weight, at delta = 0.

    Parameters
    ----------
    epsilon : float
        The budget of all rounds.
    density : float
        The smoothness kappa, in (0, 1].
    n_rows, n_rounds : int
        The rows fitted, and the rounds tau.
    n_splits : int, optional
        The splits t of a tree; 1-rules if left out.

    Returns
    -------
    float
        epsilon * kappa * n / (4 tau) for rules, epsilon * kappa * n / (16 tau t) for splits.

    Examples
    --------
    >>> paper_exponent(epsilon=1, density=0.35, n_rows=32_561, n_rounds=25)
    113.9635
    >>> paper_exponent(epsilon=1, density=0.35, n_rows=32_561, n_rounds=25, n_splits=3)
    9.496958333333334
    """
    number("epsilon", epsilon, "> 0", lambda e: e > 0)
    kappa = _share("density", density, one=True)
    n_rows, n_rounds = whole("n_rows", n_rows, 1), whole("n_rounds", n_rounds, 1)
    factor = 4 if n_splits is None else 16 * whole("n_splits", n_splits, 1)
    return float(rational(epsilon) * kappa * n_rows / (factor * n_rounds))


def selection_loss(exponent: float, n_rules: int, failure: float) -> float:
    """Return how far below the best score a private choice stays, but for a small probability.

    Parameters
    ----------
    exponent : float
        Log odds per unit of score, eta.
    n_rules : int
        How many rules compete.
    failure : float
        The probability beta with which the choice may be worse, in (0, 1).

    Returns
    -------
    float
        ln(n_rules / beta) / eta, for the exponential mechanism; permute-and-flip does no worse.

    Examples
    --------
    >>> round(selection_loss(exponent=114.0, n_rules=326, failure=0.05), 3)
    0.077
    """
    number("exponent", exponent, "> 0", lambda e: e > 0)
    beta = _share("failure", failure)
    return log(whole("n_rules", n_rules, 1) / float(beta)) / float(exponent)


def remaining_advantage(advantage: float, exponent: float, n_rules: int, failure: float) -> float:
    """Return the advantage that a privately chosen rule keeps of the best one's.

    Zero or less says that nothing is promised.

    Parameters
    ----------
    advantage : float
        The gamma of the best rule, over every smooth distribution, in (0, 1/2].
    exponent, n_rules, failure
        As in `selection_loss`, whose value is taken off; `failure` is of one round.

    Examples
    --------
    >>> round(remaining_advantage(advantage=0.1, exponent=114.0, n_rules=326, failure=0.05), 3)
    0.023
    """
    return float(_advantage(advantage)) - selection_loss(exponent, n_rules, failure)


def rows_needed(
    epsilon: float, density: float, advantage: float, n_rules: int, failure: float
) -> int:
    """Return how many rows make the paper's promise hold with half the advantage.

    The other half goes to noise, at the paper's exponent. The theorem takes the advantage that
    the private learner keeps, so the rounds are those of half the advantage, and `failure` is
    shared out among them.

    Parameters
    ----------
    epsilon : float
        The budget of all rounds, at delta = 0.
    density : float
        The share kappa of the rows that may be left without a good margin, in (0, 1).
    advantage : float
        The gamma of the best rule, over every smooth distribution, in (0, 1/2].
    n_rules : int
        How many rules compete.
    failure : float
        The probability that the promise of the whole fit may fail with, in (0, 1).

    Returns
    -------
    int
        8 tau ln(n_rules * tau / failure) / (epsilon * kappa * gamma), rounded up.

    Examples
    --------
    Adult has 326 1-rules in the paper's coding, and 32,561 rows:

    >>> rows_needed(epsilon=1, density=1 / 2, advantage=1 / 20, n_rules=326, failure=0.05)
    105427950
    """
    number("epsilon", epsilon, "> 0", lambda e: e > 0)
    kappa, gamma = _share("density", density), _advantage(advantage)
    beta = _share("failure", failure)
    n_rounds = rounds_needed(density, float(gamma / 2))
    odds = log(whole("n_rules", n_rules, 1) * n_rounds / float(beta))
    return ceil(8 * n_rounds * odds / float(rational(epsilon) * kappa * gamma))


def margin_bound(
    margins_share: float, complexity: float, theta: float, n: int, delta: float
) -> float:
    """Return an upper bound on the test error of a vote, from the margins of its training rows.

    Parameters
    ----------
    margins_share : float
        The share of the training rows with a normalised margin, in [-1, 1], of `theta` or less.
    complexity : float
        The empirical Rademacher complexity of the rules that vote.
    theta : float
        The margin, in (0, 1], fixed before the margins are seen.
    n : int
        The training rows.
    delta : float
        The probability that the bound may fail with, in (0, 1).

    Returns
    -------
    float
        margins_share + (2 / theta) * complexity + 3 sqrt(ln(2 / delta) / (2 n)), or 1 if that
        is more.

    Notes
    -----
    Koltchinskii and Panchenko (2002), with the constants of Mohri, Rostamizadeh and Talwalkar.
    A vote has the complexity of its rules, however many they are. To try several margins, divide
    delta among them. The share and the complexity are read from the rows, unprotected.

    Examples
    --------
    >>> round(margin_bound(margins_share=0.2, complexity=0.01, theta=0.1, n=32_561, delta=0.05), 3)
    0.423
    """
    share = number("margins_share", margins_share, "in [0, 1]", lambda x: 0 <= x <= 1)
    size = number("complexity", complexity, ">= 0", lambda x: x >= 0)
    margin = float(_share("theta", theta, one=True))
    deviation = 3 * sqrt(log(2 / float(_share("delta", delta))) / (2 * whole("n", n, 1)))
    return min(1.0, share + 2 / margin * size + deviation)


def _share(name: str, value: Any, one: bool = False) -> Fraction:
    """Return a number in (0, 1), or in (0, 1], as it is written."""
    if one:
        number(name, value, "in (0, 1]", lambda x: 0 < x <= 1)
    else:
        number(name, value, "in (0, 1)", lambda x: 0 < x < 1)
    return rational(value)


def _advantage(value: Any) -> Fraction:
    number("advantage", value, "in (0, 1/2]", lambda x: 0 < x <= Fraction(1, 2))
    return rational(value)
