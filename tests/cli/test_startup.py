"""What a start may load: help and completion come at once, as nothing slow is imported for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import smoothboost
from smoothboost.cli import app, ledger_app, schema_app

SLOW = {"numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn", "narwhals", "joblib", "dask"}
SLOW |= {"matplotlib", "onnx", "rich"}

COMMANDS = """
import sys
from smoothboost.cli import app
for arguments in {arguments}:
    try:
        app(arguments, prog_name="smoothboost")
    except SystemExit as end:
        assert not end.code, (arguments, end.code)
"""


def loaded_by(program: str) -> set[str]:
    """Return the packages that a program has loaded at its end, in a process of its own."""
    program += "\nimport sys; print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_importing_the_package_loads_nothing_else():
    program = "import smoothboost, sys; names = dir(smoothboost)\n"
    program += "rooms = [name for name in sys.modules if name.startswith('smoothboost.')]\n"
    program += "assert rooms == [], rooms"
    assert loaded_by(program) & {*SLOW, "typer"} == set()


def test_help_of_any_command_loads_nothing_slow():
    names = [[command.callback.__name__] for command in app.registered_commands]
    names += [["schema", command.callback.__name__] for command in schema_app.registered_commands]
    names += [["ledger", command.callback.__name__] for command in ledger_app.registered_commands]
    names = [[word.replace("_", "-") for word in name] for name in names]
    assert ["schema", "draft"] in names
    assert ["ledger", "add-schema"] in names
    arguments = [[], ["--help"], ["--version"], ["version", "--json"], ["schema", "--help"]]
    arguments += [[*name, "--help"] for name in names]
    assert loaded_by(COMMANDS.format(arguments=arguments)) & SLOW == set()


def test_the_first_help_loads_hardly_more_than_typer():
    loaded = loaded_by(COMMANDS.format(arguments=[["--help"]]))
    assert loaded & {*SLOW, "fractions", "decimal", "statistics"} == set()


def test_public_names_are_found_where_they_are_defined():
    for name in smoothboost.__all__:
        assert getattr(smoothboost, name).__name__ == name
        assert name in dir(smoothboost)
    assert set(smoothboost._HOMES) == {*smoothboost.__all__, "__version__"}
    assert smoothboost.datasets.load_demo is not None
    with pytest.raises(AttributeError, match="has no attribute 'Forest'"):
        smoothboost.Forest  # noqa: B018
