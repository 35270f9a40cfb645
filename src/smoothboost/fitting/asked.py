"""What a caller asks of a plan, before anything is settled."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from smoothboost.fitting import automatic
from smoothboost.fitting.following import Following

Auto = Literal["auto"]


@dataclass(frozen=True)
class Asked:
    """What a caller asks of a plan; "auto" is settled by public quantities.

    Parameters
    ----------
    density, learning_rate : Fraction or "auto"
        The paper's kappa and lambda. An automatic density follows the errors; an automatic learning
        rate falls with the number of rounds, with the errors, and whenever a rule takes back the
        one before it.
    calibration : {"tight", "paper"}
        Whose constants the rate comes from.
    mechanism : str
        The name of a selection mechanism, or "auto".
    calibrate : Fraction or "auto"
        The share of the budget for a look at links; "auto" looks where that loses little.
    class_looks : int
        How many classes' shares are looked at, for decisions that need them.
    cut_look : bool
        Whether a threshold is looked for, beside a link: where two classes do not count alike.
    uneven : bool
        Whether mistakes on different classes do not cost the same: then rows that are right say
        little of what is asked for.
    shares : tuple of Fraction or None
        The share of each problem's class that is publicly known, or supposed.
    declared : bool
        Whether these shares are known.
    counted : bool
        Whether the number of rounds is given, as for a list that is to be read.
    constants : module
        What "auto" means; audits give looks larger shares, so as to see them go wrong.
    """

    density: Fraction | Auto = "auto"
    learning_rate: Fraction | Auto = "auto"
    calibration: str = "tight"
    mechanism: str = "auto"
    calibrate: Fraction | Auto = Fraction(0)
    class_looks: int = 0
    cut_look: bool = False
    uneven: bool = False
    shares: tuple[Fraction, ...] | None = None
    declared: bool = False
    counted: bool = False
    constants: Any = automatic

    @property
    def follows(self) -> bool:
        """Whether the density follows the errors."""
        return self.density == "auto" and self.calibration == "tight"

    @property
    def largest_density(self) -> Fraction:
        """The given density, or the largest that an automatic one may have."""
        if self.density != "auto":
            return self.density
        usual: Fraction = self.constants.CEILING
        return automatic.PAPER_DENSITY if self.calibration == "paper" else usual

    def shares_of(self, n_problems: int) -> tuple[Fraction, ...]:
        """Return the share of each problem's class, half where nothing is supposed."""
        return self.shares or (Fraction(1, 2),) * n_problems

    def looks_at_shares(self, n_problems: int, delta: float) -> bool:
        """Whether looks before the first round say how many rows are of each of several classes."""
        pays = n_problems > 1 and self.constants.share_of("class", delta) > 0
        return self.follows and not self.declared and pays

    def pace_of(self, at: int, n_votes: int) -> Fraction:
        """Return what part of the last round's rate a problem's round has."""
        pace: Fraction = self.constants.pace_of(at, n_votes) if self.follows else Fraction(1)
        return pace

    def following(
        self, after: tuple[int, ...], n_problems: int, noisy: int, at_once: int
    ) -> Following | None:
        """Return how density and rate follow looks after so many rounds, if they do.

        `noisy` is how many votes of a problem are noisy, all or none, each of `at_once` rules.
        """
        if not self.follows:
            return None
        slowing = automatic.SLOWING if self.learning_rate == "auto" else None
        supposed = [min(share, 1 - share) for share in self.shares_of(n_problems)]
        rare = self.constants.RARE if n_problems == 1 else Fraction(0)
        more = automatic.SLOWING_MORE if noisy >= automatic.MANY_VOTES else Fraction(0)
        factor, enough = automatic.FACTOR, Fraction(1)
        is_long = n_problems == 1 < at_once and noisy >= automatic.LONG
        if n_problems > 1:
            factor = automatic.FACTOR_MORE_CLASSES
            enough = factor / n_problems
        return Following(
            after,
            factor,
            Fraction(0),
            slowing,
            tuple(supposed),
            rare,
            slowing_more=more,
            enough=enough,
            factor_many=automatic.FACTOR_MANY if is_long else None,
            hidden=self.constants.HIDDEN,
        )
