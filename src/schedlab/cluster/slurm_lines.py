"""Lines of Slurm's configuration files: continued, commented and included ones, and the options on a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from schedlab.documents import read_bytes
from schedlab.errors import InputError
from schedlab.wording import shown

DEEPEST = 5
"""Files that include files."""

LARGEST = 1 << 26
"""Bytes of one file."""

OBJECTS = frozenset(["nodename", "nodeset", "partitionname", "downnodes", "frontendname"])
"""What a line begins with that is about one thing, not about the whole cluster."""

_COMMENT = re.compile(r"(?<!\\)#.*")
_INCLUDE = re.compile(r"include\s+(\S+)", re.IGNORECASE)
ASSIGNMENT = re.compile(r"([A-Za-z0-9_]+)\s*\+?=\s*(\"[^\"]*\"|\S*)")
"""A key and its value, with the quotes around it."""

TEMPLATE = re.compile(r"\{\{|\{%|\{#")
"""What begins what a template leaves open (Jinja, as Ansible uses it)."""


@dataclass(frozen=True, slots=True)
class ConfigLine:
    """A line without comment, with all that continues it.

    Parameters
    ----------
    path
        Of its file.
    number
        Where it begins, from 1.
    text
        What it says.
    """

    path: Path
    number: int
    text: str

    @property
    def where(self) -> str:
        """File and line, without the directory."""
        return f"{self.path.name}:{self.number}"

    @property
    def key(self) -> str:
        """What stands before the first "=", in lower case."""
        return self.text.partition("=")[0].strip().lower()

    @property
    def value(self) -> str:
        """What stands behind it, without quotes around all of it."""
        return _unquoted(self.text.partition("=")[2].strip())

    @property
    def included(self) -> str | None:
        """The file that the line includes, if it does."""
        found = _INCLUDE.match(self.text)
        return None if found is None else found[1]

    def assignments(self) -> list[tuple[str, str]]:
        """Return all KEY=VALUE of the line, in order.

        Raises
        ------
        InputError
            If there is something else on the line.
        """
        rest = ASSIGNMENT.sub("", self.text).split()
        if rest:
            raise self.error(f"{shown(rest[0])} is not KEY=VALUE")
        return [(key, _unquoted(value)) for key, value in ASSIGNMENT.findall(self.text)]

    def options(self) -> dict[str, str]:
        """Return all KEY=VALUE of the line, keys in lower case.

        Raises
        ------
        InputError
            If there is something else on the line.
        """
        return {key.lower(): value for key, value in self.assignments()}

    def error(self, message: str) -> InputError:
        """Return the error that something is wrong here."""
        return InputError(f"{self.path}:{self.number}: {message}")


def config_lines(path: str | PathLike[str], what: str = "configuration", *, depth: int = 0) -> Iterator[ConfigLine]:
    """Yield the lines of a file, included files in their place.

    Files that are included are looked for in the directory of the file that includes them, under the path that is
    written there or by their name alone: a copy of a site's configuration has them there.

    Raises
    ------
    InputError
        If a file cannot be read, is a template, or includes what is not there.
    """
    for line in own_lines(path, what):
        if line.included is None:
            yield line
        else:
            yield from config_lines(included_file(line, depth), depth=depth + 1)


def parameters_of(lines: Iterable[ConfigLine]) -> dict[str, str]:
    """Return the parameters that stand for the whole cluster, by name in lower case; to Slurm, the last one counts.

    Raises
    ------
    InputError
        If a line is something else than KEY=VALUE.
    """
    return {key.lower(): value for line in lines if line.key not in OBJECTS for key, value in line.assignments()}


def config_text(path: str | PathLike[str], what: str = "configuration") -> str:
    """Return the text of a file; comments may be in any encoding, and what is not UTF-8 is replaced.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    return read_bytes(path, what, largest=LARGEST).decode("utf-8-sig", errors="replace")


def own_lines(path: str | PathLike[str], what: str = "configuration") -> Iterator[ConfigLine]:
    """Yield the lines of a file itself, those that include others among them; errors as for `config_lines`."""
    path = Path(path)
    pending, begin = "", 0
    for number, raw in enumerate([*config_text(path, what).splitlines(), ""], 1):
        part = _COMMENT.sub("", raw).rstrip()
        begin = begin or number
        if part.endswith("\\"):
            pending += part[:-1]
            continue
        line = ConfigLine(path, begin, (pending + part).strip())
        pending, begin = "", 0
        if TEMPLATE.search(line.text):
            raise line.error("this is a template for slurm.conf (Jinja), not a slurm.conf: give the rendered file")
        if line.text:
            yield line


def included_file(line: ConfigLine, depth: int = 0) -> Path:
    """Return the file that a line includes.

    Raises
    ------
    InputError
        If it is not there, or files include each other.
    """
    name = str(line.included)
    if depth >= DEEPEST:
        raise line.error(f"includes {name}: files include each other")
    beside = line.path.parent
    written, alone = beside / name.lstrip("/"), beside / Path(name).name
    found = written if written.is_file() else alone
    if not found.is_file():
        raise line.error(f"this line includes {name}, but {alone} does not exist")
    return found


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
