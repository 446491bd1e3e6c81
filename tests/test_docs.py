"""What the documentation shows is what happens: its Python runs, and its commands print what is printed there."""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from sybil import Document, Example
from sybil.parsers.myst import CodeBlockParser, PythonCodeBlockParser, SkipParser

from schedlab.cli import main

PROJECT = Path(__file__).resolve().parents[1]
PAGES = sorted(path for path in PROJECT.glob("docs/**/*.md") if "_build" not in path.parts)
PAGES += [path for path in [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md"] if path.exists()]

FLAGS = doctest.ELLIPSIS | doctest.REPORT_NDIFF


def _sessions(text: str) -> Iterator[tuple[str, str]]:
    """Return the commands of a console block and what is shown below each; a backslash continues a command."""
    for part in ("\n" + text.replace("\\\n", " ")).split("\n$ ")[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def _run(command: str) -> str:
    """Return what a command prints to standard output; fail if it does not exit with 0."""
    output, notes = StringIO(), StringIO()
    with redirect_stdout(output), redirect_stderr(notes), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", shlex.split(command))
        try:
            code = main()
        except SystemExit as stop:
            code = stop.code
    assert not code, f"{command} exited with {code}: {notes.getvalue()}"
    return output.getvalue()


def _evaluate_console(example: Example) -> str | None:
    """Run a console block whose commands are all ours; others, such as an installation, are for the reader only."""
    checker = doctest.OutputChecker()
    sessions = list(_sessions(str(example.parsed)))
    if not all(command.startswith("schedlab ") for command, _ in sessions):
        return None
    for command, shown in sessions:
        printed = "\n".join(line.rstrip() for line in _run(command).splitlines()) + "\n"
        wanted = shown.strip("\n") + "\n"
        if shown.strip() and not checker.check_output(wanted, printed, FLAGS):
            return checker.output_difference(doctest.Example(command, wanted), printed, FLAGS)
    return None


def _save_file(example: Example) -> None:
    """Save a TOML block whose first line is a comment with the name of a file."""
    text = str(example.parsed)
    if match := re.match(r"# (\S+\.toml)\n", text):
        Path(match[1]).write_text(text, encoding="utf-8")


def _forget_modules(folder: Path) -> None:
    """Forget what a page has imported from its own files: another page may have one of the same name."""
    for name, module in list(sys.modules.items()):
        if (file := getattr(module, "__file__", None)) and Path(file).is_relative_to(folder):
            del sys.modules[name]


@pytest.mark.slow  # what its kernels take to compile, which is how readers run them
@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_what_a_page_shows_is_what_happens(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    parsers = (
        PythonCodeBlockParser(doctest_optionflags=FLAGS),
        CodeBlockParser("console", _evaluate_console),
        CodeBlockParser("toml", _save_file),
    )
    try:
        for example in Document.parse(str(page), *parsers, SkipParser()).examples():
            example.evaluate()
    finally:
        plt.close("all")
        _forget_modules(tmp_path)


def test_console_blocks_are_cut_into_commands_and_what_they_print() -> None:
    block = "$ schedlab versions\nschedlab 1\n$ schedlab simulate a.swf \\\n    -o b.csv\n"
    assert list(_sessions(block)) == [
        ("schedlab versions", "schedlab 1"),
        ("schedlab simulate a.swf      -o b.csv", ""),
    ]


def test_no_page_and_no_message_installs_from_an_index_that_does_not_have_it() -> None:
    """schedlab is not on PyPI: whoever follows such a line gets nothing, or what somebody else put there."""
    from_an_index = re.compile(r"""pip (?:install|download) (?:-\S+ )*["']?schedlab\b""")
    files = [*PAGES, *PROJECT.glob("src/**/*.py")]
    found = [path.name for path in files if from_an_index.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_no_message_or_help_names_a_file_of_the_documentation() -> None:
    """A wheel does not have it: texts name the title of the page."""
    named = re.compile(r"""["'][^"']*\bdocs/[a-z-]+/[a-z-]+(?:\.md|\b)""")
    files = [path for path in PROJECT.glob("src/**/*.py") if path.name != "reference.py"]
    assert [path.name for path in files if named.search(path.read_text(encoding="utf-8"))] == []


def test_the_navigation_has_every_page_once_in_groups_that_can_be_looked_over() -> None:
    index = (PROJECT / "docs" / "index.md").read_text(encoding="utf-8")
    groups = [block.split("\n\n")[1].split() for block in re.findall(r"```{toctree}\n(.*?)```", index, re.DOTALL)]
    assert [len(group) for group in groups if len(group) > 12] == []
    named = [page for group in groups for page in group]
    there = [
        str(page.relative_to(PROJECT / "docs").with_suffix("")) for page in PAGES if PROJECT / "docs" in page.parents
    ]
    assert sorted(named) == sorted(page for page in there if page != "index" and not page.startswith("reference/api/"))
