"""Displays of a model in scikit-learn's style.

What they show follows from the model alone, so it is as private as the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from smoothboost import _validate
from smoothboost.release import drawing
from smoothboost.release.model import Model
from smoothboost.release.shapes import Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class VotesDisplay:
    """The votes of a model as bars on one scale, those with the most votes first.

    Make one with `from_model` or `from_estimator`.

    Parameters
    ----------
    words : sequence of str
        The condition of each bar.
    votes : sequence of int
        How many votes it has: below 0, against the class.
    meaning : str
        What the votes are for, as the axis says it.
    n_left_out : int, default 0
        How many smaller bars there would be.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the bars.
    figure_ : matplotlib Figure
        The figure that has them.
    bars_ : matplotlib BarContainer
        The bars.

    Examples
    --------
    >>> from smoothboost import SmoothBoostClassifier, VotesDisplay, datasets
    >>> demo = datasets.load_demo()
    >>> clf = SmoothBoostClassifier(schema=demo.schema).fit(demo.data, demo.target)
    >>> display = VotesDisplay.from_estimator(clf, most=10)
    >>> len(display.bars_)
    10
    """

    ax_: Axes
    figure_: Figure
    bars_: Any

    def __init__(
        self, words: Sequence[str], votes: Sequence[int], meaning: str, n_left_out: int = 0
    ) -> None:
        self.words = words
        self.votes = votes
        self.meaning = meaning
        self.n_left_out = n_left_out

    @classmethod
    def from_model(cls, model: Model, *, most: int = 20, ax: Axes | None = None) -> Self:
        """Draw the votes of a model.

        Parameters
        ----------
        model : Model
            A released model.
        most : int, default 20
            The most bars; a note says how many there are beyond these.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        VotesDisplay
        """
        most = _validate.whole("most", most, 1)
        bars, meaning = _vote_bars(_released(model))
        shown = bars[:most]
        words, votes = [words for words, _ in shown], [votes for _, votes in shown]
        return cls(words, votes, meaning, len(bars) - len(shown)).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, most: int = 20, ax: Axes | None = None) -> Self:
        """Draw the votes of a fitted estimator's model.

        Parameters
        ----------
        estimator : SmoothBoostClassifier
            A fitted estimator.
        most : int, default 20
            The most bars.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        VotesDisplay
        """
        return cls.from_model(_model_of(estimator), most=most, ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure that is as tall as the bars need.

        Returns
        -------
        VotesDisplay
        """
        names = [drawing.label_lines(words, 48) for words in self.words]
        if ax is None:
            height = 1.3 + 0.16 * sum(1 + name.count("\n") for name in names) + 0.14 * len(names)
            _, ax = drawing.pyplot().subplots(figsize=(8, height), layout="constrained")
        places = np.arange(len(names))
        colours = [drawing.FOR if votes > 0 else drawing.AGAINST for votes in self.votes]
        self.bars_ = ax.barh(places, self.votes, color=colours)
        ax.bar_label(self.bars_, [f"{votes:+d}" for votes in self.votes], padding=3)
        ax.set_yticks(places, names)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.margins(x=0.12)
        ax.axvline(0, color="0.4", lw=0.8)
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel(drawing.plain(self.meaning))
        if self.n_left_out:
            ax.set_title(f"the {len(names)} largest; {self.n_left_out} smaller are not shown",
                         fontsize="small", loc="left")  # fmt: skip
        drawing.tidy(ax)
        self.ax_, self.figure_ = ax, drawing.figure_of(ax)
        return self


class ShapeDisplay:
    """What the values of columns add to the votes: a panel for each column, all on one scale.

    Numbers and dates are drawn as steps in their own units, categories as bars, and what rules
    say of two columns together as maps. Neighbours with the same votes are merged. All panels,
    and the votes that no column changes, add up to the votes. Make one with `from_model` or
    `from_estimator`.

    Parameters
    ----------
    shapes : sequence of Shape
        What is drawn.
    note : str, default ""
        What is not.

    Attributes
    ----------
    axes_ : array of matplotlib Axes
        The panels.
    figure_ : matplotlib Figure
        The figure that has them.
    artists_ : list
        What was drawn in each panel: steps or bars of each class, or a map.

    Examples
    --------
    >>> from smoothboost import ShapeDisplay, SmoothBoostClassifier, datasets
    >>> demo = datasets.load_demo()
    >>> clf = SmoothBoostClassifier(schema=demo.schema, epsilon=None)
    >>> display = ShapeDisplay.from_estimator(clf.fit(demo.data, demo.target), "age")
    >>> display.axes_[0].get_xlabel()
    'age'
    """

    axes_: Any
    figure_: Figure
    artists_: list[Any]

    def __init__(self, shapes: Sequence[Shape], note: str = "") -> None:
        self.shapes = shapes
        self.note = note

    @classmethod
    def from_model(
        cls,
        model: Model,
        columns: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        *,
        most: int = 12,
        n_cols: int = 3,
        ax: Any = None,
    ) -> Self:
        """Draw shapes of a model.

        Parameters
        ----------
        model : Model
            A released model.
        columns : str, pair of str, or list of these, optional
            A column, for what rules on it alone add; a pair (a tuple), for what rules on both
            add. By default all that the model has, those first that move the votes most.
        most : int, default 12
            The most shapes; a note says how many there are beyond these.
        n_cols : int, default 3
            How many panels stand side by side.
        ax : matplotlib Axes or array of them, optional
            Where to draw: as many as there are panels. By default in a new figure.

        Returns
        -------
        ShapeDisplay
        """
        most = _validate.whole("most", most, 1)
        shapes, n_hidden = _released(model).shapes()
        notes = []
        if n_hidden:
            notes.append(f"{n_hidden} of {len(model.rules)} rules test three columns or more")
        if columns is not None:
            shapes = [_find(model, shapes, each) for each in _listed(columns)]
        elif not shapes:
            raise ValueError(
                "Expected a model with rules on one or two columns, got none that can be drawn; "
                "VotesDisplay and explain_row show others."
            )
        else:
            shapes = sorted(shapes, key=lambda shape: -shape.span)
            if len(shapes) > most:
                notes.append(f"{len(shapes) - most} shapes with fewer votes")
        note = f"not shown: {'; '.join(notes)}" if notes else ""
        shown = shapes if columns is not None else shapes[:most]
        return cls(shown, note).plot(ax, n_cols=n_cols)

    @classmethod
    def from_estimator(cls, estimator: Any, columns: Any = None, **options: Any) -> Self:
        """Draw shapes of a fitted estimator's model.

        Parameters
        ----------
        estimator : SmoothBoostClassifier
            A fitted estimator.
        columns : str, pair of str, or list of these, optional
            What to draw, as in `from_model`.
        **options : Any
            Those of `from_model`: most, n_cols and ax.

        Returns
        -------
        ShapeDisplay
        """
        return cls.from_model(_model_of(estimator), columns, **options)

    def plot(self, ax: Any = None, *, n_cols: int = 3) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, optional
            Where to draw: as many as there are panels. By default in a new figure.
        n_cols : int, default 3
            How many panels stand side by side.

        Returns
        -------
        ShapeDisplay
        """
        panels = [panel for shape in self.shapes for panel in shape.panels()]
        axes = _panel_axes(ax, panels, _validate.whole("n_cols", n_cols, 1))
        votes = np.concatenate([[0], *(panel.votes.ravel() for panel in panels)])
        span = int(votes.min()), int(votes.max())
        self.artists_ = [
            drawing.draw(panel_ax, panel, span)
            for panel_ax, panel in zip(axes, panels, strict=True)
        ]
        self.axes_, self.figure_ = axes, drawing.figure_of(axes[0])
        drawing.name_classes(axes, outside=ax is None)
        if self.note and ax is None:
            self.figure_.supxlabel(drawing.plain(self.note), fontsize="small")
        return self


def _vote_bars(model: Model) -> tuple[list[tuple[str, int]], str]:
    """Return conditions with their votes, and what the votes are for."""
    rows, target = model.vote_rows(), model.schema.target
    lines = list(zip(rows["column"], rows["literal"], rows["votes"], rows["class"], strict=True))
    if model.is_additive and len(target) == 2:
        bars = [(f"{column} {test}".strip(), votes) for column, test, votes, _ in lines]
        return bars, f"votes for {target[1]} if it is so, and as many against if it is not"
    if len(target) == 2:  # a condition may have votes for either class
        counts: Counter[str] = Counter()
        for _, condition, votes, label in lines:
            counts[condition] += votes if label == target[1] else -votes
        bars = [(words, votes) for words, votes in counts.items() if votes]
        bars.sort(key=lambda bar: -abs(bar[1]))
        return bars, f"votes for {target[1]}; to the left, for {target[0]}"
    if "otherwise" in rows:
        bars = [
            (f"{label} if {column} {test}, otherwise {other}", votes)
            for (column, test, votes, label), other in zip(lines, rows["otherwise"], strict=True)
        ]
        return bars, "votes"
    words = []
    for column, test, _, label in lines:
        condition = f"{column} {test}" if model.is_additive else test  # which names its columns
        words.append(f"{label} if {condition}" if column else f"{label} always")
    meaning = "votes for the class; to the left, against it"
    return list(zip(words, rows["votes"], strict=True)), meaning


def _listed(columns: Any) -> list[tuple[str, ...]]:
    """Read what is to be drawn: names, pairs of names, or a list of these."""
    listed = columns if isinstance(columns, list) else [columns]
    wanted = [(each,) if isinstance(each, str) else each for each in listed]
    for each in wanted:
        is_tuple = isinstance(each, tuple) and all(isinstance(name, str) for name in each)
        if not is_tuple or len(each) not in (1, 2):
            raise ValueError(
                "Expected columns to be a column's name, a pair of names, or a list of these, "
                f"got {_validate.shown(each)}."
            )
    if not wanted:
        raise ValueError("Expected at least one column to draw, got an empty list.")
    return wanted


def _find(model: Model, shapes: Sequence[Shape], names: tuple[str, ...]) -> Shape:
    """Return the shape of a column or a pair, or say which there are."""
    for name in names:
        if name not in model.schema.names:
            declared = ", ".join(model.schema.names)
            raise ValueError(f"Expected declared columns ({declared}), got {name!r}.")
    for shape in shapes:
        if set(shape.names) == set(names):
            return shape
    known = ", ".join(" with ".join(shape.names) for shape in shapes)
    raise ValueError(
        f"Expected columns that rules test alone or as a pair ({known}), "
        f"got {' with '.join(names)}, which adds nothing by itself."
    )


def _panel_axes(ax: Any, shapes: Sequence[Shape], n_cols: int) -> NDArray[Any]:
    """Return axes, one for each panel."""
    n_panels = len(shapes)
    if ax is not None:
        given = np.ravel(np.array(ax, dtype=object))
        if len(given) != n_panels:
            panels = _validate.counted(n_panels, "panel")
            raise ValueError(f"Expected ax to be axes for {panels}, got {len(given)}.")
        return given
    n_cols = min(n_cols, n_panels)
    n_rows = ceil(n_panels / n_cols)
    size = (max(4.4 * n_cols, 5.0), 3.2 * n_rows + 0.3)
    figure = drawing.pyplot().figure(figsize=size, layout="constrained")
    return np.array([figure.add_subplot(n_rows, n_cols, at + 1) for at in range(n_panels)])


def _model_of(estimator: Any) -> Model:
    check_is_fitted(estimator, "model_")
    return _released(estimator.model_)


def _released(model: Any) -> Model:
    """Return a model, and say so if something else was passed."""
    if not isinstance(model, Model):
        raise TypeError(
            f"Expected a Model, got {_validate.shown(model)}; from_estimator takes estimators."
        )
    return model
