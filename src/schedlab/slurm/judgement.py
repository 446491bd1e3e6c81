"""What a version of Slurm says of a slurm.conf: its own programs read the lines as a site wrote them.

`scontrol show hostnames` reads the whole configuration as slurmctld does, and asks no other host. What only slurmctld
finds out, such as a plugin that is not there, it does not tell.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from schedlab.cluster.slurm_lines import ASSIGNMENT, ConfigLine, config_lines
from schedlab.slurm.installation import find_slurm

_OF_THE_HOST = ("plugindir", "slurmuser", "slurmduser", "plugstackconfig")
"""Parameters that are right or wrong by what is on the host."""

_GIVEN_UP = "Unable to process configuration file"
_NOT_OF_LINES = re.compile(r"plugin|context|initialize|specified more than once|resolve|Invalid user", re.IGNORECASE)
_KEY = re.compile(
    r"unrecognized key: (\w+)|(\w+)(?: option)? has been removed|Use of (\w+) in slurm.conf|^(\w+) value \("
)
_PATIENCE = 60


class Refusal(NamedTuple):
    """A line that a version of Slurm refuses.

    Parameters
    ----------
    where
        File and line; empty: it does not say which.
    name
        The parameter; empty: as above.
    said
        Its own words.
    """

    where: str
    name: str
    said: str


def refusals(files: Mapping[str, str], version: str) -> list[Refusal]:
    """Return the lines of a site's slurm.conf that a version of Slurm refuses.

    Parameters
    ----------
    files
        The configuration, by name, as a site has it.
    version
        Such as "26.05", which is installed or fetched.

    Raises
    ------
    InputError
        If that version is not here, or an included file is missing.
    """
    installation = find_slurm(version)
    with tempfile.TemporaryDirectory(prefix="schedlab-") as name:
        for file, text in files.items():
            Path(name, file).write_text(text, encoding="utf-8")
        lines = list(config_lines(Path(name, "slurm.conf")))
        judged = Path(name, "judged.conf")
        judged.write_text("".join(f"{_general(line)}\n" for line in lines), encoding="utf-8")
        answer = subprocess.run(
            [installation.program("scontrol"), "show", "hostnames", "n1"],
            env=installation.environment() | {"SLURM_CONF": str(judged)},
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )
    return _read(answer.stderr.splitlines(), lines)


def _general(line: ConfigLine) -> str:
    """Return a line without what is right or wrong by the host."""
    kept = line.text
    for matched in ASSIGNMENT.finditer(line.text):
        if matched[1].lower() in _OF_THE_HOST:
            kept = kept.replace(matched[0], "").strip()
    return kept


def _read(said: Sequence[str], lines: Sequence[ConfigLine]) -> list[Refusal]:
    """Return the refusals that a program's messages tell of; of two about one line, the first has the parameter."""
    words = [text.partition(": ")[2] for text in said]
    if any(_GIVEN_UP in text for text in words):
        words = words[: next(place for place, text in enumerate(words) if _GIVEN_UP in text)]
    else:
        words = [text for text in words if text.startswith("fatal: ")]
    found: list[Refusal] = []
    for text in words:
        key = _KEY.search(text)
        number = re.search(r"Parse error in file \S+ line (\d+)", text)
        message = text.removeprefix("error: ").removeprefix("fatal: ").removeprefix("_parse_next_key: ")
        message = re.sub(r" in file \S+ line \d+", "", message)  # of our copy: the caller tells those of the site
        if number is not None:
            where = lines[int(number[1]) - 1].where
            found[-1:] = [found[-1]._replace(where=where) if found else Refusal(where, "", message)]  # it has the line
        elif key is not None:
            name = next(filter(None, key.groups()))
            found.append(Refusal(_where(name, lines), name, message))
        elif not _NOT_OF_LINES.search(text):
            found.append(Refusal("", "", message))
    return list(dict.fromkeys(found))


def _where(name: str, lines: Sequence[ConfigLine]) -> str:
    """Return the first line that sets a parameter."""
    wanted = name.lower()
    return next((line.where for line in lines if wanted in (key.lower() for key, _ in line.pairs())), "")
