"""Print what development asks for: the package's own requirements, and those of its extra `dev`.

`make lock` hands this to pip-compile, which cannot follow an extra that names another one.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def requirements(extra: str = "dev") -> list[str]:
    """Return what pyproject.toml asks for, with an extra and the extras that it names."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    found: set[str] = set(project["dependencies"])
    names = [extra]
    for name in names:
        own = f"{project['name']}["
        names += [each.removeprefix(own).rstrip("]") for each in extras[name] if own in each]
        found |= {each for each in extras[name] if own not in each}
    return sorted(found)


if __name__ == "__main__":
    print(*requirements(), sep="\n")
