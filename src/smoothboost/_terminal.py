"""Consoles that show any text and obey none: names and values come from files of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from unicodedata import category

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # some scripts are wrong without them


def visible(text: str) -> str:
    r"""Return a line in which what a terminal would obey, or hide, is written out.

    Examples
    --------
    >>> print(visible("\x1b[31mred\x1b[0m"))
    \x1b[31mred\x1b[0m
    >>> visible("Müller, 10 €")
    'Müller, 10 €'
    """
    return "".join(
        sign.encode("unicode_escape").decode()
        if category(sign) in _UNSEEN and sign not in _JOINERS
        else sign
        for sign in text
    )


class PlainConsole(Console):
    """A console to which no text is markup, an emoji's name or a command."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Turn something into pieces; of a text, into what can be seen."""
        if isinstance(renderable, Text):
            shown = _visible_lines(renderable.plain)
            if shown != renderable.plain:
                renderable = Text(
                    shown,
                    renderable.style,
                    justify=renderable.justify,
                    overflow=renderable.overflow,
                    no_wrap=renderable.no_wrap,
                    end=renderable.end,
                )
        return super().render(renderable, options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Turn a text into one that can be seen."""
        return super().render_str(_visible_lines(text), **options)


def _visible_lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))
