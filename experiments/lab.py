"""What every part of the reproduction shares: results, claims, and pages to write them on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from experiments import public_code
from experiments.fit import Fit
from experiments.runner import Runner
from experiments.store import Result

TOLERANCE = 0.015
"""Accuracies agree with the paper's within this."""
EXPLAINED, PARTLY, NOT = "**explain it**", "explain it **partly**", "do **not** explain it"
"""What the public code's constants do with a number that does not agree."""
_NUMBER = re.compile(r"[-−–±\d.,% ]*$")


@dataclass(frozen=True)
class Public:
    """A claim's number with the public code's constants, and the band it must lie in.

    Parameters
    ----------
    ours : float
        What we measured.
    spread : str
        Its deviation and the number of repeats, in words.
    band : (float, float)
        Where it must lie, or the code has changed.
    reproduces : bool
        Whether it agrees with the paper, by the claim's own criterion.
    on_rows : float, optional
        The same on bins of the rows, which is not private.
    on_rows_reproduces : bool, default False
        Whether that agrees with the paper.
    """

    ours: float
    spread: str
    band: tuple[float, float]
    reproduces: bool
    on_rows: float | None = None
    on_rows_reproduces: bool = False


@dataclass(frozen=True)
class Claim:
    """A number of the paper beside ours, and the band ours must lie in.

    Parameters
    ----------
    statement : str
        What the number is.
    paper : str
        What the paper prints.
    ours : float
        What we measured.
    spread : str
        Its deviation and the number of repeats, in words.
    band : (float, float)
        Where ours must lie, or the code has changed.
    reproduces : bool
        Whether ours agrees with the paper.
    page : str
        The page that tells more, relative to the summary.
    why : str
        If it does not agree: why.
    target : float, optional
        The paper's number, if it prints one.
    public : Public, optional
        The same with the public code's constants.
    """

    statement: str
    paper: str
    ours: float
    spread: str
    band: tuple[float, float]
    reproduces: bool
    page: str
    why: str = ""
    target: float | None = None
    public: Public | None = None

    @property
    def holds(self) -> bool:
        """Whether our number lies in its band, and so does the public code's constants' one."""
        return all(line.band[0] <= line.ours <= line.band[1] for line in self._lines.values())

    @property
    def told(self) -> list[str]:
        """What a run prints: the numbers beside the paper's, and whether they hold."""
        texts = []
        for name, line in self._lines.items():
            low, high = line.band
            verdict = "ok" if low <= line.ours <= high else f"OUTSIDE {low:g} to {high:g}"
            texts.append(f"{name}: {line.ours:.3f}, {line.spread} (paper: {self.paper}) {verdict}")
        return texts

    @property
    def explained(self) -> str:
        """Whether the public code's constants explain a number that does not agree.

        They do if theirs agrees, and partly if it is nearer by a quarter of the distance.
        """
        if self.public is None:
            return "not tried"
        if self.reproduces:
            return "agrees too" if self.public.reproduces else "does not agree"
        if self.public.reproduces:
            return EXPLAINED
        if self.target is None:
            return NOT
        before, after = (abs(line.ours - self.target) for line in (self, self.public))
        return PARTLY if after <= 0.75 * before else NOT

    @property
    def _lines(self) -> dict[str, Claim | Public]:
        again = {f"  with {public_code.NAME}": self.public} if self.public else {}
        return {self.statement: self, **again}


class Lab:
    """A run of the reproduction.

    Parameters
    ----------
    runner : Runner
        Gives the results of fits.
    folder : Path
        Where pages and figures go.
    fast : bool
        Whether repeats and grids are reduced.
    """

    def __init__(self, runner: Runner, folder: Path, fast: bool) -> None:
        self._runner = runner
        self._folder = folder
        self.fast = fast
        self.claims: list[Claim] = []
        folder.mkdir(parents=True, exist_ok=True)

    def results(self, what: str, fits: Iterable[Fit]) -> list[Result]:
        """Return the result of every fit, in their order."""
        return self._runner.results(what, list(fits))

    def accuracies(self, what: str, fits: Iterable[Fit]) -> list[float]:
        """Return the accuracy of every fit, in their order."""
        return [result["accuracy"] for result in self.results(what, fits)]

    def speed(self, what: str) -> str:
        """Say how fast fits of a kind were."""
        return self._runner.speed(what)

    def claim(self, claim: Claim) -> None:
        """Put a number beside the paper's."""
        self.claims.append(claim)

    def compare(
        self,
        statement: str,
        paper: float,
        scores: Sequence[float],
        band: tuple[float, float],
        page: str,
        why: str = "further off",
        public: Sequence[float] = (),
        public_band: tuple[float, float] | None = None,
    ) -> None:
        """Put mean accuracy beside a printed one; they agree within `TOLERANCE`.

        `public` are the accuracies with the public code's constants; their band is the same if
        it is not given.
        """
        agrees = abs(mean(scores) - paper) <= TOLERANCE
        again = None
        if public:
            near = abs(mean(public) - paper) <= TOLERANCE
            again = Public(mean(public), spread(public), public_band or band, near)
        self.claim(
            Claim(
                statement,
                f"{paper}",
                mean(scores),
                spread(scores),
                band,
                agrees,
                page,
                "" if agrees else why,
                paper,
                again,
            )
        )

    def choose(self, full: Any, fast: Any) -> Any:
        """Return the first in a full run and the second in a reduced one."""
        return fast if self.fast else full

    def figure(self, name: str) -> Path:
        """Return where a figure goes."""
        return self._folder / f"{name}.png"

    def read(self, name: str) -> str:
        """Return a page as it stands; nothing if it was never written."""
        page = self._folder / f"{name}.md"
        return page.read_text(encoding="utf-8") if page.exists() else ""

    def write(self, name: str, title: str, *blocks: str) -> None:
        """Write a page: what made it, then its blocks."""
        command = "make paper" + (" FAST=1" if self.fast else "")
        made = (
            f"Made by `{command}`. Noise is seeded by a hash of each fit's configuration; "
            "± is one standard deviation."
        )
        if self.fast:
            made += " Reduced grids and repeats: not the reproduction itself."
        text = "\n\n".join([f"# {title}", made, *(block.strip("\n") for block in blocks)])
        (self._folder / f"{name}.md").write_text(text + "\n", encoding="utf-8")


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table; columns of numbers stand to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    columns = zip(*cells, strict=True)
    lines = ["---:" if all(map(_NUMBER.match, column)) else "---" for column in columns]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, lines, *cells])


def shown(values: Sequence[float], digits: int = 4) -> str:
    """Return a mean and a deviation."""
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{mean(values):.{digits}f} ± {stdev(values):.{digits}f}"


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Return a deviation and the number of fits."""
    return f"± {stdev(values):.{digits}f}, {len(values)} fits" if len(values) > 1 else "1 fit"
