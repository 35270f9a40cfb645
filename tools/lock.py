"""Write the exact versions and hashes of all that development installs: `make lock`.

pip says what it would install here. Its report has addresses too, which are left out: where a
file comes from is the reader's affair, and the hash says whether it is the same.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "dev.lock"
HEAD = """\
# Made by `make lock`, for Linux on x86-64 and Python 3.11: docs/releasing.md
# pip install --require-hashes --requirement requirements/dev.lock
"""


def requirements(extra: str = "dev") -> list[str]:
    """Return what pyproject.toml asks for, with an extra and the extras that it names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own, extras = f"{project['name']}[", project["optional-dependencies"]
    found, names = set(project["dependencies"]), [extra]
    for name in names:  # which grows
        names += [text.removeprefix(own).rstrip("]") for text in extras[name] if own in text]
        found |= {text for text in extras[name] if own not in text}
    return sorted(found)


def lines_of(report: dict[str, Any]) -> list[str]:
    """Return a line for each package that pip would install."""
    found = []
    for each in report["install"]:
        name, version = each["metadata"]["name"], each["metadata"]["version"]
        digest = each["download_info"]["archive_info"]["hashes"]["sha256"]
        found.append(f"{name.lower().replace('_', '-').replace('.', '-')}=={version} \\")
        found[-1] += f"\n    --hash=sha256:{digest}\n"
    return sorted(found)


def main() -> None:
    """Ask pip, and write the file."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
    command += ["--quiet", "--only-binary", ":all:", "--report", "-", *requirements()]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    LOCK.write_text(HEAD + "".join(lines_of(report)), encoding="utf-8")


if __name__ == "__main__":
    main()
