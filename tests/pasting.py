"""A page's commands, pasted into a folder: `python tests/pasting.py docs/tutorial.md folder`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return a page's blocks for a shell or for Python, in order, with their language."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def paste(language: str, block: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block in a folder, and return what it said."""
    program = ["bash", "-euo", "pipefail", "-c"] if language == "bash" else ["python", "-c"]
    environment = os.environ | {"COLUMNS": "100"}  # a terminal as wide as the pages
    return subprocess.run(
        [*program, block], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def main(page: str, folder: str) -> int:
    """Paste all blocks of a page, show what they say, and tell whether all went well."""
    failed = 0
    for language, block in blocks(Path(page)):
        print(f"\n--- {language}\n{block}---", flush=True)
        result = paste(language, block, Path(folder))
        print(result.stdout + result.stderr, flush=True)
        failed += result.returncode != 0
    print(f"{page}: {failed} blocks failed" if failed else f"{page}: all blocks ran")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
