"""Templates of a slurm.conf, as sites keep them for Ansible: rendered with values, or read as far as they are written.

A line that a template leaves open says nothing that can be simulated. It becomes a comment, so that the lines keep
their numbers, and stands in the ledger of the site.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.cluster.slurm_lines import TEMPLATE, config_text
from schedlab.documents import read_json, read_toml
from schedlab.errors import InputError
from schedlab.site.ledger import Ledger, LedgerLine
from schedlab.wording import shown

SUFFIX = ".j2"

_WORD = re.compile(r"\b[A-Z]+_[A-Z_]+\b")
_BLANK_IN_RANGE = re.compile(r"\[[^\]=]*\b[A-Z]+_[A-Z_]+\b[^\]=]*\]")
"""A word in capitals in place of a number of nodes, as `n[1-NUMBER_OF_NODES]`: other tools fill such templates."""

_COMMENT = re.compile(r"(?<![{\\])#.*")
"""Of slurm.conf; one of the template, {# ... #}, is a directive."""

_DIRECTIVE = re.compile(r"\s*(\{%.*%\}|\{#.*#\})\s*")


@dataclass(frozen=True, slots=True)
class Filled:
    """A slurm.conf to read, and what a template left open in it.

    Parameters
    ----------
    path
        Of the slurm.conf.
    left_open
        The lines that it lacks.
    notes
        What was done, in sentences.
    """

    path: Path
    left_open: tuple[LedgerLine, ...] = ()
    notes: tuple[str, ...] = ()


@contextmanager
def filled(main: Path, values: Mapping[str, Any] | None) -> Iterator[Filled]:
    """Give a slurm.conf as it is; of a template, one that was made of it, in a directory with the files beside it.

    Raises
    ------
    InputError
        As for `rendered`; or if there are values, and the file is no template.
    """
    text = config_text(main, "Slurm configuration")
    if not any(_is_open(line) for line in text.splitlines()):
        if values is not None:
            raise InputError(f"{main}: not a template: there is nothing to fill with the values")
        yield Filled(main)
        return
    made = text if values is None else rendered(main, values)
    plain, left_open = as_written(made, main.name.removesuffix(SUFFIX))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / main.name.removesuffix(SUFFIX)
        for beside in main.parent.iterdir():
            if beside.name not in (main.name, path.name):
                (Path(directory) / beside.name).symlink_to(beside.resolve())
        path.write_text(plain, encoding="utf-8")
        notes = ["the template was filled with the values"] if values is not None else []
        yield Filled(path, tuple(left_open), (*notes, *filter(None, [summary(left_open)])))


def read_values(path: Path) -> dict[str, Any]:
    """Read what templates are filled with, as TOML, or as JSON if the file is called so.

    Raises
    ------
    InputError
        If the file cannot be read, or is not a table of names and values.
    """
    if path.suffix != ".json":
        return read_toml(path, "values of a template")
    found = read_json(path, "values of a template")
    if not isinstance(found, dict):
        raise InputError(f"{path}: not names and values ({{...}})")
    return found


def with_open_lines(ledger: Ledger, left_open: Sequence[LedgerLine]) -> Ledger:
    """Return a ledger with the lines that a template left open."""
    return Ledger((*ledger.lines, *left_open)) if left_open else ledger


def rendered(path: Path, values: Mapping[str, Any]) -> str:
    """Return the slurm.conf that a template becomes with values.

    Raises
    ------
    InputError
        If the template needs a value that is not given, or what only Ansible has; the message names the line.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True)
    text = config_text(path, "template")
    try:
        made = environment.from_string(text).render(values)
    except TemplateError as error:
        number = getattr(error, "lineno", None) or _line_in(error)
        said = str(error.message or error).rstrip(".")
        raise InputError(
            f"{path}:{number or 1}: {said}: give the value (--values), or the file that Ansible made"
        ) from None
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise InputError(f"{path}:{_line_in(error) or 1}: the values do not suit the template: {error}") from None
    return _WORD.sub(lambda word: str(values.get(word[0], word[0])), made)


def _line_in(error: BaseException) -> int | None:
    """Return the line of the template in which an error was raised, which jinja2 gives as that of a frame."""
    number, frame = None, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == "<template>":
            number = frame.tb_lineno
        frame = frame.tb_next
    return number


def as_written(text: str, name: str) -> tuple[str, list[LedgerLine]]:
    """Return a template as a slurm.conf without the lines that it leaves open, and the ledger of these.

    Parameters
    ----------
    text
        Of the template.
    name
        Of its file.

    Examples
    --------
    >>> plain, left_open = as_written("PriorityWeightAge=10\\nClusterName={{ name }}\\n", "slurm.conf")
    >>> print(plain.rstrip())
    PriorityWeightAge=10
    # ClusterName={{ name }}
    >>> print(left_open[0])
    slurm.conf:2: ClusterName={{ name }}: ignored: left open by the template
    """
    lines, left_open = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not _is_open(line):
            lines.append(line)
            continue
        lines.append(f"# {line}")
        key, _, value = line.strip().partition("=")
        reason = "left open by the template"
        if _DIRECTIVE.fullmatch(line):
            key, value, reason = line.strip(), "", "a directive of the template: the lines of all its branches are read"
        left_open.append(LedgerLine(f"{name}:{number}", "slurm.conf", key.strip(), value, "ignored", reason))
    return "\n".join([*lines, ""]), left_open


def summary(left_open: list[LedgerLine]) -> str | None:
    """Return what is open in a sentence, None if nothing is."""
    lines = [line for line in left_open if line.reason == "left open by the template"]
    if not lines:
        return None
    first = f"{lines[0].where} ({shown(lines[0].name)})"
    count = f"{len(lines):,} lines are" if len(lines) > 1 else "a line is"
    return f"a template: {count} left open, such as {first}: give --values, or the file that was made of it"


def _is_open(line: str) -> bool:
    said = _COMMENT.sub("", line)
    return bool(TEMPLATE.search(said) or _BLANK_IN_RANGE.search(said))
