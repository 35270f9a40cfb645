"""Ask whether faults are known in the packages that a lock file names.

It ends with 0 if none is known, with 1 if one is, and with 3, and a line that says so, if no
service answered: then nothing was checked, which is not the same as nothing found.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

SERVICES = ("pypi", "osv")
NOTHING_KNOWN, FAULTS, NOT_CHECKED = 0, 1, 3


def ask(service: str, lock: str) -> tuple[list[dict[str, Any]], str]:
    """Return the packages that a service answered for, and otherwise why there are none."""
    command = [sys.executable, "-m", "pip_audit", "--vulnerability-service", service]
    command += ["--requirement", lock, "--require-hashes", "--disable-pip"]
    command += ["--format", "json", "--progress-spinner", "off", "--timeout", "15"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(asked.stdout)["dependencies"]
    except ValueError:  # it ends with 1 for faults, and if there is no network
        lines = asked.stderr.strip().splitlines() or ["no answer"]
        return [], lines[-1]
    known = [each for each in packages if "skip_reason" not in each]
    return known, f"knows none of {len(packages)} packages"


def told(packages: list[dict[str, Any]]) -> list[str]:
    """Return a line for each known fault."""
    return [
        f"{package['name']} {package['version']}: {fault['id']}, mended in "
        f"{', '.join(fault['fix_versions']) or 'no version yet'}"
        for package in packages
        for fault in package["vulns"]
    ]


def main(lock: str) -> int:
    """Ask one service after the other, until one answers."""
    for service in SERVICES:
        packages, reason = ask(service, lock)
        if packages:
            faults = told(packages)
            for line in faults:
                print(line)
            print(f"{service}: {len(faults)} known faults in {len(packages)} packages.")
            return FAULTS if faults else NOTHING_KNOWN
        print(f"{service}: {reason}", file=sys.stderr)
    print("No service could be reached, nothing was checked.")
    return NOT_CHECKED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
