"""The command line: one verb per task, nothing but parsing and printing."""

from schedlab.cli.app import app, main

__all__ = ["app", "main"]
