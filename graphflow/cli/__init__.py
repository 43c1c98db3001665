"""The command line: check, run, draw and explain flows."""

from graphflow.cli.program import main

__all__ = ["main"]
