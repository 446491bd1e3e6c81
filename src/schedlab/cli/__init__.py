"""The command line: one verb per task, nothing but parsing and printing."""

__all__ = ["main"]


def main() -> None:
    """Run the command line; exit code 0 is done, 1 wrong input or output, 2 wrong usage."""
    from schedlab.cli.app import main as run  # the program imports its verbs, which are modules of this package

    run()
