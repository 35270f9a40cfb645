"""A private evaluation of the model that a report shows: what its file says, checked and drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from smoothboost._validate import shown
from smoothboost.privacy.guarantee import Guarantee, weaknesses_of
from smoothboost.release.report.drawings import SQUARE
from smoothboost.release.report.guarantee_words import factor_words
from smoothboost.release.report.words import number_words
from smoothboost.table.canonical import parsed, read_text, refusing

if TYPE_CHECKING:
    from smoothboost.release.model import Model

FORMAT, VERSION = "smoothboost-evaluation", 1

WIDEST = 0.5
"""An interval of a share that is wider than this says too little to be drawn."""

MOST = 2.0**62
"""No number of an evaluation is larger."""

BELOW_NONE = "Numbers of rows have noise, too: where it made one less than none, 0 is shown."


def rows_words(rows: float) -> str:
    """Say about how many rows there are; noise may have made them less than none.

    Examples
    --------
    >>> rows_words(1234.2), rows_words(-17.8)
    ('1,234', '0')
    """
    return f"{max(rows, 0.0):,.0f}"


def rows_note(rows: Iterable[float]) -> str:
    """Say what 0 rows may mean, if noise made any of these numbers less than none."""
    return BELOW_NONE if any(round(each) < 0 for each in rows) else ""


def says_nothing(low: float, high: float) -> bool:
    """Whether an interval of a share leaves it open altogether."""
    return low <= 0 and high >= 1


@dataclass(frozen=True)
class Measured:
    """A number, and the interval that holds the population's value in 95 of 100 evaluations."""

    value: float | None
    low: float
    high: float

    @property
    def words(self) -> str:
        """The number with its interval."""
        if self.value is None:
            return "unknown: noise hides it at this cost"
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"

    @property
    def percent(self) -> str:
        """The share as a percentage, if anything is known of it."""
        unknown = self.value is None or says_nothing(self.low, self.high)
        return "unknown" if unknown else f"{self.value:.1%}"

    @property
    def width(self) -> float:
        """How wide the interval is."""
        return self.high - self.low

    @property
    def interval(self) -> str:
        """The interval, as percentages."""
        return f"{100 * self.low:.1f} to {self.high:.1%}"


@dataclass(frozen=True)
class MeasuredBin:
    """Rows with about the same predicted probability: how many, about, and what came true.

    Noise may make so many less than none.
    """

    start: float
    stop: float
    rows: float
    predicted: float
    observed: Measured


@dataclass(frozen=True)
class PrivateEvaluation:
    """What was measured on private rows, and at what cost.

    Parameters
    ----------
    n_rows, rows_per_person : int
        Hold-out rows, and the most of one person; public.
    epsilon, delta : float
        What the evaluation cost.
    ledger : str or None
        The table whose ledger it is booked in.
    accuracy, auroc, log_loss : Measured
        As `Evaluation` has them.
    confusion : tuple of tuple of Measured
        The share of rows by class and prediction.
    calibration : tuple of MeasuredBin
        Predicted and observed shares.
    by : str or None
        The column whose values `groups` has.
    groups : tuple of (str, float, Measured)
        Values, how many rows they have, about, and their accuracy.
    """

    n_rows: int
    rows_per_person: int
    epsilon: float
    delta: float
    ledger: str | None
    accuracy: Measured
    auroc: Measured
    log_loss: Measured
    confusion: tuple[tuple[Measured, ...], ...]
    calibration: tuple[MeasuredBin, ...]
    by: str | None
    groups: tuple[tuple[str, float, Measured], ...]

    @property
    def cost(self) -> str:
        """What it cost."""
        return f"ε = {self.epsilon:g}" + (f", δ = {number_words(self.delta)}" if self.delta else "")

    @property
    def promise(self) -> str:
        """What is promised of this section."""
        rows = "row" if self.rows_per_person == 1 else f"{self.rows_per_person} rows"
        factor = factor_words(self.epsilon)
        if not self.delta:
            return (
                f"No one person’s {rows} can change the odds of what this section shows by more "
                f"than a factor of {factor}."
            )
        return (
            f"No one person’s {rows} can raise the probability of what this section shows to more "
            f"than {factor} times what it would be with other data, plus "
            f"δ = {number_words(self.delta)}."
        )

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """Why this promise says little, if it does."""
        return weaknesses_of(self.epsilon, self.delta, self.n_rows)

    def together(self, guarantee: Guarantee) -> str:
        """Say what the model and its evaluation cost a person whose rows are in both."""
        if guarantee.epsilon is None or not guarantee.holds:
            return "The model itself is not private: see above."
        delta = guarantee.delta + self.delta
        total = f"ε = {guarantee.epsilon + self.epsilon:g}" + (
            f", δ = {number_words(delta)}" if delta else ""
        )
        return (
            f"It comes on top of the model’s own cost for people who are both among these rows and "
            f"among those of the fit: {total} together. For all others it stands alone."
        )

    @property
    def rows_note(self) -> str:
        """What 0 rows mean in its tables, if noise made some of them less than none."""
        rows = [bin.rows for bin in self.calibration] + [rows for _, rows, _ in self.groups]
        return rows_note(rows)

    @property
    def drawn(self) -> list[MeasuredBin]:
        """The lines of the calibration that say enough to be drawn."""
        return [bin for bin in self.calibration if bin.observed.width <= WIDEST]

    @property
    def points(self) -> list[tuple[float, float]]:
        """Where the calibration's points stand in the drawing."""
        return [
            (_place(bin.predicted), _place(1 - (bin.observed.value or 0))) for bin in self.drawn
        ]

    @property
    def whiskers(self) -> str:
        """Their intervals, as an SVG path."""
        return "".join(
            f"M{_place(bin.predicted)} {_place(1 - bin.observed.high)}"
            f"V{_place(1 - bin.observed.low)}"
            for bin in self.drawn
        )


def _place(share: float) -> float:
    """Return where a share stands in the drawing."""
    return round(share * SQUARE, 1)


def evaluation_of(model: Model, source: Any) -> PrivateEvaluation:
    """Read a private evaluation of a model, or refuse.

    Parameters
    ----------
    model : Model
        What was evaluated.
    source : Evaluation, or path
        What `smoothboost.evaluate` returned, or the file that `smoothboost evaluate` wrote.
    """
    if hasattr(source, "to_dict"):
        return _checked(model, source.to_dict(), "the evaluation")
    if not isinstance(source, str | PathLike):
        raise ValueError(f"Expected an evaluation or the path of one, got {shown(source)}.")
    try:
        with refusing("private evaluation"):
            document = parsed(read_text(source, "private evaluation"), "private evaluation")
    except ValueError as error:
        raise ValueError(
            f"Expected {source} to be what smoothboost evaluate -o wrote, got no JSON: {error}"
        ) from None
    return _checked(model, document, str(source))


def _checked(model: Model, document: Any, name: str) -> PrivateEvaluation:
    """Read an evaluation that fits the model, and say the name of one that does not."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(
            f"Expected {name} to be an evaluation, as smoothboost evaluate -o or --json gives it, "
            "got something else. If an older version wrote it, it does not name its model: "
            "it cannot be shown."
        )
    if document.get("version") != VERSION:
        got = shown(document.get("version"))
        raise ValueError(f"Expected {name} to be an evaluation of version {VERSION}, got {got}.")
    if document.get("model") != model.content_hash:
        raise ValueError(
            f"Expected {name} to be an evaluation of this model ({model.content_hash[:8]}), "
            f"got one of another ({str(document.get('model'))[:8]})."
        )
    try:
        return _evaluation(document, len(model.schema.target))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"Expected {name} to be a whole evaluation, got a part or a changed one: {error}."
        ) from None


def _evaluation(document: dict[str, Any], n_classes: int) -> PrivateEvaluation:
    cells = [_measured(each) for each in document["confusion"]]
    if len(cells) != n_classes**2:
        raise ValueError(f"confusion of {n_classes} classes")
    return PrivateEvaluation(
        n_rows=_whole(document["rows"]),
        rows_per_person=_whole(document["rows_per_person"]),
        epsilon=_number(document["epsilon"], above=0.0),
        delta=_number(document["delta"], low=0.0, high=1.0),
        ledger=_text(document["ledger"]),
        accuracy=_measured(document["accuracy"]),
        auroc=_measured(document["auroc"]),
        log_loss=_measured(document["log_loss"]),
        confusion=tuple(
            tuple(cells[start : start + n_classes]) for start in range(0, len(cells), n_classes)
        ),
        calibration=tuple(
            MeasuredBin(
                _number(each["from"]),
                _number(each["to"]),
                _number(each["rows"]),
                _number(each["predicted"]),
                _measured(each),
            )
            for each in document["calibration"]
        ),
        by=_text(document["by"]),
        groups=tuple(
            (str(each["group"]), _number(each["rows"]), _measured(each))
            for each in document["groups"]
        ),
    )


def _measured(document: dict[str, Any]) -> Measured:
    value = document["value"]
    measured = Measured(
        None if value is None else _number(value),
        _number(document["low"]),
        _number(document["high"]),
    )
    if measured.low > measured.high:
        raise ValueError("an interval that ends before it begins")
    return measured


def _number(
    value: Any, low: float = -MOST, high: float = MOST, above: float | None = None
) -> float:
    if type(value) not in (int, float) or not low <= value <= high:
        raise ValueError(f"{shown(value)} is not a number that an evaluation has")
    if above is not None and value <= above:
        raise ValueError(f"{shown(value)} is not above {above:g}")
    return float(value)


def _whole(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= MOST:
        raise ValueError(f"{shown(value)} is not a whole number from 1")
    return value


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not a text")
    return value
