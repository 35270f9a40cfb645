"""Run checks against a copy of the package, in a process of its own, and write how they ended.

`python run_check.py FOLDER REPORT NODE...`: the package is imported from FOLDER, whatever is
installed, the tests with these node ids are run, and REPORT gets a JSON document.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parents[1]


class Witness:
    """A plugin of pytest that keeps what went wrong, and where."""

    def __init__(self) -> None:
        self.failures: list[dict[str, str]] = []

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Let Hypothesis try the same examples every time, and not look for smaller ones."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate, Phase.target)
        settings.register_profile("mutants", derandomize=True, phases=phases)
        settings.load_profile("mutants")

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.excinfo is not None:
            self._keep(item.nodeid, call.when, call.excinfo)

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        if isinstance(report, pytest.CollectReport):
            self._keep(node.nodeid, "collect", call.excinfo)

    def _keep(self, test: str, when: str, caught: pytest.ExceptionInfo[BaseException]) -> None:
        error = caught.value
        if isinstance(error, pytest.skip.Exception):
            when = "skip"
        while isinstance(error, BaseExceptionGroup):  # several examples failed
            error = error.exceptions[0]
        trace = pytest.ExceptionInfo.from_exception(error).traceback
        ours = [entry for entry in trace if TESTS in Path(entry.path).parents]
        line = " ".join(str(ours[-1].statement).split()) if ours else ""
        kind = type(error).__name__
        self.failures.append({"test": test, "when": when, "kind": kind, "line": line})


def main(folder: str, report: str, *nodes: str) -> None:
    # The finder of an editable install answers before the path does.
    sys.meta_path[:] = [
        each for each in sys.meta_path if "smoothboost" not in type(each).__module__
    ]
    sys.path.insert(0, folder)
    import smoothboost

    assert Path(folder) in Path(smoothboost.__file__).parents
    witness = Witness()
    options = ["-q", "--no-header", "-p", "no:cacheprovider", "-x"]
    code = pytest.main([*options, *nodes], plugins=[witness])
    document = {"code": int(code), "failures": witness.failures}
    Path(report).write_text(json.dumps(document), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
