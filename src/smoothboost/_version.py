"""The version, as it was installed: meson.build is where it is written."""

from importlib.metadata import version

__version__ = version("smoothboost")
