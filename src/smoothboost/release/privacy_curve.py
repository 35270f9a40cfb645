"""What privacy costs, as a curve of scores against budgets: from results that are passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from smoothboost import _validate
from smoothboost.release import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = ("--", ":", "-.")


class PrivacyCurveDisplay:
    """A score against epsilon: the mean of repeated fits, and how far they lie apart.

    Make one with `from_results`. A score that was measured on private rows is not protected by
    the guarantee of any model; measure on public ones, or do not publish the curve.

    Parameters
    ----------
    epsilons : sequence of float
        The budgets.
    scores : sequence of float, or of sequences of float
        The score at each budget, or those of repeated fits.
    baselines : mapping of str to float, optional
        Scores to compare with, by their names.
    score_name : str, default "accuracy"
        What the scores are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the curve.
    figure_ : matplotlib Figure
        The figure that has them.
    line_ : matplotlib Line2D
        The means.
    band_ : matplotlib artist or None
        One standard deviation to either side, if fits were repeated.
    baselines_ : list of matplotlib Line2D
        The scores to compare with.

    Examples
    --------
    >>> from smoothboost import PrivacyCurveDisplay
    >>> display = PrivacyCurveDisplay.from_results(
    ...     [0.1, 1.0, 10.0], [[0.70, 0.74], [0.80, 0.81], [0.83, 0.83]], baseline=0.84
    ... )
    >>> display.line_.get_ydata().round(3).tolist()
    [0.72, 0.805, 0.83]
    """

    ax_: Axes
    figure_: Figure
    line_: Any
    band_: Any
    baselines_: list[Any]

    def __init__(
        self,
        epsilons: Sequence[float],
        scores: Sequence[float] | Sequence[Sequence[float]],
        baselines: Mapping[str, float] | None = None,
        score_name: str = "accuracy",
    ) -> None:
        self.epsilons = epsilons
        self.scores = scores
        self.baselines = baselines
        self.score_name = score_name

    @classmethod
    def from_results(
        cls,
        epsilons: Sequence[float],
        scores: Sequence[float] | Sequence[Sequence[float]],
        *,
        baseline: float | Mapping[str, float] | None = None,
        score_name: str = "accuracy",
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a curve of results.

        Parameters
        ----------
        epsilons : sequence of float
            The budgets, each above 0.
        scores : sequence of float, or of sequences of float
            The score at each budget, or those of repeated fits, which need not be equally many.
        baseline : float or mapping of str to float, optional
            A score without privacy to compare with, or several by their names.
        score_name : str, default "accuracy"
            What the scores are.
        name : str, optional
            What the legend calls the curve.
        ax : matplotlib Axes, optional
            Where to draw, for instance the `ax_` of another curve; by default in a new figure.

        Returns
        -------
        PrivacyCurveDisplay
        """
        if baseline is not None and not isinstance(baseline, Mapping):
            baseline = {"not private": baseline}
        return cls(epsilons, scores, baseline, score_name).plot(ax, name=name)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **options: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        name : str, optional
            What the legend calls the curve.
        **options : Any
            Passed to matplotlib for the line, such as color.

        Returns
        -------
        PrivacyCurveDisplay
        """
        epsilons, repeats = _checked_results(self.epsilons, self.scores)
        means = np.array([np.mean(each) for each in repeats])
        plt = drawing.pyplot()
        from matplotlib.ticker import LogLocator

        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        label = drawing.plain(_curve_words(name, repeats))
        (self.line_,) = ax.plot(epsilons, means, **{"marker": "o", "label": label, **options})
        self.band_ = None
        if any(len(each) > 1 for each in repeats):
            apart = np.array([np.std(each, ddof=1) if len(each) > 1 else 0.0 for each in repeats])
            colour = self.line_.get_color()
            self.band_ = ax.fill_between(
                epsilons, means - apart, means + apart, color=colour, alpha=0.2, lw=0
            )
        self.baselines_ = [
            ax.axhline(score, color="0.35", lw=1.2, ls=_STYLES[at % 3], label=drawing.plain(words))
            for at, (words, score) in enumerate(_checked_baselines(self.baselines))
        ]
        ax.set_xscale("log", subs=[])
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlabel("epsilon (to the left: more privacy)")
        ax.set_ylabel(drawing.plain(self.score_name))
        ax.legend()
        drawing.tidy(ax)
        self.ax_, self.figure_ = ax, drawing.figure_of(ax)
        return self


def _checked_results(epsilons: Any, scores: Any) -> tuple[list[float], list[list[float]]]:
    """Return budgets in order, and the scores of the fits at each."""
    epsilons, scores = list(epsilons), list(scores)
    if not epsilons or len(scores) != len(epsilons):
        raise ValueError(
            "Expected scores for each of one or more epsilons, "
            f"got {len(scores)} for {len(epsilons)}."
        )
    above_zero = "> 0 (a score without privacy is a baseline)"
    budgets = [_validate.number("epsilons", each, above_zero, lambda x: x > 0) for each in epsilons]
    if len(set(budgets)) < len(budgets):
        raise ValueError("Expected each epsilon once, with the scores of all its fits in one list.")
    repeats = [_checked_repeats(each) for each in scores]
    order = sorted(range(len(budgets)), key=budgets.__getitem__)
    return [budgets[at] for at in order], [repeats[at] for at in order]


def _checked_repeats(scores: Any) -> list[float]:
    """Return the scores of the fits at one budget."""
    listed = list(scores) if np.ndim(scores) else [scores]
    if not listed:
        raise ValueError("Expected at least one score at each epsilon, got none.")
    return [_validate.number("scores", each, "to be numbers", lambda _: True) for each in listed]


def _checked_baselines(baselines: Mapping[str, float] | None) -> list[tuple[str, float]]:
    return [
        (str(name), _validate.number("baseline", score, "to be a number", lambda _: True))
        for name, score in (baselines or {}).items()
    ]


def _curve_words(name: str | None, repeats: Sequence[Sequence[float]]) -> str:
    """Say what the curve is, and how often fits were repeated."""
    least, most = min(map(len, repeats)), max(map(len, repeats))
    words = "SmoothBoost" if name is None else name
    if most == 1:
        return words
    fits = f"{most}" if least == most else f"{least} to {most}"
    return f"{words}: mean of {fits} fits, ± one standard deviation"
