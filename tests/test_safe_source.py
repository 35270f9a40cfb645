"""What the package never does, read from its source: run what a file says, or leave copies."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "smoothboost"

MODULES = {
    *("pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve"),
    *("yaml", "xml", "code", "runpy", "imp", "ctypes", "cffi"),
    *("subprocess", "pty", "tempfile", "shutil", "zipfile", "tarfile"),
}
"""Those that run what they read, start programs, or write where nobody asked them to."""
CALLS = re.compile(
    r"eval|exec|compile|__import__|(importlib\.)?import_module"
    r"|os\.(system|popen|exec\w+|spawn\w+|startfile)"
    r"|(joblib|np|numpy|torch|yaml|skops\.io|onnx)\.load\w*|(pd|pandas)\.(read_pickle|eval)"
    r"|pa\.(deserialize\w*|memory_map)|NamedTemporaryFile|TemporaryFile|mktemp"
)
ALLOWED = {
    ("_output", "import tempfile"): "mkstemp, beside the file that will be replaced, for its owner",
    ("", "import_module"): "public names are looked up in the package's own table",
}
"""The exceptions, each with its reason."""


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def found_in(source: str) -> set[str]:
    """Return what a program imports or calls of the above."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if CALLS.fullmatch(called):
                found.add(called)
            if any(each.arg in ("allow_pickle", "shell") for each in node.keywords):
                found.add("allow_pickle or shell")
        found |= {f"import {name}" for name in names if name.split(".")[0] in MODULES}
    return found


PROGRAMS = {module_name(path): path for path in SOURCE.rglob("*.py")}


def test_nothing_runs_what_it_reads_starts_programs_or_writes_elsewhere():
    found = {
        (module, what)
        for module, path in PROGRAMS.items()
        for what in found_in(path.read_text(encoding="utf-8"))
    }
    assert found - ALLOWED.keys() == set()
    assert ALLOWED.keys() - found == set()  # an exception that nothing needs is taken off the list


def test_the_kernels_import_nothing_of_this_kind():
    words = "|".join(sorted(MODULES))
    for path in SOURCE.rglob("*.p[yx][xd]"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(rf"^ *(from|c?import) +({words})\b", text, re.MULTILINE), path.name
        assert not re.search(r"\b(eval|exec|system)\(", text), path.name


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("import pickle", "import pickle"),
        ("def f():\n    from subprocess import run", "import subprocess"),
        ("import xml.etree.ElementTree", "import xml.etree.ElementTree"),
        ("eval(text)", "eval"),
        ("import joblib\njoblib.load(path)", "joblib.load"),
        ("np.load(path)", "np.load"),
        ("read(path, allow_pickle=True)", "allow_pickle or shell"),
        ("os.system(text)", "os.system"),
    ],
)
def test_what_is_forbidden_is_found(program, found):
    assert found_in(program) == {found}
    assert found_in("model.evaluate(path)\nre.compile('a')\nexecutor.map(f)") == set()
