"""What a fit released about its own training error along the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from smoothboost import _validate


@dataclass(frozen=True)
class ErrorLook:
    """A private count of training errors, as a share of the rows.

    Parameters
    ----------
    after : int
        After how many rules the errors were counted.
    about : int or None
        The class whose problem it was, among three or more; None if there is one problem.
    share : float
        The released share of errors.

    Examples
    --------
    >>> ErrorLook(after=10, about=None, share=0.25).to_dict()
    {'after': 10, 'share': 0.25}
    """

    after: int
    about: int | None
    share: float

    def __post_init__(self) -> None:
        share = _validate.number("share", self.share, "to be a number", lambda _: True)
        object.__setattr__(self, "share", share + 0.0)  # a plain float, and not -0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the look as a plain dictionary."""
        about = {} if self.about is None else {"about": self.about}
        return {"after": self.after, **about, "share": self.share}

    @classmethod
    def from_dict(cls, document: Any, n_classes: int) -> ErrorLook:
        """Read a look back, refusing what makes no sense."""
        if not isinstance(document, dict) or set(document) | {"about"} != {
            "after",
            "about",
            "share",
        }:
            raise ValueError("Expected a look at the errors with after, share and, maybe, about.")
        after, about, share = document["after"], document.get("about"), document["share"]
        if type(after) is not int or after < 0:
            raise ValueError(f"Expected a look after a number of rules, got {after!r}.")
        if "about" in document:
            check_about(about, n_classes)
        return cls(after, about, share)


def check_about(about: Any, n_classes: int) -> None:
    """Refuse what is not the position of one class among three or more."""
    if type(about) is not int or not 0 <= about < n_classes or n_classes < 3:
        raise ValueError(
            f"Expected about to be one of three or more declared classes, got {about!r}."
        )
