"""Commands as a stranger types them, and the rows they read."""

from __future__ import annotations

import csv

from typer.testing import CliRunner

from smoothboost import cli

COLUMNS = {
    "age": {"kind": "numeric", "low": 0, "high": 100, "bins": 10},
    "job": {"kind": "categorical", "values": ["clerk", "farmer"], "other": True, "missing": True},
    "member": {"kind": "boolean"},
}
HEADER = "id,age,job,member,income"
PAIRS = ("--learner", "pair_rule")
TREES = ("--learner", "top_down", "--splits", "2", "--criterion", "entropy")
FIT = ("fit", "rows.csv", "--schema", "schema.json", "--target", "income", "--epsilon", "5")


def run(*arguments: object, code: int = 0, given: bytes | None = None):
    """Run a command, perhaps with something on standard input."""
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments], input=given)
    shown = result.stdout + result.stderr
    assert result.exit_code == code, shown
    assert result.exception is None or isinstance(result.exception, SystemExit), shown
    return result


def failure(*arguments: object) -> str:
    """Run a command that must fail in one line on stderr, and return that line."""
    result = run(*arguments, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    return line


def read_csv(path: str) -> list[dict[str, str]]:
    with open(path, newline="") as lines:
        return list(csv.DictReader(lines))
