"""What "auto" means: rules from public quantities and released counts, for all tables alike.

Chosen by the figures of docs/results/auto-rule.md and docs/results/accuracy.md.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

VOTES = (1, 3, 5, 7, 13, 19, 27, 37, 49, 69, 99)
"""Rounds for each problem; odd, since even numbers tie."""
MORE_VOTES = (199, 299, 499)
"""With two classes, if choices lose hardly anything to noise."""
USUAL_VOTES, VOTES_PER_NUMBER = 299, 25
"""More than usual are for many columns of numbers, each of which takes so many steps."""
ALWAYS_VOTES, ROWS_PER_VOTE, ROWS_PER_MORE_VOTES = 19, 10, 7
"""More rounds than the first need this many rows each, times ln(options): else they fit chance."""

CUTS = 3
"""How many thresholds side by side a rule on a number has, if rounds are automatic."""

REACH, REACH_PURE = (Fraction(1, 8), Fraction(2)), (Fraction(1, 16), Fraction(1, 5))
"""How far thresholds are spread in the end if numbers have fewer rounds than that.

A part of a column's bins: at most, and times numbers over rounds; twice that for a rare class.
Where budgets add, rounds are few and each sees clearly.
"""
SPREAD_ERRORS = Fraction(1, 3)
"""With as many rounds they are spread, too, if this share of the rows or more is wrong in the end.

Then steps say more of chance than of the class.
"""

PAIR_ROWS, PAIR_ROUNDS, PAIRS_EVERY = 1000, 13, 5
"""From so many rows and rounds on, one of so many looks at pairs of columns: `MixedRule`."""

NOISE_PURE, NOISE_APPROXIMATE = 0.06, 0.06
"""There are as many rounds as keep what a choice loses to noise below this share of the rows.

Where budgets add, the share is over the root of the number of rounds. The noise of a round grows
with their number there, and with its root otherwise; and votes of many noisy rounds average.
"""
FEW_VOTES, NOISE_FEW = 3, 0.07
"""The share for so few rounds: one rule alone cannot rank."""
SURE_VOTES = 49
"""With fewer votes, and no numbers, the share falls with their fourth root where squares add up.

A rule on a column of categories says all of it at once: there are no steps to average, and a few
noisy votes only spoil a sharp one.
"""
NOISE_MORE_VOTES, NOISE_SPREAD = 0.015, 0.021
"""The share for more rounds, where budgets do not add; the second where thresholds are spread."""
MORE_CLASSES_PURE, MORE_CLASSES_APPROXIMATE = 44, 22
"""With more classes the share is times this over their number: a problem weighs fewer rows."""
SEVERAL = 10
"""With fewer classes than these it is as with so many."""
TREE_VOTES = 199
"""Trees have no more rounds: without noise they learn few rows by heart."""

CEILING = Fraction(4, 5)
"""The density before the errors are known, and the largest that it may have."""
FACTOR, FACTOR_MORE_CLASSES = Fraction(2), Fraction(17, 10)
"""The density is this times the share of errors.

At twice the share of its class, a problem would name it for nobody: half of the weight is at most
there. Of two classes no more errors are believed than that; several keep away from it.
"""
MANY_ERRORS, FACTOR_MANY, LONG = Fraction(1, 4), Fraction(14, 5), 49
"""Of two classes, errors beyond this share count so many times; with so many noisy votes or more.

That is where a round makes several rules. Rows that are wrong so often are mostly chance: with more
of the others beside them, less is learned by heart.
"""
SERVED, ALWAYS_SERVED = Fraction(7, 5), Fraction(4, 5)
"""A class of several has rounds if its rows are this many times what a choice loses to noise.

Or if they are the second number's part of what it had if all classes were alike.
"""
UNEVEN = 2
"""Released shares of classes are believed to differ by what is beyond so many times the noise's."""
FLOOR = 3
"""The total weight is at least this many times what a choice of the last round loses to noise.

With more than two classes noise asks for no more than the factor above times how often saying "no"
of everybody would err: the class's share, and in plans one over their number.
"""
FLOOR_TREES = 1
"""The first number for trees of more classes: between this floor and that, noise helps them."""
FEW = Fraction(13, 10)
"""The density is at least this over the number of rounds: two classes."""
FEW_LOOKS, MANY_LOOKS = 5, 10
"""How often the errors of a problem are counted."""
LOOK_NOISE = 0.003
"""There are many looks where each loses less than this share of the rows to noise."""

RARE = Fraction(1, 10)
"""A class with fewer of the rows sets the density: two classes."""
RARE_NOISE = 0.02
"""The rows of the rarer class are counted before the first round if that loses no larger share."""

QUIET_RATE = Fraction(93, 100)
"""Without noise rates of rounds that make several rules are smaller by this: of two classes."""

FEWEST_TO_ASK, ASKED = 5, Fraction(1, 3)
"""With so many rounds the first one asks which class is larger, if one is rare.

More of them ask where the rows of numbers are, if that takes up to this part of the rounds.
"""
ASKED_NOISE = 0.15
"""And if an answer is off by less than this share of the rows."""
HIDDEN = 0.1
"""And if a choice loses more to noise than this part of the rare class's rows."""
EVENLY, EVENLY_HIDDEN = Fraction(1, 2), Fraction(1, 8)
"""This part of the thresholds stands evenly nevertheless; the second if noise hides all of them."""

SLOWING, SLOWING_MORE = Fraction(1, 2), Fraction(1, 4)
"""By what the learning rate falls on the way if the errors do not; more if these are many too."""
MANY_VOTES = 99
"""From so many noisy votes on it falls by more, as the last ones average."""
HIGHEST_RATE, HIGHEST_RATE_ALONE = Fraction(1), Fraction(7, 10)
"""The largest learning rate: of rounds that make several rules, and of single, sharper ones."""
COOLING = Fraction(7, 10)
"""A learning rate falls by this factor when a rule takes back the one before it."""

SHARES = {
    "rarer": Fraction(5, 100),
    "error": Fraction(3, 100),
    "class": Fraction(3, 100),
    "link": Fraction(3, 100),
    "threshold": Fraction(5, 100),
}
"""What kinds of looks may cost, of the squares that add up where there is a delta."""
SHARES_PURE = {
    "rarer": Fraction(1, 100),
    "error": Fraction(5, 100),
    "class": Fraction(7, 100),
    "link": Fraction(5, 100),
    "threshold": Fraction(5, 100),
}
"""Of a budget that adds up."""
LINK_NOISE = 0.05
"""A look at links is worth its price if it loses less than this share of the rows to noise."""
LINK_NOISE_FLAT, LITTLE_TOLD = 0.03, Fraction(9, 10)
"""If it loses more than the first, rules of two classes have to beat naming the larger one first.

That is where the last look at the errors released this part of the rarer class's share, or more:
rules then tell little.
"""
TOLD_BY_CHANCE, MOST_BY_CHANCE = 11, Fraction(2, 3)
COARSE = Fraction(65, 1000)
"""Few rows seem to be told by chance: 11 * c**1.5, and at most two thirds, with `by_chance` as c.

Rules tell little if they err less by no more than that, as a part of the rarer class's share. It is
asked where it is more than the last number, half of what lies between two options of a look.
"""
HEAD_START, HEAD_START_MORE_CLASSES = Fraction(3, 2), Fraction(6, 5)
"""Naming one class for everybody starts with so many times the root of rows times ln(options).

In rows: about as many as rules get right by chance alone, where they learn nothing. With two
classes times 1 - 2 * q, if naming the larger one is supposed to err q times, as rules that learn
nothing cost as much; and of few rounds none if the share of the rarer one is not known. With
several classes times sqrt(s * (1 - s)), s being the share of the largest. And never more than half
of the rows that naming a class would get wrong.
"""
ALIKE = Fraction(45, 100)
"""From this released share of the rarer one on, neither of two classes is named for everybody."""
LINK_NOISE_SURE = 0.03
"""The share for tables without numbers, whose votes on whole columns are sure."""
RESORT_SHARES = Fraction(1, 10), Fraction(1, 5), Fraction(3, 10)
"""If it is not, one with several classes only says whether rules beat naming the largest class.

It takes the first of these shares at which noise is no larger than the next number of the rows.
"""
RESORT_NOISE, RESORT_TIMES = 0.04, 3
"""Naming the largest class is so many times as likely beforehand: noise is to speak for no rule."""
RESORT_SHARES_TWO = Fraction(1, 20), Fraction(1, 10)
RESORT_NOISE_TWO = 0.02
"""The same with two classes, each of which is as likely beforehand as the rules."""
RESORT_FROM, RESORT_ROWS = 3, 2500
"""Of two classes rules are asked for so many rounds, and without delta up to so many rows.

Times ln(options): there an exact budget is better spent on the rules themselves.
"""
SURE = Fraction(29, 20)
"""A plain link's slope is this times the log odds of a row that is right, by the errors released.

Over the root of the number of rules; and 2 over it, as if few rows were wrong, at most.
"""

SHARPEST, BLUNTEST = Fraction(3), Fraction(1, 25)
"""How much more likely, in natural logs, a row that it gets right may make a rule with two tests.

Over the root of the number of rounds. There are so many such rules that the best one of each round
learns rows by heart. What a larger budget would buy is not spent, and without one they are drawn
all the same. No choice is to lose more than the second share of the rows by that, over the number
of problems, or than half of a class's declared share.
"""

CONSTANTS = 0.25
"""Where one rule is made, those for everybody are as likely as this part of all others."""

PAPER_DENSITY, PAPER_RATE = Fraction(35, 100), Fraction(4, 10)
"""With the paper's calibration nothing follows the errors."""


EAGER_VOTES = 9
"""Up to so many votes all rounds have the same rate; of four times as many the first has half."""
_PACES = 16  # steps, so that few losses differ


def pace_of(at: int, n_votes: int) -> Fraction:
    """Return what part of the last round's rate a problem's round has.

    What the first rounds choose among differs by much, and by less from round to round: they bear
    more noise, and what they save is for the others.

    Examples
    --------
    >>> [str(pace_of(at, 99)) for at in (0, 50, 98)], str(pace_of(0, 9))
    (['5/16', '11/16', '1'], '1')
    """
    first = min(Fraction(isqrt(10**6 * EAGER_VOTES // n_votes), 1000), Fraction(1))
    done = Fraction(at, max(1, n_votes - 1))
    return Fraction(round(_PACES * (first + (1 - first) * done)), _PACES)


def share_of(kind: str, delta: float) -> Fraction:
    """Return what a kind of look may cost, of the whole."""
    return (SHARES if delta else SHARES_PURE)[kind]


def looks_for(n_votes: int, most: int) -> int:
    """Return how often the errors of each problem are counted: `most` times, if votes suffice."""
    return max(1, min(most, n_votes // 3))
