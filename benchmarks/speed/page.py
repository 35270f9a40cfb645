"""What was measured, as a page: ratios first."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from .contestants import AS_THEY_COME, EBM, N_ROUNDS, OURS, installed
from .tables import N_BINS, N_COLUMNS
from .timing import Times

MANY = 5_000_000
"""Rows from which on there are fewer repeats."""
Found = dict[str, dict[str, Times]]
"""Times by learner and contestant."""


@dataclass
class Page:
    """All times, by table; tables are named as they are printed."""

    cores: int
    repeats: int
    many_repeats: int
    fits: dict[str, Found] = field(default_factory=dict)
    predictions: dict[str, dict[str, Found]] = field(default_factory=dict)
    private_peers: dict[str, Times] = field(default_factory=dict)
    shape_rows: int = 0
    shapes: dict[tuple[str, int], dict[str, Times]] = field(default_factory=dict)
    memory_rows: int = 0
    memory: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [
            self._head(),
            self._ratios(),
            *self._details(),
            self._private_peers(),
            self._shapes(),
            self._memory(),
        ]
        return "\n\n".join(part for part in parts if part)

    def _head(self) -> str:
        return (
            "# Speed\n\n"
            f"Made by `make bench` on {self.cores} cores: medians of {self.repeats} runs in turns "
            f"after one to warm up;\n{self.many_repeats} without one from {MANY:,} rows on.\n\n"
            f"All make {N_ROUNDS} rounds with {N_BINS} bins; generated tables have {N_COLUMNS} "
            "columns of numbers.\nOur fits begin with a pandas frame and classes in text, encoding "
            "included, at epsilon 1;\nthose of the others with a frame of numbers and classes "
            f"0 and 1, binning included.\nBeside us: {', '.join(installed())}, with trees of 2 "
            "leaves for 1-rules,\nand of 4 for pair rules and for our trees, of 3 splits."
        )

    def _ratios(self) -> str:
        """Say how many times as long as ours the fastest of the others takes."""
        lines = [
            "## How many times as long the fastest of the others takes",
            "",
            f"| table | {' | '.join(OURS)} |",
            f"| --- |{' ---: |' * len(OURS)}",
        ]
        for title, found in self.fits.items():
            cells = [_fastest(found[name], name) for name in OURS]
            lines.append(f"| {title}, fit | {' | '.join(cells)} |")
        for title, by_held in self.predictions.items():
            for held, found in by_held.items():
                cells = [_fastest(found[name], name) for name in OURS]
                lines.append(f"| {title}, prediction of the {held} | {' | '.join(cells)} |")
        if EBM in self.private_peers:
            cells = [self._times_ebm(f"{name}, defaults") for name in AS_THEY_COME]
            lines += [
                f"| Adult, fits as they come, beside DP-EBM's | {cells[0]} | {cells[2]} | |",
                f'| Adult, `learner="auto"` as it comes, beside DP-EBM\'s | {cells[1]} | | |',
            ]
        return "\n".join([*lines, *self._growth()])

    def _growth(self) -> list[str]:
        """Say how the time of 1-rules grows with the rows."""
        sizes = [title for title in self.fits if title != "Adult"]
        lines = []
        for small, large in pairwise(sizes):
            ratios = [
                f"{self.fits[large][name][name].median / self.fits[small][name][name].median:.1f}"
                for name in OURS
            ]
            lines.append(f"| {large}, times as long as {small} | {' | '.join(ratios)} |")
        return lines

    def _details(self) -> list[str]:
        parts = [f"## Fits: {title}\n\n{_table(found)}" for title, found in self.fits.items()]
        for title, by_held in self.predictions.items():
            n_rows = int(title.split()[0].replace(",", ""))
            for held, found in by_held.items():
                parts.append(f"## Predictions: {title}, {held}\n\n{_table(found, n_rows)}")
        return parts

    def _times_ebm(self, title: str) -> str:
        """Say how many times as long DP-EBM takes as it comes."""
        return f"{self.private_peers[EBM].median / self.private_peers[title].median:.1f}"

    def _private_peers(self) -> str:
        if not self.private_peers:
            return ""
        lines = [
            "## Adult beside DP-EBM",
            "",
            "As they come, at epsilon 1 and delta 1e-5: ours with the columns' own bins, and as\n"
            "many rounds as follow from public numbers. Fits of 50 rounds are those of above.",
            "",
            "| | median | fastest to slowest | DP-EBM, as it comes, takes so many times as long |",
            "| --- | ---: | ---: | ---: |",
        ]
        for title, times in self.private_peers.items():
            ratio = self._times_ebm(title) if EBM in self.private_peers else ""
            lines.append(f"| {title} | {times} | {ratio} |")
        return "\n".join(lines)

    def _shapes(self) -> str:
        if not self.shapes:
            return ""
        lines = [
            f"## Shapes of tables: {self.shape_rows:,} rows, from an array with classes 0 and 1",
            "",
            "| table | cores | 1-rules | HistGradientBoosting | times ours |",
            "| --- | ---: | ---: | ---: | ---: |",
        ]
        for (shape, cores), times in self.shapes.items():
            ours, theirs = times["1-rules"].median, times["HistGradientBoosting"].median
            lines.append(
                f"| {shape} | {cores} | {ours:.3f} s | {theirs:.2f} s | {theirs / ours:.1f} |"
            )
        return "\n".join(lines)

    def _memory(self) -> str:
        if not self.memory:
            return ""
        cells, per_row = self.memory_rows * N_COLUMNS, 2 * self.memory_rows
        allowed = 3 * cells + 32 * per_row
        lines = [
            f"## Memory: {self.memory_rows:,} rows, two classes",
            "",
            f"Allowed beyond the input are 3 bytes a cell and 32 a row and class: "
            f"{allowed / 1e6:.0f} MB.",
            "",
            "| | peak beyond the input | bytes a cell |",
            "| --- | ---: | ---: |",
        ]
        for name, peak in self.memory.items():
            lines.append(f"| {name} | {peak / 1e6:.0f} MB | {peak / cells:.2f} |")
        return "\n".join(lines)


def _table(found: Found, n_rows: int = 0) -> str:
    """Return a table of times: ours, then how many times as long the others take."""
    speed = " rows a second |" if n_rows else ""
    lines = [
        f"| | median | fastest to slowest | times ours |{speed}",
        f"| --- | ---: | ---: | ---: |{' ---: |' if n_rows else ''}",
    ]
    for name, times in found.items():
        for who, own in times.items():
            title = f"**{who}**" if who == name else f"{who}, {OURS[name][1]} leaves"
            rate = f" {n_rows / own.median:.1e} |" if n_rows else ""
            ratio = own.median / times[name].median
            lines.append(f"| {title} | {own} | {ratio:.2f} |{rate}")
    return "\n".join(lines)


def _fastest(times: dict[str, Times], name: str) -> str:
    others = {who: own.median for who, own in times.items() if who != name}
    who = min(others, key=others.__getitem__)
    return f"{others[who] / times[name].median:.2f} ({who})"
