"""`docs`: the pages that came with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smoothboost import _validate
from smoothboost.cli.showing import out, say

Page = Annotated[
    str | None,
    typer.Argument(metavar="[PAGE]", help="The page to read; without one, pages are listed."),
]
AsPath = Annotated[bool, typer.Option("--path", help="Print where the page's file is.")]


def docs(page: Page = None, path: AsPath = False) -> None:
    """Read what is guaranteed, and why: the pages that messages name.

    Example: smoothboost docs privacy
    """
    pages = installed_pages()
    if page is None:
        for name, file in pages.items():
            say(out, str(file) if path else f"{name:24} {_title(file)}")
        return
    file = pages[_found(page, pages)]
    if path:
        say(out, str(file))
        return
    from rich.markdown import Markdown

    shown = Markdown(file.read_text(encoding="utf-8"), hyperlinks=False)
    if out.is_terminal:
        with out.pager(styles=True):
            out.print(shown)
    else:
        out.print(shown)


def installed_pages() -> dict[str, Path]:
    """Return the pages by name: privacy, and those under it."""
    from importlib import resources  # slow to import

    folder = resources.files("smoothboost").joinpath("docs", "privacy")
    files = sorted(Path(str(file)) for file in folder.iterdir() if file.name.endswith(".md"))
    # README.md is first, as capitals are
    return {"privacy" if file.stem == "README" else f"privacy/{file.stem}": file for file in files}


def _found(asked: str, pages: dict[str, Path]) -> str:
    """Return the page that is meant: also selection for privacy/selection, or a cited path."""
    name = asked.removeprefix("docs/").removesuffix(".md").removesuffix("/README")
    if name not in pages and f"privacy/{name}" in pages:
        name = f"privacy/{name}"
    if name not in pages:
        hint = _validate.near(name, [*pages, *(page.rpartition("/")[2] for page in pages)])
        raise ValueError(f"Expected a page that smoothboost docs lists, got {asked!r}.{hint}")
    return name


def _title(file: Path) -> str:
    with file.open(encoding="utf-8") as lines:
        return next(lines).lstrip("# ").strip()
