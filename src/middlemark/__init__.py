"""Middlemark: a dynamometer for communication middleware."""

from importlib.metadata import version

__version__ = version("middlemark")
