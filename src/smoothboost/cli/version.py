"""`version`."""

from __future__ import annotations

from smoothboost.cli import options
from smoothboost.cli.showing import show_json

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow", "narwhals", "typer", "rich")


def version(as_json: options.Json = False) -> None:
    """Show versions: for reports of bugs.

    Example: smoothboost version --json
    """
    import platform
    from importlib import metadata

    versions = {
        "smoothboost": metadata.version("smoothboost"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: metadata.version(name) for name in LIBRARIES},
    }
    if as_json:
        show_json(versions)
        return
    for name, number in versions.items():
        print(f"{name} {number}")
