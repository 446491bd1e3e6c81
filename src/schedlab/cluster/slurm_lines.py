"""Lines of Slurm's configuration files: continued, commented and included ones, and the options on a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from schedlab.documents import read_bytes
from schedlab.errors import Faults, InputError
from schedlab.wording import shown

DEEPEST = 5
"""Files that include files."""

LARGEST = 1 << 26
"""Bytes of one file."""

OBJECTS = frozenset(["nodename", "nodeset", "partitionname", "downnodes", "frontendname"])
"""What a line begins with that is about one thing, not about the whole cluster."""

_COMMENT = re.compile(r"(?<!\\)#.*")
_INCLUDE = re.compile(r"include\s+(\S+)", re.IGNORECASE)
VALUE = r"(\"[^\"]*\"(?!\S)|\S*)"
"""A value: in quotes up to a blank, or else all up to the next one, quotes included, as slurmctld reads it."""

ASSIGNMENT = re.compile(rf"([A-Za-z0-9_]+)\s*\+?=\s*{VALUE}")
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
    def place(self) -> str:
        """File and line, with the directory: what errors begin with."""
        return f"{self.path}:{self.number}"

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

    def pairs(self) -> list[tuple[str, str]]:
        """Return all KEY=VALUE of the line, in order, whatever else is on it."""
        return [(key, _unquoted(value)) for key, value in ASSIGNMENT.findall(self.text)]

    def strays(self) -> list[str]:
        """Return the words of the line that are not KEY=VALUE, for which slurmctld refuses it."""
        return ASSIGNMENT.sub("", self.text).split()

    def assignments(self) -> list[tuple[str, str]]:
        """Return all KEY=VALUE of the line, in order.

        Raises
        ------
        InputError
            If there is something else on the line.
        """
        if rest := self.strays():
            raise self.error(f"{shown(rest[0])} is not KEY=VALUE")
        return self.pairs()

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
        return InputError(f"{self.place}: {message}")


def config_lines(
    path: str | PathLike[str], what: str = "configuration", *, depth: int = 0, faults: Faults | None = None
) -> Iterator[ConfigLine]:
    """Yield the lines of a file, included files in their place.

    Files that are included are looked for in the directory of the file that includes them, under the path that is
    written there or by their name alone: a copy of a site's configuration has them there. Included files that are not
    there are noted in `faults`, if it is given.

    Raises
    ------
    InputError
        If a file cannot be read, is a template, or includes what is not there.
    """
    for line in own_lines(path, what):
        if line.included is None:
            yield line
            continue
        found = None
        with nullcontext() if faults is None else faults.noted():
            found = included_file(line, depth)
        if found is not None:
            yield from config_lines(found, depth=depth + 1, faults=faults)


def parameters_of(lines: Iterable[ConfigLine]) -> dict[str, str]:
    """Return the parameters that stand for the whole cluster, by name in lower case; to Slurm, the last one counts.

    Words that are not KEY=VALUE are passed over; see `check_words`.
    """
    return {key.lower(): value for line in lines if line.key not in OBJECTS for key, value in line.pairs()}


def places_of(lines: Iterable[ConfigLine]) -> dict[str, str]:
    """Return where each parameter of the whole cluster stands, file and line, by name in lower case."""
    return {key.lower(): line.place for line in lines if line.key not in OBJECTS for key, _ in line.pairs()}


def check_words(lines: Iterable[ConfigLine], decides: Callable[[str], bool]) -> None:
    """Refuse lines for the whole cluster that are not KEY=VALUE, unless they are of parameters that decide nothing.

    Parameters
    ----------
    lines
        Of a slurm.conf.
    decides
        Whether a parameter matters, by name in lower case.

    Raises
    ------
    InputError
        If something on such lines is not KEY=VALUE; all of it is told at once.
    """
    faults = Faults()
    for line in lines:
        keys = [key.lower() for key, _ in line.pairs()]
        if line.key not in OBJECTS and (not keys or any(map(decides, keys))):
            with faults.noted():
                line.assignments()
    faults.check()


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
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' and '"' not in value[1:-1] else value
