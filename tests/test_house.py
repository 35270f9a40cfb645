"""The house: which room may import which, and how large its parts may be."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "smoothboost"
ROOMS = (
    {"exceptions", "_validate", "_terminal", "_show", "_output", "_version"},
    {"privacy"},
    {"table"},
    {"rules", "link", "error_looks"},
    {"counting"},
    {"learners"},
    {"fitting"},
    {"release"},
    {"parameters", "settling", "fitted", "booking", "comparing", "classifier"},
    {"evaluation", "tuning", "auditing"},
    {"dask"},
    {"datasets", "theory"},
    {"cli", "__main__"},
    {""},  # the package itself
)
"""Lowest first: a room may import from those before it, and from itself."""
PRIVACY_MAY = {"privacy", "exceptions", "_validate"}

LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS = 500, 60, 8


def module_name(path: Path) -> str:
    """Return a file's module, without the package: "table.schema"."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in SOURCE.rglob("*.py")}
KERNELS = {module_name(path): path for path in SOURCE.rglob("*.pyx")}


def imports_of(source: str) -> set[str]:
    """Return the modules of this package that a program imports when it runs."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("smoothboost")}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("smoothboost"):
            assert node.module is not None
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            known = {f"smoothboost.{name}" for name in FILES.keys() | KERNELS.keys()}
            found |= {name if name in known else node.module for name in inner}
    return {name.removeprefix("smoothboost").removeprefix(".") for name in found}


def room_of(module: str) -> int:
    return next(at for at, rooms in enumerate(ROOMS) if module.split(".")[0] in rooms)


def faults(imports: dict[str, set[str]]) -> list[str]:
    """Return what is wrong with who imports whom."""
    found = []
    for module, targets in imports.items():
        for target in targets:
            if room_of(target) > room_of(module):
                found.append(f"{module} imports {target}, which is above it")
            if module.split(".")[0] == "privacy" and target.split(".")[0] not in PRIVACY_MAY:
                found.append(f"{module} imports {target}")
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        found.append(f"cycle: {' '.join(error.args[1])}")
    return found


REAL = {module: imports_of(path.read_text(encoding="utf-8")) for module, path in FILES.items()}


def test_every_module_has_a_room():
    assert len(FILES) > 40
    for module in FILES:
        assert room_of(module) >= 0


def test_rooms_import_from_lower_ones_only_and_in_no_circle():
    assert faults(REAL) == []


@pytest.mark.parametrize(
    ("module", "target", "fault"),
    [
        ("counting.engine", "learners.choices", "which is above it"),
        ("fitting.plan", "release.display", "which is above it"),
        ("table.columns", "table.schema", "cycle"),
        ("privacy.mechanisms", "rules", "privacy.mechanisms imports rules"),
        ("privacy.mechanisms", "_show", "privacy.mechanisms imports _show"),
    ],
)
def test_a_wrong_import_is_found(module, target, fault):
    changed = REAL | {module: REAL[module] | {target}}
    assert any(fault in found for found in faults(changed))


def test_imports_are_read_from_programs():
    text = "from smoothboost.table import cuts\nfrom smoothboost.rules import Rule\n"
    assert imports_of(text) == {"table.cuts", "rules"}
    assert imports_of("if TYPE_CHECKING:\n    import smoothboost.rules\n") == set()
    assert imports_of("def f():\n    import smoothboost.rules\n") == {"rules"}


def test_the_map_names_rooms_and_files_that_exist():
    text = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_/]+\.(?:py|md|json|build)|[a-z_/]+/)`", text)
    assert len(named) > 40
    roots = (SOURCE, SOURCE.parents[1])
    assert [name for name in named if not any((root / name).exists() for root in roots)] == []
    for rooms in ROOMS[:-1]:
        for room in rooms:
            assert f"`{room}`" in text or f"`{room}/`" in text


def functions_of(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def length_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines a function takes, without its docstring and its parameters."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("module", sorted(FILES))
def test_no_file_and_no_function_is_too_large(module):
    text = FILES[module].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_FILE
    for function in functions_of(ast.parse(text)):
        assert length_of(function) <= LONGEST_FUNCTION, function.name
        # A command's parameters are its options.
        is_command = module.startswith("cli.") and not function.name.startswith("_")
        if function.name != "__init__" and not is_command:
            spec = function.args
            names = [each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
            parameters = [name for name in names if name not in ("self", "cls")]
            assert len(parameters) <= MOST_PARAMETERS, function.name


@pytest.mark.parametrize("folder", ["tests", "experiments", "benchmarks"])
def test_no_file_beside_the_package_is_too_large(folder):
    paths = list((SOURCE.parents[1] / folder).rglob("*.py"))
    assert paths
    for path in paths:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE, path.name


def undecided_words(source: str) -> list[str]:
    """Return words that leave open how many there are: "row(s)"."""
    texts = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [word for text in texts for word in re.findall(r"(?:\d )?\b[a-z]+\(e?s\)", text)]


def test_numbers_are_said_in_one_or_in_many():
    asked_for = {"0 sample(s)"}  # scikit-learn's checks of estimators look for these words
    found = {
        module: set(undecided_words(path.read_text(encoding="utf-8"))) - asked_for
        for module, path in FILES.items()
    }
    assert {module: words for module, words in found.items() if words} == {}


def test_undecided_words_are_found():
    assert undecided_words("f'got {n} class(es) of 1 name(s)'") == ["class(es)", "1 name(s)"]


def kernel_parameters(source: str) -> list[tuple[str, list[str]]]:
    """Return the parameters of every function of a Cython program."""
    found = []
    for match in re.finditer(r"^ *(?:def|cp?def [^=\n(]*?) *\*?(\w+)\(", source, re.MULTILINE):
        depth, parts = 1, [""]
        for letter in source[match.end() :]:
            depth += (letter in "([") - (letter in ")]")
            if depth == 0:
                break
            if letter == "," and depth == 1:
                parts.append("")
            else:
                parts[-1] += letter
        named = [part.split()[-1] for part in parts if part.strip()]
        found.append((match[1], [name for name in named if name != "self"]))
    return found


def test_parameters_are_read_from_kernels():
    text = """
    def add(self, const int64_t[:, ::1] sums, Parts parts):
        cdef int64_t total = one(2, 3)

cdef const int64_t* _find(
    uint8_t* codes,
    Py_ssize_t size,
) noexcept nogil:
"""
    assert kernel_parameters(text) == [("add", ["sums", "parts"]), ("_find", ["codes", "size"])]


@pytest.mark.parametrize("module", sorted(KERNELS))
def test_no_kernel_is_too_large_and_none_has_too_many_parameters(module):
    text = KERNELS[module].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_FILE
    for name, own in kernel_parameters(text):
        assert len(own) <= MOST_PARAMETERS, name
